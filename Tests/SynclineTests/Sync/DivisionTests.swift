// `div` means the same in a store and on the store's server.

import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct DivisionTests {
    private static let rows: [Value] = [
        .item("a", ["n": .integer(25)]), .item("b", ["n": .double(25)]), .item("c", ["n": .integer(20)]),
        .item("d", ["n": .double(25.5)]),
    ]

    @Test(arguments: [
        (ServerProtocol.zumo2, "n div 10 eq 2.5", ["a", "b"]), (.zumo2, "n div 10 eq 2", ["c"]),
        (.zumo2, "not (n div 10 eq 2) and 7 div 2 eq 3.5", ["a", "b", "d"]), (.datasync3, "n div 10 eq 2.5", ["b"]),
        (.datasync3, "n div 10 eq 2", ["a", "c"]),
    ])
    func `a pull fetches the rows that the same filter finds locally`(
        _ server: ServerProtocol, _ text: String, _ ids: [String]
    ) async throws {
        let filter = try FilterExpression(parsing: text)
        let pair = try await SyncPair(server, rows: Self.rows)
        for _ in 0..<2 {
            try await pair.pull {
                $0.filter = filter
                $0.reconciles = true
            }
            #expect(try await pair.table.query(RowQuery(table: "t")).rows.map(\.id) == ids)
        }
        let here = try await SyncPair(server, rows: Self.rows)
        try await here.pull()
        #expect(try await here.table.query(RowQuery(table: "t", filter: filter)).rows.map(\.id) == ids)
        #expect(try await here.table.count(filter) == ids.count)
    }
}
