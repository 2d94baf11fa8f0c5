// Tables with triggers, generated columns, defaults, types and rights that a server would not choose: they are served
// right, or refused when the server starts, with the column; and a write that can't be carried out is answered with why.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

/// A service over a table that others made.
struct AdoptedDesk {
    let store: SQLStore
    let service: TableAnswers
    let database: any SQLDatabase
    private let keeper: AnyObject

    /// - Parameter role: The role of the server, if it is not that of the table's owner; `grants` are its rights.
    init(
        _ backend: TestBackend, _ statements: [String], definition: String = "{}", role: String? = nil,
        installs: Bool = true
    ) throws {
        let (address, keeper) = try backend.store()
        self.keeper = keeper
        let settings = try configuration(#"{"auth":{"key":"\#(testSecret)"},"tables":{"t":\#(definition)}}"#)
        let environment = StillEnvironment()
        func open(_ address: String) throws -> any SQLDatabase {
            switch try StoreAddress(address) {
            case .sqlite(let path): try SQLiteDatabase(path: path)
            case .postgres(let url): try PostgresDatabase(url: url, connections: 4, limits: .patient)
            }
        }
        database = try open(address)
        if role != nil, installs {
            // The server's own tables exist before the role gets its rights.
            _ = try SQLStore(database, [], environment)
        }
        try database.carryOut(statements)
        let served = try role.map { try open(address.replacing("user=tester", with: "user=\($0)")) } ?? database
        store = try SQLStore(served, settings.tables, environment)
        service = TableAnswers(settings, store, environment)
    }

    /// The answer, and what the log is told.
    func ask(
        _ method: String, _ target: String, _ body: String? = nil, new: Bool = false
    ) throws -> (answer: HTTPResponse, cause: String) {
        var request = try #require(HTTPRequest(method, target: "/tables/t" + target))
        if new { request.headers.append(HTTPHeader("ZUMO-API-VERSION", "3.0.0")) }
        request.body = body.map { Array($0.utf8) }
        var context = RequestContext(url: "http://server")
        let answer = service.answer(request, &context)
        return (answer, context.notes.failure?.text ?? "")
    }

    static func create(_ backend: TestBackend, key: String = "text", _ more: String = "") -> String {
        let (date, flag) = backend == .sqlite ? ("text", "integer") : ("timestamptz", "boolean")
        return """
            CREATE TABLE "t" ("id" \(key) PRIMARY KEY, "updatedAt" \(date) NOT NULL, "version" bigint NOT NULL UNIQUE, \
            "deleted" \(flag) NOT NULL\(more))
            """
    }

    /// A trigger of PostgreSQL before each row.
    static func trigger(_ event: String, _ body: String) -> [String] {
        [
            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body) END $$",
            "CREATE TRIGGER g BEFORE \(event) ON \"t\" FOR EACH ROW EXECUTE FUNCTION f()",
        ]
    }
}

@Suite struct AdoptedTableTests {
    /// Why a server does not start.
    private func refusal(
        _ backend: TestBackend, _ statements: [String], definition: String = "{}", role: String? = nil
    ) -> String {
        let error = #expect(throws: StoreFailure.self, "\(statements)") {
            try AdoptedDesk(backend, statements, definition: definition, role: role)
        }
        return error.map { StartFailure($0).text } ?? ""
    }

    @Test(arguments: TestBackend.available, [true, false])
    func `a write that a trigger skips is refused`(_ backend: TestBackend, _ isSoft: Bool) throws {
        for event in ["INSERT", "UPDATE", "DELETE"] where event != "DELETE" || !isSoft {
            let trigger =
                backend == .sqlite
                ? ["CREATE TRIGGER g BEFORE \(event) ON t BEGIN SELECT RAISE(IGNORE); END"]
                : AdoptedDesk.trigger(event, "RETURN NULL;")
            let desk = try AdoptedDesk(
                backend, [AdoptedDesk.create(backend, ", n integer")], definition: #"{"softDelete":\#(isSoft)}"#)
            #expect(try desk.ask("POST", "", #"{"id":"a","n":1}"#).answer.status == 201)
            try desk.database.carryOut(trigger)
            let writes =
                switch event {
                case "INSERT": [("POST", "", #"{"id":"b"}"#)]
                case "UPDATE": [("PATCH", "/a", #"{"n":2}"#), ("PUT", "/a", #"{"n":2}"#)]
                default: [("DELETE", "/a", nil as String?)]
                }
            for (method, path, body) in writes {
                let (answer, cause) = try desk.ask(method, path, body)
                #expect(answer.status == 409 && answer.code == "constraint", "\(event) \(answer.text)")
                #expect(cause.contains("table t"), "\(cause)")
            }
            #expect(try desk.ask("GET", "/changes?since=").answer.ids == ["a"])
            #expect(try desk.ask("GET", "/a").answer.json["n"] == .integer(1))
        }
    }

    @Test(arguments: TestBackend.available)
    func `a trigger may change a row, but not its id or number`(_ backend: TestBackend) throws {
        guard backend == .postgres else {
            let trigger = "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET %@ WHERE id = new.id; END"
            for (change, status) in [("n = n + 1", 201), ("id = 'x' || id", 409), ("version = 1", 409)] {
                let desk = try AdoptedDesk(
                    backend, [AdoptedDesk.create(backend, ", n integer"), trigger.replacing("%@", with: change)])
                let answer = try desk.ask("POST", "", #"{"id":"a","n":1}"#).answer
                #expect(answer.status == status, "\(change) \(answer.text)")
                #expect(try desk.ask("GET", "/changes?since=").answer.ids == (status == 201 ? ["a"] : []))
                if status == 201 { #expect(answer.json["n"] == .integer(2)) }
            }
            return
        }
        for (change, status) in [("NEW.n = NEW.n + 1", 201), ("NEW.id = 'x' || NEW.id", 409), ("NEW.version = 1", 409)]
        {
            let desk = try AdoptedDesk(
                backend,
                [AdoptedDesk.create(backend, ", n integer")] + AdoptedDesk.trigger("INSERT", "\(change); RETURN NEW;"))
            let (answer, cause) = try desk.ask("POST", "", #"{"id":"a","n":1}"#)
            #expect(answer.status == status, "\(change) \(answer.text)")
            #expect(cause.isEmpty == (status == 201))
            #expect(try desk.ask("GET", "/changes?since=").answer.ids == (status == 201 ? ["a"] : []))
            if status == 201 { #expect(answer.json["n"] == .integer(2)) }
        }
    }

    @Test(arguments: TestBackend.available)
    func `columns that the database computes are served, and never set`(_ backend: TestBackend) throws {
        var more = ", n integer, twice integer GENERATED ALWAYS AS (n * 2) STORED"
        if backend == .postgres { more += ", serial bigint GENERATED ALWAYS AS IDENTITY" }
        let desk = try AdoptedDesk(backend, [AdoptedDesk.create(backend, more)])
        for new in [false, true] {
            let id = new ? "b" : "a"
            let made = try desk.ask("POST", "", #"{"id":"\#(id)","n":4,"twice":1}"#, new: new)
            #expect(made.answer.status == 201 && made.answer.json["twice"] == .integer(8), "\(made)")
            let whole = try desk.ask("PUT", "/\(id)", #"{"n":5,"twice":8}"#, new: new).answer
            #expect(whole.status == 200 && whole.json["twice"] == .integer(10), "\(whole.text)")
            #expect(try desk.ask("PATCH", "/\(id)", #"{"n":6}"#, new: new).answer.json["twice"] == .integer(12))
            #expect(try desk.ask("GET", "?$filter=" + "twice eq 12 and id eq '\(id)'".encoded).answer.ids == [id])
        }
        let computed =
            backend == .sqlite ? "INTEGER GENERATED ALWAYS AS (n) STORED" : "bigint GENERATED ALWAYS AS (n) STORED"
        let version = AdoptedDesk.create(backend, ", n integer, v \(computed) UNIQUE")
        #expect(
            refusal(backend, [version], definition: #"{"map":{"version":"v"}}"#).contains("column v of table t"))
        guard backend == .postgres else { return }
        let id = AdoptedDesk.create(backend, key: "bigint GENERATED ALWAYS AS IDENTITY")
        #expect(refusal(backend, [id]).contains("column id of table t"))
    }

    @Test(arguments: TestBackend.available)
    func `a column that is not given has the database's default`(_ backend: TestBackend) throws {
        let more = ", kind text NOT NULL DEFAULT 'plain', n integer DEFAULT 7, hidden integer NOT NULL DEFAULT 1"
        let columns = #"{"columns":{"kind":"string","n":"number"}}"#
        let desk = try AdoptedDesk(backend, [AdoptedDesk.create(backend, more)], definition: columns)
        let made = try desk.ask("POST", "", #"{"id":"a"}"#).answer
        #expect(made.json["kind"] == .string("plain") && made.json["n"] == .integer(7), "\(made.text)")
        #expect(try desk.ask("POST", "", #"{"id":"b","n":null}"#).answer.json["n"] == .null)
        let (refused, cause) = try desk.ask("POST", "", #"{"id":"c","kind":null}"#)
        #expect(refused.status == 409 && refused.text.contains("kind"), "\(refused.text)")
        #expect(cause.contains("kind"), "\(cause)")
        let needed = AdoptedDesk.create(backend, ", kind text NOT NULL, n integer")
        #expect(
            refusal(backend, [needed], definition: #"{"columns":{"n":"number"}}"#).contains("column kind of table t"))
    }

    @Test func `a change of one column leaves what clients do not see of others`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        let more = ", text text, exact numeric, at timestamptz, more jsonb, wide numeric(40,20)"
        let desk = try AdoptedDesk(.postgres, [AdoptedDesk.create(.postgres, more)])
        try desk.database.carryOut([
            """
            INSERT INTO t VALUES ('a', now(), 1, false, 'x', 12345678901234567890.123456789, \
            '2026-05-19 21:30:00.123456+00', '{"b":1.50,"a":2}', 0.12345678901234567891)
            """
        ])
        func values() throws -> [SQLValue]? {
            try desk.database.read { connection throws(StoreFailure) in
                try connection.first(
                    "SELECT exact::text, at::text, more::text, wide::text FROM t", count: 4)
            }
        }
        let before = try values()
        #expect(try desk.ask("PATCH", "/a", #"{"text":"y"}"#).answer.status == 200)
        let row = try desk.ask("GET", "/a", new: true).answer
        let changed = row.text.replacing(#""text":"y""#, with: #""text":"z""#)
        #expect(try desk.ask("PUT", "/a", changed, new: true).answer.status == 200)
        #expect(try desk.ask("DELETE", "/a").answer.status == 200)
        #expect(try desk.ask("POST", "/a").answer.status == 201)
        #expect(try desk.ask("GET", "/a").answer.json["text"] == .string("z"))
        #expect(try values() == before)
        #expect(try desk.ask("PATCH", "/a", #"{"exact":5}"#).answer.json["exact"] == .integer(5))
    }

    @Test func `times with microseconds are compared and ordered as clients see them`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        let desk = try AdoptedDesk(.postgres, [AdoptedDesk.create(.postgres, ", at timestamptz")])
        let times = ["00.123999", "00.124001", "00.123001", "00.122999", "00.124999", "00.125"]
        for (place, time) in times.enumerated() {
            let text = "'2026-05-19 21:30:\(time)+00'"
            try desk.database.carryOut(["INSERT INTO t VALUES ('\(place)', \(text), \(place + 1), false, \(text))"])
        }
        func ids(_ query: String) throws -> String { try desk.ask("GET", "?" + query).answer.ids.joined() }
        for (column, expected) in [
            ("updatedAt", [("eq", "14"), ("gt", "5"), ("ge", "145"), ("lt", "023"), ("le", "01234"), ("ne", "0235")]),
            ("at", [("eq", ""), ("gt", "145"), ("ge", "145"), ("lt", "023"), ("le", "023"), ("ne", "012345")]),
        ] {
            for (sign, found) in expected {
                let filter = "\(column) \(sign) 2026-05-19T21:30:00.124Z".encoded
                #expect(try ids("$filter=\(filter)") == found, "\(column) \(sign)")
                // The evaluator gives the same answer.
                let slow = "\(column) \(sign) 2026-05-19T21:30:00.124Z and length(id) eq 1".encoded
                #expect(try ids("$filter=\(slow)") == found, "\(column) \(sign)")
            }
            let listed = "\(column) in (2026-05-19T21:30:00.123Z,2026-05-19T21:30:00.125Z)".encoded
            let isTime = column == "updatedAt"
            #expect(try ids("$filter=\(listed)") == (isTime ? "025" : "5"), "\(column)")
            #expect(try ids("$orderby=\(column),id") == (isTime ? "302145" : "320145"), "\(column)")
            #expect(try ids("$orderby=\(column),id%20desc") == (isTime ? "320415" : "320145"), "\(column)")
            let newest = try desk.ask("GET", "/5").answer.json[column]?.string ?? ""
            #expect(try ids("$filter=" + "\(column) gt datetimeoffset'\(newest)'".encoded) == "", "\(column)")
        }
    }

    @Test func `SQLite's times are ordered as clients see them`() throws {
        let desk = try AdoptedDesk(.sqlite, [AdoptedDesk.create(.sqlite)])
        for (place, time) in ["00.1239", "00.1241", "00.1231", "00.1229"].enumerated() {
            try desk.database.carryOut([
                "INSERT INTO t VALUES ('\(place)', '2026-05-19 21:30:\(time)', \(place + 1), 0)"
            ])
        }
        #expect(try desk.ask("GET", "?$orderby=updatedAt,id").answer.ids.joined() == "3021")
        #expect(
            try desk.ask("GET", "?$filter=" + "updatedAt eq 2026-05-19T21:30:00.123Z".encoded).answer.ids.joined()
                == "02")
    }

    @Test(arguments: TestBackend.available)
    func `strings are compared by code point, whatever the collation`(_ backend: TestBackend) throws {
        let collation = backend == .sqlite ? "NOCASE" : "\"en-x-icu\""
        let desk = try AdoptedDesk(backend, [AdoptedDesk.create(backend, ", s text COLLATE \(collation)")])
        for (place, text) in ["b", "B", "a", "A", "ä"].enumerated() {
            #expect(try desk.ask("POST", "", #"{"id":"\#(place)","s":"\#(text)"}"#).answer.status == 201)
        }
        func ids(_ query: String) throws -> String { try desk.ask("GET", "?" + query).answer.ids.joined() }
        #expect(try ids("$orderby=s") == "31204")
        for (filter, found) in [
            ("s eq 'a'", "2"), ("s gt 'B'", "024"), ("s lt 'a'", "13"), ("startswith(s,'a')", "2"),
            ("s in ('b','A')", "03"), ("s ne 'a'", "0134"),
        ] {
            #expect(try ids("$filter=\(filter.encoded)") == found, "\(filter)")
            #expect(try ids("$filter=\("\(filter) and length(id) eq 1".encoded)") == found, "\(filter)")
        }
        var statements = [AdoptedDesk.create(backend, key: "text COLLATE \(backend == .sqlite ? "NOCASE" : "loose")")]
        if backend == .postgres {
            statements.insert(
                "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)", at: 0)
        }
        #expect(refusal(backend, statements).contains("column id of table t"))
    }

    @Test(arguments: TestBackend.available)
    func `columns of several collations are compared with each other, and with tombstones`(
        _ backend: TestBackend
    ) throws {
        let (one, other) = backend == .sqlite ? ("NOCASE", "RTRIM") : ("\"en-x-icu\"", "\"sv-x-icu\"")
        let key = backend == .sqlite ? "text" : "text COLLATE \"en-x-icu\""
        let columns = ", l text COLLATE \(one), r text COLLATE \(other), owner text COLLATE \(one)"
        let desk = try AdoptedDesk(
            backend, [AdoptedDesk.create(backend, key: key, columns)], definition: #"{"softDelete":false}"#)
        for (id, a, b) in [("1", "x", "x"), ("2", "x", "X"), ("3", "x", "y")] {
            #expect(try desk.ask("POST", "", #"{"id":"\#(id)","l":"\#(a)","r":"\#(b)"}"#).answer.status == 201)
        }
        for (filter, found) in [("l eq r", ["1"]), ("l lt r", ["3"]), ("l ne r", ["2", "3"])] {
            #expect(try desk.ask("GET", "?$filter=\(filter.encoded)").answer.ids == found, "\(filter)")
        }
        #expect(try desk.ask("DELETE", "/1").answer.status == 200)
        #expect(try desk.ask("GET", "/changes?since=").answer.ids == ["2", "3", "1"])
        let mark = try desk.store.mark()
        let cursor = ChangeCursor(epoch: mark.epoch, change: mark.change - 1).text
        #expect(try desk.ask("GET", "/changes?since=\(cursor.encoded)").answer.ids == ["1"])
    }

    @Test func `integers as ids are ordered as the strings that clients see`() throws {
        for backend in TestBackend.available {
            let key = backend == .sqlite ? "INTEGER" : "bigint"
            let desk = try AdoptedDesk(backend, [AdoptedDesk.create(backend, key: key)])
            for id in ["9", "10", "2"] { #expect(try desk.ask("POST", "", #"{"id":"\#(id)"}"#).answer.status == 201) }
            #expect(try desk.ask("GET", "?$orderby=id").answer.ids == ["10", "2", "9"])
            #expect(try desk.ask("GET", "?$orderby=id&$filter=" + "id gt '10'".encoded).answer.ids == ["2", "9"])
        }
    }

    @Test(arguments: TestBackend.available)
    func `what can't be served is refused when the server starts`(_ backend: TestBackend) throws {
        let table = AdoptedDesk.create(backend).replacing("\"t\"", with: "\"real\"")
        #expect(refusal(backend, [table, #"CREATE VIEW "t" AS SELECT * FROM "real""#]).contains("view"))
        guard backend == .postgres else {
            let (address, keeper) = try backend.store()
            let path = String(address.dropFirst("sqlite:".count))
            let connection = try SQLiteConnection(path: path, isReader: false)
            try connection.execute("PRAGMA encoding = 'UTF-16le'")
            try connection.execute("CREATE TABLE x (a)")
            let error = #expect(throws: StoreFailure.self) {
                try SQLStore(try SQLiteDatabase(path: path), [], StillEnvironment())
            }
            #expect("\(error as Any)".contains("UTF-16le"))
            withExtendedLifetime(keeper) {}
            return
        }
        let cluster = try #require(PrivatePostgres.shared)
        let (address, _) = try backend.store()
        for encoding in ["LATIN1", "EUC_JP", "SQL_ASCII"] {
            let name = "encoded_\(encoding.lowercased())"
            try PostgresDatabase(url: address, connections: 2, limits: .patient).carryOut([
                "CREATE DATABASE \(name) ENCODING '\(encoding)' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
            ])
            let error = #expect(throws: StoreFailure.self) {
                try SQLStore(
                    try PostgresDatabase(url: cluster.url(name), connections: 2, limits: .patient), [],
                    StillEnvironment())
            }
            #expect("\(error as Any)".contains(encoding))
        }
    }

    // MARK: Rights in PostgreSQL

    private static func rights(_ role: String) -> String {
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \(role); "
            + "GRANT SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO \(role)"
    }

    @Test func `a role that may only change rows is told so to clients, not as a failure of the server`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        // A table that the server made.
        let (address, keeper) = try TestBackend.postgres.store()
        let settings = try configuration(#"{"tables":{"t":{}}}"#)
        let owner = try PostgresDatabase(url: address, connections: 2, limits: .patient)
        _ = try SQLStore(owner, settings.tables, StillEnvironment())
        try owner.carryOut(["CREATE ROLE clerk1 LOGIN", "\(Self.rights("clerk1"))"])
        let clerk = try PostgresDatabase(
            url: address.replacing("user=tester", with: "user=clerk1"), connections: 2, limits: .patient)
        let service = TableAnswers(
            settings, try SQLStore(clerk, settings.tables, StillEnvironment()), StillEnvironment())
        var request = try #require(HTTPRequest("POST", target: "/tables/t"))
        request.body = Array(#"{"id":"a","more":1}"#.utf8)
        var context = RequestContext()
        let refused = service.answer(request, &context)
        #expect(
            refused.status == 400 && refused.code == "unknown-column" && refused.text.contains("more"),
            "\(refused.text)")
        #expect(context.notes.failure?.kind == .permission, "\(context.notes)")
        request.body = Array(#"{"id":"a"}"#.utf8)
        #expect(service.answer(request, url: "").status == 201)
        // Tables that are missing can't be made, either.
        let error = #expect(throws: StoreFailure.self) {
            try SQLStore(clerk, try configuration(#"{"tables":{"new":{}}}"#).tables, StillEnvironment())
        }
        #expect(error.map { StartFailure($0).text }?.contains("permission denied") == true)
        withExtendedLifetime(keeper) {}
    }

    @Test func `row-level security refuses a row with 403, and hides others`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        let desk = try AdoptedDesk(
            .postgres,
            [
                AdoptedDesk.create(.postgres, ", n integer"), "CREATE ROLE clerk2 LOGIN", "\(Self.rights("clerk2"))",
                "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY small ON t USING (n < 10) WITH CHECK (n < 5)",
                "INSERT INTO t VALUES ('big', now(), 1, false, 11), ('middle', now(), 2, false, 7)",
            ], role: "clerk2")
        let (refused, cause) = try desk.ask("POST", "", #"{"id":"a","n":6}"#)
        #expect(refused.status == 403 && refused.code == "not-permitted", "\(refused.text)")
        #expect(cause.contains("row-level security"), "\(cause)")
        #expect(try desk.ask("PATCH", "/middle", #"{"n":8}"#).answer.status == 403)
        #expect(try desk.ask("PATCH", "/big", #"{"n":1}"#).answer.status == 404)
        #expect(try desk.ask("POST", "", #"{"id":"big","n":1}"#).answer.status == 409)
        #expect(try desk.ask("POST", "", #"{"id":"a","n":1}"#).answer.status == 201)
        #expect(try desk.ask("GET", "/changes?since=").answer.ids == ["middle", "a"])
        #expect(desk.store.currentCatalogue.findings.contains { $0.code == "table-policies" })
    }

    @Test func `a right that is missing is named when the server starts`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        let faults = [
            ("SELECT, INSERT, UPDATE (\"updatedAt\", deleted)", "UPDATE column version"),
            ("SELECT (id, \"updatedAt\", version, deleted), INSERT, UPDATE", "SELECT column n"),
            ("SELECT, UPDATE", "INSERT column id"),
        ]
        let ticks = TestBackend.numbers == .line ? "" : ", syncline_ticks"
        for (place, (grant, wanted)) in faults.enumerated() {
            let role = "clerk3\(place)"
            let text = refusal(
                .postgres,
                [
                    AdoptedDesk.create(.postgres, ", n integer"), "CREATE ROLE \(role) LOGIN",
                    "GRANT \(grant) ON t TO \(role)",
                    "GRANT SELECT, INSERT, UPDATE, DELETE ON syncline_state, syncline_columns, syncline_operations, "
                        + "syncline_tombstones\(ticks) TO \(role)",
                    "GRANT SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO \(role)",
                ], role: role)
            #expect(text.contains(wanted), "\(text)")
        }
    }
}
