// A store on a real directory whose files are exchanged while it is open: moved away with a backup in its place,
// removed, its lock removed or exchanged, another writer started. The old writer refuses, and changes no byte of
// what is at its path then.

import Foundation
import SegmentLog
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineCore

/// One random story of a store that was replaced.
private struct ReplacementStory {
    /// What happens to the files.
    enum Blow: CaseIterable {
        case movedAway, restored, restoredInPlace, removed, madeAnew, lockRemoved, lockReplaced, movedAndBack
    }

    let seed: UInt64
    let root: URL
    let blow: Blow
    var chance: Chance
    private var written = 0

    private var store: URL { root.appending(path: "store") }
    private var backup: URL { root.appending(path: "backup") }
    private var elsewhere: URL { root.appending(path: "elsewhere") }
    private let files = FileManager.default

    init(seed: UInt64, root: URL) {
        self.seed = seed
        self.root = root
        chance = Chance(seed: seed)
        blow = Blow.allCases[Int(seed) % Blow.allCases.count]
    }

    /// How many calls the old writer refused.
    mutating func run() async throws -> Int {
        let old = try await open()
        try await write(to: old, 1 + chance.below(15))
        let widget = try await SyncDatabase.follow(at: store.path)
        try await widget.rows(of: "todo").insert(["id": "widget", "text": "x"])
        try await widget.close()
        // Nothing is written in the background here: a copy between two calls is a complete store.
        try files.copyItem(at: store, to: backup)
        try await old.refresh()
        try await write(to: old, chance.below(10))
        try strike()
        let isOwner = blow == .movedAndBack
        let other = !isOwner && blow != .movedAway && blow != .removed && chance.once(in: 2) ? try await open() : nil
        var expected: [String: [String: Value]]?
        if let other {
            try await write(to: other, 1 + chance.below(15))
            expected = try await other.allRows()
        }
        let before = contents()
        let refused = try await useOld(old, mayWrite: isOwner)
        if isOwner {
            expected = try await old.allRows()
            try await old.close()
        } else {
            let isClosed = await code { try await old.close() }
            #expect(isClosed == "store-replaced", "seed \(seed), \(blow): close")
            #expect(contents() == before, "seed \(seed), \(blow): bytes of the other store changed")
        }
        if let other {
            try await write(to: other, 3)
            expected = try await other.allRows()
            try await other.close()
        }
        if files.fileExists(atPath: store.path) { try await checkHealthy(expected) }
        return refused
    }

    private func open() async throws -> SyncDatabase {
        var configuration = SyncConfiguration.test(memory: 8000)
        configuration.log.segmentSize = .kibibytes(8)
        configuration.log.zeroAhead = .kibibytes(4)
        return try await SyncDatabase.open(at: store.path, configuration)
    }

    private mutating func write(to database: SyncDatabase, _ count: Int) async throws {
        for _ in 0..<count {
            written += 1
            let text = (0...chance.below(80)).map { _ in "\(chance.next())" }.joined()
            let item: Value = ["id": .string("\(written)"), "text": .string(text)]
            try await database.transaction(durability: .buffered) { _ = try $0.insert("todo", item) }
        }
        // Background writes would change the files while they are copied or compared.
        try await database.checkpoint()
    }

    /// A change of the files from outside.
    private mutating func strike() throws {
        let lock = store.appending(path: "LOCK")
        switch blow {
        case .movedAway: try files.moveItem(at: store, to: elsewhere)
        case .restored:
            try files.moveItem(at: store, to: elsewhere)
            try files.copyItem(at: backup, to: store)
        case .restoredInPlace:
            for name in try files.contentsOfDirectory(atPath: store.path) {
                try files.removeItem(at: store.appending(path: name))
            }
            for name in try files.contentsOfDirectory(atPath: backup.path) {
                try files.copyItem(at: backup.appending(path: name), to: store.appending(path: name))
            }
        case .removed: try files.removeItem(at: store)
        case .madeAnew:
            try files.removeItem(at: store)
            try files.createDirectory(at: store, withIntermediateDirectories: false)
        case .lockRemoved: try files.removeItem(at: lock)
        case .lockReplaced:
            try files.removeItem(at: lock)
            try Data("another".utf8).write(to: lock)
        case .movedAndBack:
            try files.moveItem(at: store, to: elsewhere)
            try files.moveItem(at: elsewhere, to: store)
        }
    }

    /// Everything that an app and the writer itself may do; returns how much of it was refused.
    private mutating func useOld(_ old: SyncDatabase, mayWrite: Bool) async throws -> Int {
        var refused = 0
        for _ in 0..<1 + chance.below(12) {
            let kind = chance.below(7)
            written += 1
            let item: Value = ["id": .string("old \(written)"), "text": .string(String(repeating: "x", count: 3000))]
            let found = await code {
                switch kind {
                case 0: try await old.checkpoint()
                case 1: try await old.compact()
                case 2: try await old.set("retention", .string("1 events"))
                case 3: try await old.transaction(durability: .buffered) { _ = try $0.insert("todo", item) }
                case 4: try await old.refresh()
                default: _ = try await old.rows(of: "todo").insert(item)
                }
            }
            // An existing checkpoint needs no file, and neither does a folder without changes.
            let isNothingToDo = (kind == 0 || kind == 4) && found == nil
            if mayWrite {
                #expect(found == nil, "seed \(seed), \(blow): \(kind)")
            } else {
                #expect(found == "store-replaced" || isNothingToDo, "seed \(seed), \(blow): \(kind) \(found ?? "done")")
            }
            if found != nil { refused += 1 }
        }
        return refused
    }

    private func code(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? SyncError)?.code.rawValue ?? "\(error)"
        }
    }

    /// Every byte of what is at the store's path; nil if there is nothing.
    private func contents() -> [String: Data]? {
        guard let names = files.enumerator(atPath: store.path)?.allObjects as? [String],
            files.fileExists(atPath: store.path)
        else { return nil }
        return names.reduce(into: [:]) { $0[$1] = try? Data(contentsOf: store.appending(path: $1)) }
    }

    private func checkHealthy(_ expected: [String: [String: Value]]?) async throws {
        let storage = POSIXStorage(directory: store.path)
        if expected != nil || blow != .madeAnew {
            let damage = try LogVerification(storage).run().damage
            #expect(damage.filter { $0.remedy != .rebuild }.isEmpty, "seed \(seed), \(blow)")
        }
        let database = try await open()
        if let expected {
            let isSame = try await database.allRows() == expected
            #expect(isSame, "seed \(seed), \(blow): the rows are others")
        }
        _ = try StateImage.check(storage, "seed \(seed), \(blow)")
        try await database.close()
    }
}

@Suite struct ReplacedStoreTests {
    @Test func `a writer whose store was replaced refuses, and touches nothing of the other`() async throws {
        let files = FileManager.default
        var refused = 0
        // In memory if the system has such a place: these stories are about names, and their syncs would take
        // minutes.
        let isInMemory = files.isWritableFile(atPath: "/dev/shm")
        let parent = isInMemory ? URL(filePath: "/dev/shm") : files.temporaryDirectory
        for seed in UInt64(1)...200 {
            let root = parent.appending(path: "syncline-replaced-\(ProcessInfo.processInfo.globallyUniqueString)")
            try files.createDirectory(at: root, withIntermediateDirectories: true)
            defer { try? files.removeItem(at: root) }
            var story = ReplacementStory(seed: seed, root: root)
            refused += try await story.run()
        }
        #expect(refused > 500)
    }
}
