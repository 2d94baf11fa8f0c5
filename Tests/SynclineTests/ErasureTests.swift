// Erasing a store: nothing of it is left, whenever the process dies. And copies of a store, which get a name of
// their own.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct ErasureTests {
    private func fill(_ database: SyncDatabase) async throws {
        for number in 0..<60 {
            try await database.rows(of: "t").insert(.item("\(number)", ["text": .string("planted \(number)")]))
        }
        try await database.checkpoint()
        try await database.rows(of: "t").update(.item("7", ["text": .string("planted again")]))
    }

    private func files(_ disk: MemoryStorage) throws -> [String] {
        var files: [String] = []
        for name in try disk.names(in: "") {
            if let inner = try? disk.names(in: name) {
                files += inner.isEmpty ? [name + "/"] : inner.map { "\(name)/\($0)" }
            } else {
                files.append(name)
            }
        }
        return files
    }

    @Test func `nothing remains of an erased store, and opening creates a new one`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await fill(database)
        try disk.createDirectory("quarantine")
        for name in ["quarantine/s1-64-e1.tail", "secrets.json", "secrets.json.new", "traffic.jsonl.old", "mine.txt"] {
            try disk.openForWriting(name, create: true).close()
        }
        let refused = await #expect(throws: SyncError.self) { try await database.erase() }
        #expect(refused?.code == .pendingChanges)
        #expect(try await database.rows(of: "t").count() == 60)
        try await database.erase(force: true)
        #expect(try files(disk) == ["mine.txt"])
        try disk.remove("mine.txt")
        let closed = await #expect(throws: SyncError.self) {
            try await database.rows(of: "t").insert(.item("x", [:]))
        }
        #expect(closed != nil)
        let again = try await SyncDatabase.open(disk, .test())
        #expect(try await again.tables().isEmpty && again.lastEvent < 5)
    }

    @Test func `an erased store shows nothing, not even what was read of it before`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        try await fill(database)
        let table = database.rows(of: "t")
        let (past, present) = (try await database.history(at: 9), try database.present)
        var results = table.observe(RowQuery(table: "t")).makeAsyncIterator()
        var conflicts = try database.observeConflicts().makeAsyncIterator()
        #expect(try await results.next()?.rows.count == 60)
        // The lists have signals that were not taken yet.
        try await table.insert(.item("last", [:]))
        try await database.erase(force: true)
        let reads: [(String, () async throws -> Void)] = [
            ("past", { _ = try await past.get("t", id: "1") }),
            ("present", { _ = try await present.query(RowQuery(table: "t")) }),
            ("differences", { _ = try await past.differences(to: present) }),
            ("get", { _ = try await table.get(id: "1") }),
            ("insert", { try await table.insert(.item("1", [:])) }),
            ("reader", { _ = try database.reader }),
        ]
        for (name, read) in reads {
            let error = await #expect(throws: SyncError.self, "\(name)") { try await read() }
            #expect(error?.code == .closed, "\(name)")
        }
        #expect(try await results.next() == nil)
        #expect(try await conflicts.next() == nil)
        var late = table.observe(RowQuery(table: "t")).makeAsyncIterator()
        #expect(try await late.next() == nil)
    }

    @Test func `a store can be erased after it was closed`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await fill(database)
        try await database.close()
        let pending = await #expect(throws: SyncError.self) { try await database.erase() }
        #expect(pending?.code == .pendingChanges)
        try await database.erase(force: true)
        #expect(try files(disk) == [])
    }

    @Test func `a store that another has open is not erased`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        let error = await #expect(throws: SyncError.self) { try await SyncDatabase.erase(disk, force: true) }
        #expect(error?.code == .storeLocked)
        try await database.rows(of: "t").insert(.item("x", [:]))
        try await database.close()
        let pending = await #expect(throws: SyncError.self) { try await SyncDatabase.erase(disk) }
        #expect(pending?.code == .pendingChanges)
        try await SyncDatabase.erase(disk, force: true)
        let gone = await #expect(throws: SyncError.self) { try await SyncDatabase.erase(disk) }
        #expect(gone?.code == .noStore)
    }

    /// Adds what other programs and processes keep beside the log: files with rows.
    private func addFolders(_ disk: MemoryStorage) throws {
        for folder in ["branches", "branches/draft", "derived"] { try disk.createDirectory(folder) }
        for name in ["branches/draft/rows.seg", "derived/text.sqlite", "derived/text.sqlite-wal"] {
            try disk.openForWriting(name, create: true).close()
            try disk.syncDirectory(String(name[..<(name.lastIndex(of: "/") ?? name.startIndex)]))
        }
        try disk.syncDirectory("branches")
        try disk.syncDirectory("")
    }

    @Test(arguments: ["draft/rows.seg", "text.sqlite-wal", ".seg", "secrets.json", ".checkpoint"])
    func `an erasure that can't remove a file says so, and is completed by the next opening`(name: String) async throws
    {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await fill(database)
        try disk.openForWriting("secrets.json", create: true).close()
        try addFolders(disk)
        disk.arm(FaultPlan(call: 1, of: [.remove], suffix: name, fault: .error(.inputOutput), persists: true))
        let error = await #expect(throws: SyncError.self) { try await database.erase(force: true) }
        #expect(error?.code == .ioError)
        // Everything else is gone.
        #expect(
            try files(disk).allSatisfy { $0.hasSuffix(name) || $0.contains("draft") || ["ERASE", "LOCK"].contains($0) })
        let next = await #expect(throws: SyncError.self) { _ = try await SyncDatabase.open(disk, .test()) }
        #expect(next?.code == .ioError)
        disk.disarm()
        let again = try await SyncDatabase.open(disk, .test())
        #expect(try await again.tables().isEmpty)
        #expect(
            try files(disk).allSatisfy { !$0.contains("draft") && !$0.contains("derived") && !$0.contains("secrets") })
    }

    @Test(arguments: ["draft.gone/rows.seg", "branches/draft.gone"])
    func `a branch that can't be removed whole says so, and the next removal completes it`(name: String) async throws {
        let disk = MemoryStorage(granularity: .sector)
        try addFolders(disk)
        for folder in ["branches/draft", "branches/other"] {
            if folder == "branches/other" { try disk.createDirectory(folder) }
            try disk.openForWriting(folder + "/HEAD", create: true).close()
            try disk.syncDirectory(folder)
        }
        try disk.syncDirectory("branches")
        let plan = FaultPlan(
            call: 1, of: [.remove], suffix: name, fault: .error(.inputOutput), persists: true)
        disk.arm(plan)
        let error = #expect(throws: SyncError.self) { try Branches.remove("draft", of: disk) }
        #expect(error?.code == .ioError && error?.address?.hasSuffix(name) == true)
        #expect(try Branches.names(disk) == ["other"])
        #expect(try !disk.names(in: "branches/draft.gone").contains("HEAD"))
        // Another branch goes all the same, and the error names what still can't.
        let next = #expect(throws: SyncError.self) { try Branches.remove("other", of: disk) }
        #expect(next?.address?.hasSuffix(name) == true)
        #expect(try disk.names(in: "branches") == ["draft.gone"])
        disk.disarm()
        #expect(try Branches.removeLeftovers(disk) == ["draft"])
        #expect(try disk.names(in: "branches").isEmpty)
        #expect(try disk.crash(keeping: { _ in false }).names(in: "branches").isEmpty)
    }

    @Test func `an erasure removes no file whose name only begins like a folder of the store`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        for name in ["branches.txt", "derived-mine"] { try disk.openForWriting(name, create: true).close() }
        try addFolders(disk)
        try await database.erase(force: true)
        #expect(try files(disk).sorted() == ["branches.txt", "derived-mine"])
    }

    @Test func `a process that dies while it erases leaves a store, or none after the next opening`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await fill(database)
        let rows = try await database.allRows()
        try await database.close()
        try disk.openForWriting("secrets.json", create: true).close()
        try addFolders(disk)
        var chance = Chance(seed: 3)
        var wasGone = 0
        for call in 1...80 {
            let copy = MemoryStorage(disk.copy(), granularity: .sector)
            copy.arm(
                FaultPlan(call: call, of: [.remove, .rename, .write, .sync, .syncDirectory, .open], persists: true))
            let isDone = (try? await SyncDatabase.erase(copy, force: true)) != nil
            copy.disarm()
            let left = copy.crash(using: &chance)
            let isBegun = try files(left).contains("ERASE")
            let next = try await SyncDatabase.open(left, .test())
            let found = try await next.allRows()
            #expect(found == rows || found.isEmpty, "call \(call)")
            if isBegun || isDone { #expect(found.isEmpty, "call \(call)") }
            if found.isEmpty {
                wasGone += 1
                let remains = try files(left).filter {
                    $0.contains("secrets") || $0.contains("draft") || $0.contains("derived")
                }
                #expect(remains == [], "call \(call)")
            }
        }
        #expect(wasGone > 5 && wasGone < 80)
    }

    // MARK: Copies

    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let path = NSTemporaryDirectory() + "syncline-copies-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    private func device(_ path: String) async throws -> Value? {
        var configuration = SyncConfiguration.test()
        configuration.environment = SystemEnvironment()
        let database = try await SyncDatabase.open(at: path, configuration)
        try await database.rows(of: "t").insert(.item("row \(database.lastEvent)", [:]))
        let device = try await database.setting("device")
        try await database.close()
        return device
    }

    @Test func `a copied store gets a device name of its own, and a moved store keeps its own`() async throws {
        try await withDirectory { root in
            let (store, copy, moved) = (root + "/store", root + "/copy", root + "/moved")
            let first = try await device(store)
            #expect(try await device(store) == first && first != nil)
            try FileManager.default.copyItem(atPath: store, toPath: copy)
            let second = try await device(copy)
            #expect(second != first && second != nil)
            #expect(try await device(copy) == second)
            #expect(try await device(store) == first)
            try FileManager.default.moveItem(atPath: store, toPath: moved)
            #expect(try await device(moved) == first)
            // Reading a copy changes nothing.
            try FileManager.default.copyItem(atPath: moved, toPath: store)
            let looked = try await SyncDatabase.open(at: store, .test())
            #expect(try await looked.setting("device") == first)
            try await looked.close()
            _ = try StateImage.check(POSIXStorage(directory: copy), "the copy")
        }
    }
}
