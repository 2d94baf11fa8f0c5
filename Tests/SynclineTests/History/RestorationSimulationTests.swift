// Random histories of a store with a server, put back at random events: the table is then as it was, and stays so after
// a push and a pull.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct RestorationSimulationTests {
    private struct History {
        var chance: Chance
        let pair: SyncPair
        /// Numbers for values, so that no two are the same.
        var count: Int64 = 0

        init(seed: UInt64) async throws {
            chance = Chance(seed: seed)
            let rows = (0..<3).map { Value.item("r\($0)", ["a": .integer(Int64(-$0))]) }
            pair = try await SyncPair(seed % 2 == 0 ? .datasync3 : .zumo2, rows: rows)
        }

        private mutating func columns() -> [String: Value] {
            var columns: [String: Value] = [:]
            for name in ["a", "b", "c"] where chance.once(in: 2) {
                count += 1
                columns[name] = chance.once(in: 5) ? .null : .integer(count)
            }
            return columns
        }

        mutating func step() async throws {
            switch chance.below(10) {
            case 0: try await pair.push(.clientWins)
            case 1: try await pair.pull()
            case 2:
                var columns = columns()
                if chance.once(in: 3) { columns["deleted"] = true }
                pair.server.upsert([.item("r\(chance.below(6))", columns)], in: "t")
            case 3: _ = try? await pair.database.undo()
            default: try await change()
            }
        }

        mutating func change() async throws {
            let changes = (0...chance.below(3)).map { _ in
                (id: "r\(chance.below(6))", kind: chance.below(3), columns: columns())
            }
            try await pair.database.transaction { transaction in
                for (id, kind, columns) in changes {
                    let item = Value.item(id, columns)
                    let isThere = try transaction.get("t", id: id) != nil
                    if !isThere {
                        try transaction.insert("t", item)
                    } else if kind == 0 {
                        try transaction.delete("t", id: id)
                    } else {
                        try transaction.update("t", item)
                    }
                }
            }
        }

        /// A table's rows with the app's columns, without nulls.
        static func rows(_ rows: [StoredRow]) -> [String: [String: Value]] {
            rows.reduce(into: [:]) { $0[$1.id] = $1.columns.own.dictionary.filter { !$0.value.isNull } }
        }

        func rows() async throws -> [String: [String: Value]] {
            History.rows(try await pair.table.query(RowQuery(table: "t")).rows)
        }
    }

    @Test(arguments: 0..<30)
    func `a table is as it was at a random event`(seed: UInt64) async throws {
        var history = try await History(seed: seed)
        let (pair, database) = (history.pair, history.pair.database)
        try await pair.pull()
        for _ in 0..<3 {
            for _ in 0..<10 { try await history.step() }
            // Nothing that the server has is unseen; changes may wait, and be in conflict.
            try await pair.pull()
            if history.chance.once(in: 2) { try await history.change() }
            let contested = Set(try await database.conflicts().map(\.id))
            let event = EventNumber(rawValue: 1 + history.chance.next() % database.lastEvent.rawValue)
            let then = try await database.history(at: event)
            let expected = History.rows(try await then.query(RowQuery(table: "t")).rows)
            let now = try await history.rows()
            let plan = try await then.restoration(of: .table("t"))
            let restored = try await database.restore(plan)
            #expect(try await history.rows() == expected, "seed \(seed), @\(event)")
            // Only the changes that were shown were made, and they can be taken back.
            if let restored {
                let differences = try await database.differences(from: restored - 1, to: restored)
                #expect(differences.map(\.id) == plan.changes.map(\.id).sorted(), "seed \(seed), @\(event)")
                try await database.restore(try await database.restoration(undoing: restored))
                #expect(try await history.rows() == now, "seed \(seed), @\(event), back")
                try await database.restore(try await then.restoration(of: .table("t")))
            }
            for conflict in try await database.conflicts() {
                try await database.resolve(table: "t", id: conflict.id, .keepMine)
            }
            #expect(try await pair.push(.clientWins).outcome == .complete, "seed \(seed)")
            try await pair.pull()
            #expect(try await pair.agrees(), "seed \(seed), @\(event)")
            let rows = try await history.rows().filter { !contested.contains($0.key) }
            #expect(rows == expected.filter { !contested.contains($0.key) }, "seed \(seed), @\(event), pushed")
        }
        _ = try StateImage.check(pair.disk, "seed \(seed)")
    }

    @Test(arguments: 0..<20)
    func `what is listed to be undone is what undos take back, in this order`(seed: UInt64) async throws {
        var history = try await History(seed: seed)
        let database = history.pair.database
        try await history.pair.pull()
        for _ in 0..<25 { try await history.step() }
        let steps = try await database.undoSteps(limit: 1000).undo
        #expect(try await database.undoSteps(limit: 2).undo == Array(steps.prefix(2)))
        #expect(try await database.canUndo() == !steps.isEmpty)
        for step in steps {
            let rows = try await database.differences(from: step.event - 1, to: step.event)
            #expect(try await database.undo() == step.event, "seed \(seed)")
            #expect(step.date != nil && step.rows >= rows.count, "seed \(seed)")
        }
        #expect(try await !database.canUndo())
        #expect(try await database.undoSteps().undo.isEmpty)
    }
}
