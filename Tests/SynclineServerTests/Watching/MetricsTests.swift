// The metrics, and where they can be read.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct MetricsTests {
    private func get(_ target: String) -> String {
        "GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    }

    @Test(arguments: TestBackend.available)
    func `transactions are counted, kept and undone`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let batch =
            #"{"operations":[{"operation":"insert","table":"todoitem","item":{"id":"a"}},"#
            + #"{"operation":"insert","table":"todoitem","item":{"id":"b"}}]}"#
        #expect(try desk.ask("POST", "/tables/$batch", batch).status == 200)
        #expect(try desk.ask("POST", "/tables/todoitem", #"{"id":"a"}"#).status == 409)
        let lines = desk.service.measures().flatMap(\.lines)
        #expect(lines.contains(#"syncline_transactions_total{outcome="kept"} 1"#))
        #expect(lines.contains(#"syncline_transactions_total{outcome="undone"} 1"#))
        #expect(lines.contains("syncline_writes_total 2") && lines.contains("syncline_waiting_writes 0"))
        // How long a write waited for its turn depends on the machine: only that it is a number of seconds is
        // checked.
        let waited = lines.filter { $0.hasPrefix("syncline_lock_wait_seconds_total ") }
            .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
        #expect(waited.count == 1 && waited.allSatisfy { $0.isFinite && $0 >= 0 })
        // In PostgreSQL, the transaction of another database may hold the horizon, and a tick may use a connection.
        let horizon = "syncline_horizon_age_seconds{held_by=\""
        #expect(lines.contains(horizon + "\"} 0") || backend == .postgres && lines.contains { $0.hasPrefix(horizon) })
        let idle = #"syncline_database_connections{pool="writers",state="lent"} 0"#
        #expect(lines.contains(idle) || backend == .postgres)
    }

    @Test(arguments: TestBackend.available)
    func `readers leave writers their connections`(_ backend: TestBackend) throws {
        let (store, keeper) = try backend.store()
        defer { withExtendedLifetime(keeper) {} }
        let limits = DatabaseLimits(turn: .zero)
        let database: any SQLDatabase
        switch try StoreAddress(store) {
        case .sqlite(let path): database = try SQLiteDatabase(path: path, readers: 1, limits: limits)
        case .postgres(let url): database = try PostgresDatabase(url: url, connections: 2, limits: limits)
        }
        try database.read { (_: any SQLConnection) throws(StoreFailure) in
            #expect(throws: StoreFailure.self) {
                try database.read { (_: any SQLConnection) throws(StoreFailure) in }
            }
            try database.write { connection throws(StoreFailure) in try connection.execute("SELECT 1") }
            #expect(
                database.pools == [
                    PoolUse(name: "writers", limit: 1, lent: 0, waiting: 0),
                    PoolUse(name: "readers", limit: 1, lent: 1, waiting: 0),
                ])
        }
        database.close()
    }

    @Test func `answered requests are counted`() throws {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        let missing = try server.exchange(get("/tables/nope"))
        let body = try #require(missing.split(separator: "\r\n\r\n").last).utf8.count
        let text = try server.exchange(get("/metrics"))
        #expect(text.contains(#"syncline_requests_total{method="GET",status="404"} 1"#))
        #expect(text.contains(#"syncline_request_seconds_bucket{le="+Inf"} 1"#))
        #expect(text.contains("syncline_sent_bytes_total \(body)\n"))
        #expect(text.contains(#"syncline_database_failures_total{kind="disk-full"} 0"#))
        for name in ["connections", "requests_running", "listeners", "waiting_jobs", "log_lines_lost_total"] {
            #expect(text.contains("# TYPE syncline_\(name) ") && text.contains("\nsyncline_\(name) "), "\(name)")
        }
    }

    @Test func `a measure is written as Prometheus reads it`() {
        let measure = Measure("things", .gauge, "Some things.", by: "kind", [("a", 1), ("b", 2)])
        #expect(
            measure.lines == [
                "# HELP syncline_things Some things.", "# TYPE syncline_things gauge", #"syncline_things{kind="a"} 1"#,
                #"syncline_things{kind="b"} 2"#,
            ])
        #expect(Measure("seconds", .counter, "Time.", 0.25).lines.last == "syncline_seconds 0.25")
    }

    @Test func `they have an address of their own if it is configured`() throws {
        let server = try RunningServer(more: #","metricsListen":"127.0.0.1:0""#)
        defer { withExtendedLifetime(server) {} }
        #expect(try server.exchange(get("/metrics")).contains(" 404 "))
        #expect(try server.exchange(get("/healthz")).contains(" 200 "))
        let url = try #require(server.server.metricsURL)
        let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
        func ask(_ target: String) throws -> String {
            let connection = try RawConnection(port: port)
            connection.send(get(target))
            return connection.rest()
        }
        #expect(try ask("/metrics").contains(#"syncline_requests_total{method="GET",status="404"} 1"#))
        #expect(try ask("/healthz").contains(#"{"status":"ok"}"#))
        #expect(try ask("/tables/todoitem").contains(" 404 "))
    }
}
