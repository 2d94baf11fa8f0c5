// Which changes of rows make a live aggregate read all rows again.

import LogTesting
import Testing

@testable import SynclineCore

/// A table that an aggregate follows.
private struct FollowedTable {
    let projector: Projector
    var live: LiveAggregate
    var reader: StateReader

    init(_ rows: [[Value.Member]], _ functions: [RowAggregate.Function], by groups: [String] = []) throws {
        projector = try Projector()
        for (number, columns) in rows.enumerated() {
            try FollowedTable.change(projector, .insert, "\(number)", columns)
        }
        reader = projector.reader(of: projector.store.endCommit())
        live = LiveAggregate(RowAggregate(table: "t", groups: groups, functions: functions))
        try live.load(reader)
    }

    private static func change(
        _ projector: Projector, _ kind: OperationKind, _ id: String, _ columns: [Value.Member]
    ) throws {
        let change = LocalChange(kind: kind, table: "t", id: id, columns: Row(columns))
        try projector.apply(
            Event(time: 0, .local(LocalTransaction([change], isGrouped: false))), number: projector.through + 1)
    }

    /// Makes changes in one commit; nil deletes a row.
    mutating func commit(_ changes: [String: [Value.Member]?]) throws {
        for (id, columns) in changes {
            let kind: OperationKind = columns == nil ? .delete : try reader.row("t", id) == nil ? .insert : .update
            try FollowedTable.change(projector, kind, id, columns ?? [])
        }
        let after = projector.reader(of: projector.store.endCommit())
        let keys = changes.keys.map { RowKey.bytes("t", $0, .exact) }
        _ = try live.update(TableChanges(of: "t", keys, from: reader, to: after))
        reader = after
    }
}

@Suite struct LiveAggregateTests {
    private static let prices = [0.1, 0.2, 0.7, 1e17, -1e17].map { [Value.Member("price", .double($0))] }

    @Test(arguments: UInt64(1)...10) func `sums and averages of fractions read no rows again`(_ seed: UInt64) throws {
        var chance = Chance(seed: seed)
        let functions: [RowAggregate.Function] = [.sum("price"), .average("price")]
        var table = try FollowedTable(Self.prices, functions)
        for _ in 0..<40 {
            let id = "\(chance.below(8))"
            let isThere = try table.reader.row("t", id) != nil
            let columns = isThere && chance.once(in: 4) ? nil : [Value.Member("price", .double(chance.double()))]
            try table.commit([id: columns])
            #expect(try table.live.result == table.reader.run(RowAggregate(table: "t", functions: functions)))
        }
        #expect(table.live.loads == 1)
    }

    @Test func `a change of another column reads no rows again`() throws {
        var table = try FollowedTable(Self.prices, [.sum("price"), .min("price"), .max("price")])
        for id in 0..<5 { try table.commit(["\(id)": [.init("note", "new")]]) }
        #expect(table.live.loads == 1)
        #expect(table.live.result.map(\.values) == [[.double(1), .double(-1e17), .double(1e17)]])
    }

    @Test func `all rows are read again only if no row has the least or greatest value any more`() throws {
        func price(_ number: Int64) -> [Value.Member] { [.init("price", .integer(number))] }
        var table = try FollowedTable([3, 9, 9, 1].map { price($0) }, [.max("price")])
        try table.commit(["1": nil])
        try table.commit(["2": price(10)])
        try table.commit(["2": price(5), "3": price(10)])
        #expect(table.live.result.map(\.values) == [[.integer(10)]] && table.live.loads == 1)
        try table.commit(["3": price(2)])
        #expect(table.live.result.map(\.values) == [[.integer(5)]] && table.live.loads == 2)
    }
}
