// `ne` between this project's client and server: rows without a value are in the response, and a foreign client gets
// what SQL means.

import Syncline
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite struct NotEqualClientTests {
    @Test(arguments: TestBackend.stores, ServerProtocol.allCases)
    func `a pull fetches rows without the value, by lists and by changes, and keeps them`(
        _ backend: TestBackend, _ protocolVersion: ServerProtocol
    ) async throws {
        for tellsChanges in [true, false] {
            let desk = try ClientDesk(backend, protocolVersion)
            desk.line.tellCapabilities(tellsChanges)
            try desk.ask("POST", "todoitem", #"{"id":"closed","text":"closed"}"#)
            try desk.ask("POST", "todoitem", #"{"id":"none","n":1}"#)
            try desk.ask("POST", "todoitem", #"{"id":"open","text":"open"}"#)
            let store = try await desk.store("a")
            for _ in 0..<2 {
                let report = try await store.pullAll {
                    $0.filter = try FilterExpression(parsing: "text ne 'closed'")
                    $0.reconciles = true
                }
                #expect(report.reason == nil && report.deleted == 0)
                #expect(try await store.column("id").keys.sorted() == ["none", "open"])
            }
            try await store.close()
        }
    }

    @Test(arguments: TestBackend.available)
    func `the filter that a client sends is decided by the database, and plain ne means what SQL means`(
        _ backend: TestBackend
    ) throws {
        let desk = try ClientDesk(backend)
        try desk.ask("POST", "todoitem", #"{"id":"closed","text":"closed"}"#)
        try desk.ask("POST", "todoitem", #"{"id":"none","n":1}"#)
        try desk.ask("POST", "todoitem", #"{"id":"open","text":"open"}"#)
        func ids(_ filter: String) throws -> [String] {
            var plan = ListPlan(table: "todoitem", limit: 10)
            plan.filter = try FilterExpression(parsing: filter)
            return try desk.desk.tables.list(plan).rows.map(\.id).sorted()
        }
        #expect(try ids("text ne 'closed'") == ["open"])
        #expect(try ids("(text ne 'closed' or text eq null)") == ["none", "open"])
        #expect(try ids("not (text ne 'closed')") == ["closed"])
        #expect(try ids("not (text ne 'closed' or text eq null)") == ["closed"])
        let schema = ServedTable(TableDefinition("todoitem"), columns: [Column("text", .string)])
        #expect(FilterSQL(try FilterExpression(parsing: "text ne 'x' or text eq null"), schema, .sqlite).isExact)
    }
}
