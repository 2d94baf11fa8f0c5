// `ne` has one meaning: what a local list shows, a pull with the same filter keeps.

import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct NotEqualTests {
    private static let rows: [Value] = [
        .item("closed", ["status": .string("closed")]), .item("none", ["n": .integer(1)]),
        .item("null", ["status": .null]), .item("open", ["status": .string("open")]),
    ]

    @Test(
        arguments: ServerProtocol.allCases, [false, true])
    func `a pull fetches the rows that the same filter finds locally`(
        _ server: ServerProtocol, _ tellsChanges: Bool
    ) async throws {
        var options = SimulatedServer.Options()
        options.tellsChanges = tellsChanges
        for text in [
            "status ne 'closed'", "'closed' ne status", "tolower(status) ne 'closed'", "not (not (status ne 'closed'))",
            "n ne status", "status in ('open',null)", "not (status eq 'closed')", "status ne null",
        ] {
            let pair = try await SyncPair(server, options, rows: Self.rows)
            let filter = try FilterExpression(parsing: text)
            try await pair.pull { $0.filter = filter }
            let here = try await SyncPair(server, options, rows: Self.rows)
            try await here.pull()
            let found = try await here.table.query(RowQuery(table: "t", filter: filter)).rows.map(\.id)
            #expect(try await pair.table.query(RowQuery(table: "t")).rows.map(\.id) == found, "\(text)")
        }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a row without the column stays when its list is reconciled`(_ server: ServerProtocol) async throws {
        let pair = try await SyncPair(server)
        try await pair.table.insert(.item("new", ["n": .integer(1)]))
        #expect(try await pair.push().outcome == .complete)
        let filter = try FilterExpression(parsing: "status ne 'closed'")
        for _ in 0..<2 {
            let report = try await pair.pull {
                $0.filter = filter
                $0.reconciles = true
            }
            #expect(report.reason == nil && report.deleted == 0)
            #expect(try await pair.table.query(RowQuery(table: "t", filter: filter)).rows.map(\.id) == ["new"])
        }
    }
}
