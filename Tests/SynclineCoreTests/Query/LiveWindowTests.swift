// Live results compared with the same query run again, after each step of random histories.

import Foundation
import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct LiveWindowTests {
    private static let seeds = Seeds.some(100, optimized: 400, night: 20_000)

    @Test func `live results are those of the query run again, and differences add up to them`() throws {
        for seed in Self.seeds {
            let fault = try LiveHistory.fault(seed: seed)
            try #require(fault == nil)
        }
    }

    @Test func `a row that is not in view costs no query`() throws {
        let (projector, commit) = try Self.numbers(200)
        var window = LiveWindow(RowQuery(table: "t", order: [.init("n")], top: 10))
        let before = projector.reader(of: projector.store.endCommit())
        try window.load(before)
        try commit(150, 151)
        let after = projector.reader(of: projector.store.endCommit())
        let keys = [RowKey.bytes("t", "150", .exact)]
        let isChanged = try window.update(TableChanges(of: "t", keys, from: before, to: after))
        #expect(!isChanged)
        #expect(window.loads == 1)
    }

    @Test func `rows that leave are replaced from those that are held`() throws {
        let (projector, commit) = try Self.numbers(200)
        let query = RowQuery(
            table: "t", filter: try FilterExpression(parsing: "n lt 1000"), order: [.init("n")], top: 10)
        var window = LiveWindow(query)
        var before = projector.reader(of: projector.store.endCommit())
        try window.load(before)
        for number in 0..<80 {
            try commit(number, 5000)
            let after = projector.reader(of: projector.store.endCommit())
            let keys = [RowKey.bytes("t", "\(number)", .exact)]
            #expect(try window.update(TableChanges(of: "t", keys, from: before, to: after)))
            #expect(try window.result == after.run(query))
            before = after
        }
        // 42 rows are held: 10, and 32 that may leave before more are needed.
        #expect(window.loads == 3)
    }

    /// Rows `0` to `count - 1` of which `n` is the number, and a function that changes `n`.
    private static func numbers(_ count: Int) throws -> (Projector, (Int, Int) throws -> Void) {
        let projector = try Projector()
        func change(_ kind: OperationKind, _ number: Int, _ value: Int) throws {
            let change = LocalChange(
                kind: kind, table: "t", id: "\(number)", columns: Row([.init("n", .integer(Int64(value)))]))
            try projector.apply(
                Event(time: 0, .local(LocalTransaction([change], isGrouped: false))), number: projector.through + 1)
        }
        for number in 0..<count { try change(.insert, number, number) }
        return (projector, { try change(.update, $0, $1) })
    }
}
