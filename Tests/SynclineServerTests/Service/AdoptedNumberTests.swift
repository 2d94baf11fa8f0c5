// The numbers of rows in adopted tables: all rows reach a client, or the server says which can't.

import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite struct AdoptedNumberTests {
    private static func table(_ backend: TestBackend, key: String = "text", _ more: String = "") -> String {
        let (date, flag) = backend == .sqlite ? ("text", "integer") : ("timestamptz", "boolean")
        return """
            CREATE TABLE "t" ("id" \(key) PRIMARY KEY, "updatedAt" \(date), "version" bigint, "deleted" \(flag)\(more))
            """
    }

    private static func row(_ backend: TestBackend, _ id: String, number: String, time: String? = nil) -> String {
        let time = time ?? "'2026-05-19T21:30:00.000Z'"
        return """
            INSERT INTO "t" ("id", "updatedAt", "version", "deleted") \
            VALUES ('\(id)', \(time), \(number), \(backend == .sqlite ? "0" : "false"))
            """
    }

    /// The ids of all changes, page by page.
    private func changes(_ desk: ServiceDesk, top: Int) throws -> [String] {
        var ids: [String] = []
        var cursor = ""
        for _ in 0..<10_000 {
            let page = try desk.ask("GET", "/tables/t/changes?$top=\(top)&$count=true&since=\(cursor.encoded)")
            #expect(page.status == 200, "\(page.text)")
            ids += page.ids
            cursor = page.json["cursor"]?.string ?? ""
            if page.json["hasMore"] != .bool(true) { return ids }
        }
        return ids
    }

    @Test(arguments: TestBackend.available, [true, false])
    func `rows that share a number are all in the feed`(_ backend: TestBackend, _ isSoft: Bool) throws {
        let desk = try ServiceDesk(
            backend, tables: #"{"t":{"softDelete":\#(isSoft)}}"#, before: [Self.table(backend)])
        let ids = (1...2500).map { "r.\(10_000 + $0)" }
        try desk.store.database.carryOut(ids.map { Self.row(backend, $0, number: "5") })
        #expect(try changes(desk, top: 1000) == ids)
        // Within a number a page may end anywhere.
        try desk.store.database.carryOut([#"DELETE FROM "t" WHERE "id" > 'r.10100'"#])
        #expect(try changes(desk, top: 7) == Array(ids.prefix(100)))
        #expect(try desk.ask("POST", "/tables/t", #"{"id":"new"}"#).status == 201)
        #expect(try desk.ask("DELETE", "/tables/t/r.10100").status == 200)
        #expect(try changes(desk, top: 9) == Array(ids.prefix(99)) + ["new", "r.10100"])
    }

    @Test(arguments: TestBackend.available)
    func `rows that share a number and have integers as keys are all in the feed`(_ backend: TestBackend) throws {
        let key = backend == .sqlite ? "INTEGER" : "bigint"
        let desk = try ServiceDesk(backend, tables: #"{"t":{}}"#, before: [Self.table(backend, key: key)])
        try desk.store.database.carryOut((1...40).map { Self.row(backend, "\($0)", number: "5") })
        #expect(try changes(desk, top: 3) == (1...40).map(String.init))
    }

    @Test(arguments: TestBackend.available)
    func `a row with a number that is not issued yet is not in the feed`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: #"{"t":{}}"#, before: [Self.table(backend)])
        try desk.store.database.carryOut([
            Self.row(backend, "a", number: "5"), Self.row(backend, "b", number: "\(Int64.max)"),
        ])
        #expect(try changes(desk, top: 10) == ["a"])
        #expect(try changes(desk, top: 1) == ["a"])
    }

    @Test(arguments: TestBackend.available)
    func `rows that were copied from another database are numbered, too`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: #"{"t":{"columns":{"text":"string"}}}"#)
        for id in ["a", "b"] { _ = try desk.ask("POST", "/tables/t", #"{"id":"\#(id)","text":"x"}"#) }
        try desk.store.database.carryOut([#"UPDATE "t" SET "version" = \#(Int64.max) WHERE "id" = 'a'"#])
        func open(checks: Bool) throws -> SQLStore {
            try SQLStore(
                desk.store.database, desk.service.service.settings.tables, desk.environment, checksRows: checks)
        }
        #expect(throws: StoreFailure.self) { try open(checks: true) }
        #expect(try open(checks: false).number("t") == 1)
        _ = try open(checks: true)
        #expect(try changes(desk, top: 1) == ["b", "a"])
    }

    @Test func `a check of rows that takes too long does not stop a start`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        let (address, keeper) = try TestBackend.postgres.store()
        let database = try PostgresDatabase(url: address, connections: 2, limits: .patient)
        let settings = try configuration(#"{"tables":{"t":{}}}"#)
        try database.carryOut([
            #"CREATE TABLE "t" ("id" text PRIMARY KEY, "updatedAt" timestamptz, "version" bigint, "deleted" boolean)"#,
            #"INSERT INTO "t" VALUES ('a', now(), 1, false), ('b', now(), 1, false)"#,
        ])
        _ = try SQLStore(database, [], StillEnvironment())
        try database.carryOut([
            "CREATE ROLE slow10 LOGIN", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO slow10",
            "GRANT SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO slow10",
            #"ALTER TABLE "t" ENABLE ROW LEVEL SECURITY"#,
            #"CREATE POLICY p ON "t" USING (pg_sleep(2) IS NOT NULL)"#,
        ])
        // For this role, reading a row takes longer than a statement may.
        var limits = DatabaseLimits.patient
        limits.statement = .milliseconds(500)
        let hurried = try PostgresDatabase(
            url: address.replacing("user=tester", with: "user=slow10"), connections: 2, limits: limits)
        let store = try SQLStore(hurried, settings.tables, StillEnvironment())
        #expect(store.schema("t") != nil)
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: TestBackend.available, ["text", "integer"])
    func `numbering makes every row reach a client`(_ backend: TestBackend, _ key: String) throws {
        let (store, keeper) = try backend.store()
        let settings = try configuration(#"{"store":\#(Value.string(store).json),"tables":{"t":{}}}"#)
        func open() throws -> any SQLDatabase {
            switch try StoreAddress(store) {
            case .sqlite(let path): try SQLiteDatabase(path: path)
            case .postgres(let url): try PostgresDatabase(url: url, connections: 2, limits: .patient)
            }
        }
        let database = try open()
        let numbers = ["NULL", "0", "-3", "\(Int64.max)", "8", "8", "8", "9"]
        try database.carryOut(
            [Self.table(backend, key: key)]
                + numbers.enumerated().map { Self.row(backend, "\($0 + 1)", number: $1) }
                + [Self.row(backend, "9", number: "10", time: "NULL")])
        #expect(throws: StartFailure.self) { try Server(settings) }
        #expect(throws: StartFailure.self) { try Server.number("other", settings) }
        #expect(try Server.number("t", settings) == 8)
        #expect(try Server.number("t", settings) == 0)
        let opened = try SQLStore(database, settings.tables, PatientEnvironment())
        let changes = try opened.changes(ChangePlan(table: "t", since: 0, limit: 100)).changes
        #expect(changes.first?.row.id == "8", "it keeps its number")
        #expect(Set(changes.map(\.row.id)) == Set((1...9).map(String.init)))
        #expect(Set(changes.map(\.number)).count == 9)
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: TestBackend.available)
    func `rows that can't reach a client are refused when the server starts`(_ backend: TestBackend) throws {
        var faults = [
            ("version", [Self.row(backend, "a", number: "NULL")]), ("version", [Self.row(backend, "a", number: "0")]),
            ("version", [Self.row(backend, "a", number: "-7")]),
            ("version", [Self.row(backend, "a", number: "\(Int64.max)")]),
            ("version", [Self.row(backend, "a", number: "5"), Self.row(backend, "b", number: "5")]),
            ("updatedAt", [Self.row(backend, "a", number: "5", time: "NULL")]),
            ("deleted", [Self.row(backend, "a", number: "5"), #"UPDATE "t" SET "deleted" = NULL"#]),
        ]
        if backend == .sqlite {
            faults += [
                ("id", [Self.row(backend, "a", number: "5"), #"UPDATE "t" SET "id" = NULL"#]),
                ("version", [Self.row(backend, "a", number: "1.5")]),
                ("updatedAt", [Self.row(backend, "a", number: "5", time: "1767225600")]),
                ("deleted", [Self.row(backend, "a", number: "5"), #"UPDATE "t" SET "deleted" = 'no'"#]),
            ]
        } else {
            faults += [("updatedAt", [Self.row(backend, "a", number: "5", time: "'infinity'")])]
        }
        for (column, statements) in faults {
            let error = #expect(throws: StoreFailure.self, "\(statements)") {
                try ServiceDesk(backend, tables: #"{"t":{}}"#, before: [Self.table(backend)] + statements)
            }
            let text = error.map { StartFailure($0).text } ?? ""
            #expect(text.contains("column \(column) of table t"), "\(text)")
            #expect((column == "version" || column == "updatedAt") == text.contains("--number t"), "\(text)")
            #expect(text.contains("\n") == false && text.contains(";"), "\(text)")
        }
    }
}
