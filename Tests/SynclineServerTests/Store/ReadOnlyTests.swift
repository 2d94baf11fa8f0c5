// Databases that take no writes for a while: the server stays alive, says that it is not ready, and continues by itself.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ReadOnlyTests {
    private func isReadOnly(_ response: HTTPResponse) -> Bool {
        response.status == 503 && response.code == "read-only" && response.headers.value("Retry-After") == "30"
    }

    @Test(arguments: TestBackend.available)
    func `a database that takes no writes is alive, but not ready`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        func setReadOnly(_ flag: Bool) throws {
            let setting = "default_transaction_read_only = \(flag ? "on" : "off")"
            let change = "EXECUTE format('ALTER DATABASE %I SET \(setting)', current_database())"
            try desk.store.database.carryOut(
                backend == .sqlite
                    ? ["PRAGMA query_only = \(flag)"]
                    : ["SET default_transaction_read_only = off", "DO $$ BEGIN \(change); END $$"])
            // The setting is for new connections to PostgreSQL. A tick that follows the last write may still use an old one.
            guard backend == .postgres else { return }
            repeat {
                desk.store.database.close()
            } while desk.store.database.pools.contains { $0.lent > 0 }
            desk.store.database.close()
        }
        #expect(try desk.ask("POST", "/tables/todoitem", #"{"id":"a"}"#).status == 201)
        #expect(try desk.ask("GET", "/readyz").status == 200)
        // Waits for the tick after the write, which a read-only database could not make.
        #expect(try desk.ask("GET", "/tables/todoitem/changes?since=").ids == ["a"])
        try setReadOnly(true)
        #expect(try isReadOnly(desk.ask("POST", "/tables/todoitem", #"{"id":"b"}"#)))
        #expect(try isReadOnly(desk.ask("DELETE", "/tables/todoitem/a")))
        let batch = #"{"operations":[{"operation":"delete","table":"todoitem","id":"a"}]}"#
        #expect(try isReadOnly(desk.ask("POST", "/tables/$batch", batch)))
        #expect(try desk.ask("GET", "/tables/todoitem/a").status == 200)
        #expect(try desk.ask("GET", "/tables/todoitem/changes?since=").ids == ["a"])
        #expect(try desk.ask("GET", "/healthz").status == 200)
        #expect(try isReadOnly(desk.ask("GET", "/readyz")))
        try setReadOnly(false)
        #expect(try desk.ask("GET", "/readyz").status == 200)
        #expect(try desk.ask("POST", "/tables/todoitem", #"{"id":"b"}"#).status == 201)
    }

    @Test func `a writer at work does not make the server unready`() throws {
        let desk = try ServiceDesk()
        try desk.store.database.write { connection throws(StoreFailure) in
            try connection.execute("BEGIN IMMEDIATE")
            #expect(throws: Never.self) { try desk.store.checkWrites() }
            try connection.execute("ROLLBACK")
        }
    }

    @Test(.enabled(if: PrivatePostgres.shared != nil, "PostgreSQL is not installed here, or can't be run"))
    func `a standby serves reads, and is ready once it is promoted`() throws {
        let cluster = try ReplicatedPostgres()
        let settings = try configuration(#"{"tables":{"t":{"columns":{"text":"string"}}}}"#)
        let environment = PatientEnvironment()
        func open(_ database: any SQLDatabase) throws -> TableAnswers {
            TableAnswers(settings, try SQLStore(database, settings.tables, environment), environment)
        }
        func ask(_ service: TableAnswers, _ method: String, _ target: String, _ body: String = "") throws
            -> HTTPResponse
        {
            var request = try #require(HTTPRequest(method, target: target))
            request.body = Array(body.utf8)
            return service.answer(request, url: "")
        }
        let primary = try open(cluster.database)
        #expect(try ask(primary, "POST", "/tables/t", #"{"id":"a"}"#).status == 201)
        try cluster.copy()
        #expect(try ask(primary, "POST", "/tables/t", #"{"id":"b"}"#).status == 201)
        let standby = try open(try cluster.standbyDatabase())
        #expect(try ask(standby, "GET", "/tables/t/changes?since=").status == 200)
        #expect(try ask(standby, "GET", "/healthz").status == 200)
        #expect(try isReadOnly(ask(standby, "GET", "/readyz")))
        #expect(try isReadOnly(ask(standby, "POST", "/tables/t", #"{"id":"c"}"#)))
        let epoch = try ask(standby, "GET", "/tables/t").headers.value(WireHeader.epoch)
        try cluster.promote()
        while try ask(standby, "GET", "/readyz").status != 200 {}
        let written = try ask(standby, "POST", "/tables/t", #"{"id":"c"}"#)
        #expect(written.status == 201 && written.headers.value(WireHeader.epoch) != epoch)
    }
}
