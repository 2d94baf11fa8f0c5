// `syncline-server check`: it finds what would stop a start, and says how to mend it; it changes nothing.

import ChildProcesses
import Foundation
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct CheckTests {
    private func findings(
        _ backend: TestBackend, _ statements: [String], _ tables: String, more: String = "", role: String? = nil
    ) throws -> [Finding] {
        let (address, keeper) = try backend.store()
        let database: any SQLDatabase =
            switch try StoreAddress(address) {
            case .sqlite(let path): try SQLiteDatabase(path: path)
            case .postgres(let url): try PostgresDatabase(url: url, connections: 2, limits: .patient)
            }
        try database.carryOut(statements)
        let store = role.map { address.replacing("user=tester", with: "user=\($0)") } ?? address
        let settings = try configuration(#"{"store":\#(Value.string(store).json),"tables":\#(tables)\#(more)}"#)
        defer { withExtendedLifetime(keeper) {} }
        return Server.check(settings, descriptors: 100_000)
    }

    private func texts(_ findings: [Finding], _ weight: Finding.Weight) -> [String] {
        findings.filter { $0.weight == weight }.map { "\($0.place): \($0.text)" }
    }

    @Test(arguments: TestBackend.available)
    func `all errors of all tables are found at once, and nothing is made`(_ backend: TestBackend) throws {
        let good = AdoptedDesk.create(backend)
        func named(_ name: String) -> String { good.replacing("\"t\"", with: "\"\(name)\"") }
        let (flag, odd) = backend == .sqlite ? ("0", "BLOB") : ("false", "bytea")
        let rows = ["a", "b"].map {
            "INSERT INTO late (id, \"updatedAt\", version, deleted) "
                + "VALUES ('\($0)', '2026-01-01T00:00:00Z', -\($0 == "a" ? 1 : 2), \(flag))"
        }
        let tables = #"{"fine":{},"late":{},"odd":{},"poor":{},"seen":{},"new":{}}"#
        let statements =
            [
                named("fine"), named("late"), named("odd"), "ALTER TABLE odd ADD COLUMN picture \(odd)",
                "CREATE TABLE poor (id text PRIMARY KEY)", "CREATE VIEW seen AS SELECT * FROM fine",
            ] + rows
        let (address, keeper) = try backend.store()
        withExtendedLifetime((address, keeper)) {}
        let found = try findings(backend, statements, tables)
        let errors = texts(found, .error)
        #expect(errors.count == 4, "\(errors)")
        for wanted in ["table odd: column picture", "table poor: ", "table seen: ", "table late: column version"] {
            #expect(errors.contains { $0.hasPrefix(wanted) }, "\(wanted) \(errors)")
        }
        #expect(texts(found, .fact).contains { $0.hasPrefix("table new: ") && $0.contains("will be made") })
        #expect(texts(found, .fact).contains { $0.hasPrefix("table fine: ") })
        #expect(found.allSatisfy { $0.weight != .error || $0.mend != nil })
    }

    @Test(arguments: TestBackend.available)
    func `a store in use has no errors, and a start has none that the check does not find`(
        _ backend: TestBackend
    ) throws {
        let (address, keeper) = try backend.store()
        let settings = try configuration(
            #"{"store":\#(Value.string(address).json),"listen":"127.0.0.1:0","tables":{"t":{"columns":{"n":"number"}}}}"#
        )
        #expect(Server.check(settings, descriptors: 100_000).allSatisfy { $0.weight != .error })
        let server = try Server(settings)
        #expect(Server.check(settings, descriptors: 100_000).allSatisfy { $0.weight == .fact })
        server.stop()
        withExtendedLifetime(keeper) {}
    }

    @Test func `settings that are valid and unwise are warned of`() throws {
        let open = try configuration(#"{"listen":"0.0.0.0:80","tables":{"t":{}}}"#)
        let codes = open.findings(descriptors: 500).filter { $0.weight == .warning }.map(\.code)
        #expect(codes == ["no-tls", "open-table", "open-metrics", "few-descriptors"])
        let closed = try configuration(
            #"{"listen":"127.0.0.1:80","tombstoneDays":30,"auth":{"key":"\#(testSecret)"},"tables":{"t":{"access":"authenticated"}}}"#
        )
        #expect(closed.findings(descriptors: 100_000) == [])
        #expect(ServerConfiguration().findings(descriptors: 100_000).map(\.code) == ["no-tables"])
    }

    @Test func `a standby, a read-only database and another encoding are told`() {
        var facts = DatabaseFacts(product: "PostgreSQL 15", encoding: "UTF8", role: "clerk")
        #expect(facts.warnings == [] && facts.findings(.postgres) == [])
        facts.isStandby = true
        #expect(facts.warnings.map(\.code) == ["database-standby"] && facts.warnings.allSatisfy { $0.mend != nil })
        (facts.isStandby, facts.isReadOnly) = (false, true)
        #expect(facts.warnings.map(\.code) == ["database-read-only"])
        facts.encoding = "LATIN1"
        #expect(facts.findings(.postgres).map(\.weight) == [.error])
    }

    @Test func `a version that takes its number from a sequence by itself is refused`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        func made(_ name: String, _ version: String) -> String {
            AdoptedDesk.create(.postgres).replacing("\"t\"", with: name).replacing("bigint", with: version)
        }
        let errors = texts(
            try findings(
                .postgres,
                [
                    "CREATE SEQUENCE own", made("plain", "bigint"), made("counted", "bigint DEFAULT nextval('own')"),
                    made("identity", "bigint GENERATED BY DEFAULT AS IDENTITY"), made("serial", "bigserial"),
                    made("fixed", "bigint DEFAULT 0"),
                ], #"{"plain":{},"counted":{},"identity":{},"serial":{},"fixed":{}}"#), .error)
        let tables = ["counted", "identity", "serial"]
        #expect(errors.count == tables.count, "\(errors)")
        for table in tables {
            #expect(errors.contains { $0.hasPrefix("table \(table): ") && $0.contains("syncline_take") }, "\(errors)")
        }
    }

    @Test func `a read-only database, a missing right, few connections and a missing server are found`() throws {
        guard TestBackend.available.contains(.postgres), TestBackend.numbers == nil else { return }
        let role = "clerk9"
        let errors = texts(
            try findings(
                .postgres, ["CREATE ROLE \(role) LOGIN", AdoptedDesk.create(.postgres)], "{\"t\":{}}", role: role),
            .error)
        #expect(errors.contains { $0.contains("can't be made") && $0.contains("grant") }, "\(errors)")
        let found = try findings(
            .postgres, ["CREATE ROLE reader9 LOGIN", "ALTER ROLE reader9 SET default_transaction_read_only = on"], "{}",
            role: "reader9")
        #expect(texts(found, .warning).contains { $0.contains("read-only") }, "\(found)")
        let many = try findings(.postgres, [], "{}", more: #","databaseConnections":1000"#)
        #expect(texts(many, .warning).contains { $0.contains("wants 1002 connections") }, "\(many)")
        let gone = try configuration(#"{"store":"postgres://127.0.0.1:1/x","tables":{"t":{}}}"#)
        #expect(texts(Server.check(gone, descriptors: 100_000), .error).contains { $0.contains("can't be reached") })
    }

    @Test func `the command prints its findings, and its exit code says whether the server can start`() throws {
        let folder = try TemporaryFolder()
        let program = try ChildProcess.builds.appending(path: "syncline-server").path
        let path = "\(folder.path)/a.db"
        func check(_ words: [String]) throws -> (output: String, exit: Int32) {
            let result = try ChildProcess.run(program, ["check", "--store", "sqlite:\(path)"] + words)
            return (result.output, result.exit)
        }
        let fresh = try check(["--table", "t"])
        #expect(fresh.exit == 0 && fresh.output.hasSuffix("The server can start.\n"), "\(fresh)")
        #expect(!FileManager.default.fileExists(atPath: path))
        let connection = try SQLiteConnection(path: path, isReader: false)
        try connection.execute("CREATE TABLE t (id TEXT PRIMARY KEY)")
        let bad = try check(["--table", "t"])
        #expect(bad.exit == 3 && bad.output.hasPrefix("error: table t: "), "\(bad)")
        let json = try check(["--table", "t", "--log", "json"])
        #expect(json.exit == 3)
        for line in json.output.split(separator: "\n") {
            #expect((try? Value(json: line.utf8))?["weight"] != nil, "\(line)")
        }
        #expect(try check(["--table", "t", "--store"]).exit == 2)
    }
}
