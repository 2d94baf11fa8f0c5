// Random histories of a store and a branch of it, against a model: what a landing makes of the store is what the branch changed,
// whatever was compacted, purged, undone or refused meanwhile.

import Foundation
import Syncline
import SynclineCore
import SynclineTesting
import Testing

@testable import SynclineTool

@Suite struct BranchSimulationTests {
    @Test func `a branch lands as what it changed, and as nothing else`() async throws {
        for seed in Seeds.some(8) {
            var world = try BranchWorld(seed)
            try await world.start()
            for _ in 0..<25 { try await world.step() }
        }
    }
}

private struct BranchWorld {
    private typealias Rows = [String: [String: Int]]

    private let seed: UInt64
    private let log: TestLog
    private var chance: Chance
    private var store: Rows = [:]
    /// The branch, if there is one: what it began with, its states, and the newest of them.
    private var base: Rows?
    private var undone: [Rows] = []
    private var draft: Rows = [:]
    private var version: UInt32 = 1
    private var number = 0

    init(_ seed: UInt64) throws {
        self.seed = seed
        chance = Chance(seed: seed)
        log = try TestLog(empty: ())
    }

    private func tool(_ words: [String], inBranch: Bool = false) async -> Call {
        await Call.tool(words: words + (inBranch ? ["--branch", "draft"] : []), on: log)
    }

    func start() async throws { try #require(await tool(["init"]).exit == .done) }

    mutating func step() async throws {
        switch chance.below(12) {
        case 0...3: try await edit(inBranch: false)
        case 4...6: try await edit(inBranch: true)
        case 7: try await tidy()
        case 8: try await begin()
        case 9: try await refuse()
        case 10: try await migrate()
        default: try await land()
        }
        try await compare(store, inBranch: false)
        if base != nil { try await compare(draft, inBranch: true) }
    }

    private func compare(_ rows: Rows, inBranch: Bool) async throws {
        let found = try await tool(["query", "t", "--json"], inBranch: inBranch).array()
        var read: Rows = [:]
        for row in found {
            let id = try #require(row["id"] as? String)
            read[id] = row.compactMapValues { $0 as? Int }
        }
        try #require(read == rows, "seed \(seed), in the branch: \(inBranch)")
    }

    private mutating func edit(inBranch: Bool) async throws {
        if inBranch, base == nil { return }
        number += 1
        let id = ["a", "b", "c", "d"][chance.below(4)]
        var rows = inBranch ? draft : store
        let column = chance.once(in: 2) ? "n" : "m"
        var words = ["update", "t", #"{"id":"\#(id)","\#(column)":\#(number)}"#]
        if rows[id] == nil {
            words[0] = "insert"
            rows[id] = [column: number]
        } else if chance.once(in: 4) {
            words = ["delete", "t", id]
            rows[id] = nil
        } else {
            rows[id]?[column] = number
        }
        try #require(await tool(words, inBranch: inBranch).exit == .done, "seed \(seed): \(words)")
        if inBranch {
            undone.append(draft)
            draft = rows
        } else {
            store = rows
        }
    }

    private mutating func tidy() async throws {
        let inBranch = base != nil && chance.once(in: 2)
        let words = [["compact"], ["checkpoint"], ["config", "retention", "\(chance.below(4)) events"]]
        _ = await tool(words[chance.below(3)], inBranch: inBranch)
    }

    private mutating func begin() async throws {
        if base != nil { return }
        try #require(await tool(["branch", "create", "draft"]).exit == .done, "seed \(seed)")
        (base, draft, undone) = (store, store, [])
    }

    /// Everything but a change of a row is refused; an undo takes back only what the branch did.
    private mutating func refuse() async throws {
        guard base != nil else {
            guard let id = store.keys.sorted().first else { return }
            try #require(await tool(["purge", "t", "--filter", "id eq '\(id)'", "--force"]).exit == .done)
            return store[id] = nil
        }
        if chance.once(in: 2) {
            let call = await tool(["undo"], inBranch: true)
            try #require((call.exit == .done) == !undone.isEmpty, "seed \(seed)")
            if let before = undone.popLast() { draft = before }
        } else {
            for words in [["purge", "t", "--force"], ["drop", "t/a", "--force"]] {
                try #require(await tool(words, inBranch: true).exit != .done, "seed \(seed)")
            }
        }
    }

    /// A store with a branch refuses a schema that rewrites rows.
    private mutating func migrate() async throws {
        var configuration = SyncConfiguration()
        let steps = [Migration.Step.transform(table: "t", column: "m") { $0 }, .dropColumn(table: "t", column: "old")]
        configuration.schema = SyncSchema(version: version + 1, migrations: [Migration(to: version + 1, steps: steps)])
        let database = try? await SyncDatabase.open(at: log.path, configuration)
        try await database?.close()
        try #require((database == nil) == (base != nil), "seed \(seed)")
        if database != nil { version += 1 }
    }

    private mutating func land() async throws {
        guard let base else { return }
        let isOver = chance.once(in: 2)
        var landed = store
        var isMoved = false
        for id in Set(base.keys).union(draft.keys) where base[id] != draft[id] && store[id] != draft[id] {
            if base[id] != store[id] { isMoved = true }
            guard let row = draft[id], let now = store[id] else {
                landed[id] = draft[id]
                continue
            }
            // A row that the branch deleted and inserted again may lack columns that it had.
            let known = base[id] ?? [:]
            let kept = now.filter { row[$0.key] != nil || known[$0.key] == nil }
            landed[id] = kept.merging(row.filter { known[$0.key] != $0.value }) { $1 }
        }
        let exit = await tool(["branch", "land", "draft"] + (isOver ? ["--over"] : [])).exit
        try #require((exit == .done) == (isOver || !isMoved), "seed \(seed)")
        if exit == .done { (store, self.base) = (landed, nil) }
    }
}
