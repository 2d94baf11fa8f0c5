// A start beside running processes: it waits for none of them if everything exists, queues with the writers if
// something must be created, and creates nothing that exists.

import Dispatch
import Foundation
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite(.enabled(if: PrivatePostgres.shared != nil, "PostgreSQL is not installed here, or can't be run"))
struct StartTests {
    private static let first = #"{"t":{"columns":{"a":"string"}},"h":{"softDelete":false}}"#

    private func open(_ url: String, _ tables: String = first) throws -> SQLStore {
        try SQLStore(
            try PostgresDatabase(url: url, connections: 2, limits: .patient),
            try configuration(#"{"tables":\#(tables)}"#).tables,
            StillEnvironment())
    }

    private func newStore() throws -> (cluster: PrivatePostgres, url: String) {
        let cluster = try #require(PrivatePostgres.shared)
        return (cluster, cluster.url(try cluster.newDatabase()))
    }

    @Test func `a role that may only read and write rows is enough if everything exists`() throws {
        let (cluster, url) = try newStore()
        _ = try open(url)
        let owner = try PostgresConnection(url: url)
        let role = "worker\(UInt32.random(in: 0 ... .max))"
        try owner.execute(
            """
            CREATE ROLE \(role) LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC; \
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \(role); \
            GRANT SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO \(role)
            """)
        let limited = try open(url.replacing("user=tester", with: "user=\(role)"))
        let write = TableWrite(
            .insert(Row([.init("a", .string("x"))])), table: "t", id: "1", serverProtocol: .zumo2)
        #expect(try limited.write([[write]], stopsAtRefusal: false)[0][0].isRefused == false)
        withExtendedLifetime(cluster) {}
    }

    @Test func `a start waits for no writer if everything exists`() throws {
        let (cluster, url) = try newStore()
        _ = try open(url)
        let writer = try PostgresConnection(url: url)
        try writer.execute(
            """
            BEGIN; UPDATE "syncline_state" SET "change" = "change"; \
            LOCK TABLE "syncline_operations", "syncline_tombstones", "syncline_columns", "t" IN ROW EXCLUSIVE MODE
            """)
        // Waiting would be in vain.
        _ = try open(url)
        try writer.execute("COMMIT")
        withExtendedLifetime(cluster) {}
    }

    @Test func `a start that must create something waits its turn among the writers`() throws {
        let (cluster, url) = try newStore()
        _ = try open(url)
        let writer = try PostgresConnection(url: url)
        let watcher = try PostgresConnection(url: url)
        try writer.execute(#"BEGIN; UPDATE "syncline_state" SET "change" = "change""#)
        let started = Mutex<Result<Void, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let result = Result { _ = try self.open(url, #"{"t":{"columns":{"a":"string","b":"number"}},"new":{}}"#) }
            started.withLock { $0 = result }
            done.signal()
        }
        // Until it waits: it must hold nothing by then that the writer still needs.
        let waiting: SQLStatement =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        while try watcher.first(waiting, count: 1)?[0].integer == 0, started.withLock({ $0 == nil }) {}
        try writer.execute(
            """
            INSERT INTO "syncline_operations" VALUES ('', 'x', 0, 't', 'inserted', '{}'); \
            UPDATE "t" SET "a" = 'x'; INSERT INTO "syncline_tombstones" ("table", "id", "owner", "change", "time") \
            VALUES ('h', 'x', '', 1, 1); COMMIT
            """)
        done.wait()
        #expect(throws: Never.self) { try started.withLock { $0 }?.get() }
        withExtendedLifetime(cluster) {}
    }
}

@Suite struct EpochTests {
    @Test(arguments: TestBackend.available)
    func `a process learns of the epoch that another one began`(_ backend: TestBackend) throws {
        let (store, keeper) = try backend.store()
        func open(renews: Bool) throws -> (SQLStore, TableAnswers) {
            let settings = try configuration(#"{"tables":{"t":{}}}"#)
            let database: any SQLDatabase =
                switch try StoreAddress(store) {
                case .sqlite(let path): try SQLiteDatabase(path: path)
                case .postgres(let url): try PostgresDatabase(url: url, connections: 2, limits: .patient)
                }
            let environment = PatientEnvironment()
            let opened = try SQLStore(database, settings.tables, environment, renewsEpoch: renews)
            return (opened, TableAnswers(settings, opened, environment))
        }
        func epoch(_ service: TableAnswers, _ method: String = "GET", _ body: String? = nil) throws -> String? {
            var request = try #require(HTTPRequest(method, target: body == nil ? "/tables/t/a" : "/tables/t"))
            request.body = body.map { Array($0.utf8) }
            return service.answer(request, url: "").headers.value(WireHeader.epoch)
        }
        let (readerStore, reader) = try open(renews: false)
        let (writerStore, writer) = try open(renews: false)
        let before = try epoch(reader, "POST", #"{"id":"a"}"#)
        #expect(try epoch(writer) == before)
        let (_, renewed) = try open(renews: true)
        let after = try epoch(renewed)
        #expect(after != before)
        #expect(try epoch(reader) == after, "by reading a row")
        #expect(try epoch(writer, "POST", #"{"id":"b"}"#) == after, "by writing one")
        withExtendedLifetime((keeper, readerStore, writerStore)) {}
    }
}
