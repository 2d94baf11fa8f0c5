// Tables that others made, and what is done to tables by hand while they are served.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ForeignTableTests {
    /// A table with a key of a type and more columns.
    private func table(_ backend: TestBackend, key: String, _ columns: String = "") -> String {
        backend == .sqlite
            ? #"CREATE TABLE "t" ("id" \#(key) PRIMARY KEY, "updatedAt" TEXT, "version" INTEGER, "deleted" INTEGER\#(columns))"#
            : #"CREATE TABLE "t" ("id" \#(key) PRIMARY KEY, "updatedAt" timestamptz, "version" bigint, "deleted" boolean\#(columns))"#
    }

    private func desk(
        _ backend: TestBackend, key: String = "text", _ columns: String = "", definition: String = "{}"
    ) throws -> ServiceDesk {
        let desk = try ServiceDesk(
            backend, tables: #"{"t":\#(definition)}"#, before: [table(backend, key: key, columns)])
        return desk
    }

    /// Does everything that can be done with a row.
    private func live(_ desk: ServiceDesk, _ id: String, _ wrong: [String]) throws {
        let item = #"{"id":"\#(id)","n":1}"#
        let row = try desk.ask("POST", "/tables/t", item)
        #expect(row.status == 201 && row.json["id"] == .string(id), "\(row.text)")
        #expect(try desk.ask("POST", "/tables/t", item).status == 409)
        #expect(try desk.ask("PATCH", "/tables/t/\(id)", #"{"n":2}"#, ["If-Match": row.etag ?? ""]).status == 200)
        #expect(try desk.ask("GET", "/tables/t/\(id)").json["n"] == .integer(2))
        #expect(try desk.ask("GET", "/tables/t?$filter=" + "id eq '\(id)'".encoded).ids == [id])
        #expect(try desk.ask("GET", "/tables/t?$filter=" + "id ge '0' and startswith(id,'')".encoded).ids == [id])
        #expect(try desk.ask("GET", "/tables/t?$filter=" + "id eq 'nothing'".encoded).ids == [])
        for id in wrong {
            #expect(try desk.ask("GET", "/tables/t/\(id)").status == 404, "\(id)")
            #expect(try desk.ask("PATCH", "/tables/t/\(id)", #"{"n":3}"#).status == 404, "\(id)")
            let refused = try desk.ask("POST", "/tables/t", #"{"id":"\#(id)"}"#)
            #expect(refused.status == 400 && refused.json["code"] == .string("invalid-id"), "\(id) \(refused.text)")
        }
        #expect(try desk.ask("DELETE", "/tables/t/\(id)").status == 200)
        #expect(try desk.ask("GET", "/tables/t/changes?since=\(try desk.cursor(0))").ids == [id])
    }

    @Test(arguments: [true, false])
    func `keys that are UUIDs`(_ isSoft: Bool) throws {
        guard TestBackend.available.contains(.postgres) else { return }
        let desk = try desk(.postgres, key: "uuid", ", n integer", definition: #"{"softDelete":\#(isSoft)}"#)
        let id = "0198b5a2-0000-7000-8000-00000000000a"
        try live(desk, id, ["x", id.uppercased(), "0198b5a2000070008000000000000000"])
        for new in [true, false] {
            let made = try desk.ask("POST", "/tables/t", #"{"n":7}"#, new: new)
            #expect(made.status == 201 && made.json["id"]?.string?.count == 36)
        }
    }

    @Test(arguments: TestBackend.available, [true, false])
    func `keys that are integers`(_ backend: TestBackend, _ isSoft: Bool) throws {
        let key = backend == .sqlite ? "INTEGER" : "bigint"
        let desk = try desk(backend, key: key, ", n integer", definition: #"{"softDelete":\#(isSoft)}"#)
        try live(desk, "7", ["x", "007", "99999999999999999999", "7.0"])
        #expect(try desk.ask("POST", "/tables/t", #"{"n":7}"#).json["code"] == .string("missing-id"))
    }

    @Test func `a key of another type is refused when the server starts`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        for key in ["timestamptz", "numeric", "bytea"] {
            let error = #expect(throws: StoreFailure.self) { try desk(.postgres, key: key) }
            #expect("\(error as Any)".contains("id"))
        }
    }

    @Test(arguments: TestBackend.available)
    func `a column of a type that can't be served is refused by its name`(_ backend: TestBackend) throws {
        let types =
            backend == .sqlite ? ["BLOB"] : ["interval", "time", "integer[]", "bytea", "money", "inet", "bit(3)"]
        for type in types {
            let error = #expect(throws: StoreFailure.self) { try desk(backend, #", "odd" \#(type)"#) }
            #expect("\(error as Any)".contains("odd") && "\(error as Any)".contains("columns"), "\(error as Any)")
            let without = try desk(
                backend, #", "odd" \#(type), "n" integer"#, definition: #"{"columns":{"n":"number"}}"#)
            #expect(try without.ask("POST", "/tables/t", #"{"id":"a","n":1}"#).status == 201)
        }
        guard backend == .postgres else { return }
        let error = #expect(throws: StoreFailure.self) {
            try desk(backend, #", "b" bytea"#, definition: #"{"columns":{"b":"string"}}"#)
        }
        #expect("\(error as Any)".contains("bytea"))
    }

    @Test func `columns of PostgreSQL's types keep what they are given`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        let desk = try ServiceDesk(
            .postgres, tables: #"{"t":{}}"#,
            before: [
                "CREATE TYPE mood AS ENUM ('good', 'bad')",
                table(
                    .postgres, key: "text",
                    """
                    , day date, feeling mood, code uuid, price numeric(10,2), real real, small smallint, \
                    plain json, binary_ jsonb, stamp timestamp, fixed char(5), short varchar(3)
                    """),
            ])
        let item = #"""
            {"id":"a","day":"2026-05-19","feeling":"good","code":"0198b5a2-0000-7000-8000-00000000000a","price":1.25,
            "real":0.5,"small":7,"plain":{"b":1,"a":[2]},"binary_":[1,{"x":null}],"stamp":"2026-05-19T21:30:00.123Z",
            "fixed":"abcde","short":"xyz"}
            """#
        let row = try desk.ask("POST", "/tables/t", item)
        #expect(row.status == 201, "\(row.text)")
        #expect(row.json["day"] == .string("2026-05-19T00:00:00.000Z") && row.json["feeling"] == .string("good"))
        #expect(row.json["price"] == .double(1.25) && row.json["stamp"] == .string("2026-05-19T21:30:00.123Z"))
        #expect(row.json["plain"]?.json == #"{"b":1,"a":[2]}"# && row.json["binary_"]?.json == #"[1,{"x":null}]"#)
        #expect(try desk.ask("GET", "/tables/t/a").text == row.text)
        for wrong in [
            #"{"feeling":"sad"}"#, #"{"code":"x"}"#, #"{"small":1.5}"#, #"{"small":99999}"#, #"{"short":"wxyz"}"#,
            #"{"day":"tomorrow"}"#,
        ] {
            let refused = try desk.ask("PATCH", "/tables/t/a", wrong)
            #expect(
                refused.status == 400 && refused.json["code"] == .string("invalid-value"), "\(wrong) \(refused.text)")
            // PostgreSQL does not say which string is too long.
            let column = wrong.split(separator: "\"")[1]
            let isNamed = refused.json["error"]?.string?.contains(column) == true
            #expect(isNamed == (column != "short"), "\(refused.text)")
        }
        // The response has what the database makes of a value.
        let bent = try desk.ask("PATCH", "/tables/t/a", #"{"price":1.006,"fixed":"ab","day":"2026-05-20T21:30:00Z"}"#)
        #expect(bent.status == 200 && bent.json["price"] == .double(1.01), "\(bent.text)")
        #expect(try desk.ask("GET", "/tables/t/a").text == bent.text)
        for filter in [
            "day eq 2026-05-20T00:00:00Z", "feeling eq 'good'", "startswith(code,'0198')", "price gt 1", "real eq 0.5",
            "startswith(feeling,'go')", "feeling gt 'b'", "code eq '0198b5a2-0000-7000-8000-00000000000a'",
            "stamp gt 2026-05-19T21:30:00Z", "fixed eq 'ab   '",
        ] {
            #expect(try desk.ask("GET", "/tables/t?$filter=" + filter.encoded).ids == ["a"], "\(filter)")
        }
        for column in ["day", "feeling", "code", "price", "plain", "binary_", "stamp", "fixed"] {
            #expect(try desk.ask("GET", "/tables/t?$orderby=\(column)%20desc").ids == ["a"], "\(column)")
        }
    }

    @Test(arguments: TestBackend.available)
    func `numbers and dates beyond JSON's are written as strings`(_ backend: TestBackend) throws {
        let (number, date) = backend == .sqlite ? ("REAL", "TIMESTAMP") : ("double precision", "timestamptz")
        let desk = try desk(backend, ", n \(number), m \(backend == .sqlite ? "ANY" : "numeric"), d \(date)")
        let values =
            backend == .sqlite
            ? ["9e999, -9e999, '10000-01-01T00:00:00.000Z'", "1, 2, '-0044-03-15 00:00:00'"]
            : [
                "'NaN', 'NaN', '10000-01-01'", "'infinity', '-infinity', 'infinity'", "1, 2, '0044-03-15 BC'",
                "1, 2, '-infinity'",
            ]
        for (index, value) in values.enumerated() {
            let (now, flag) = backend == .sqlite ? ("'2026-01-01T00:00:00.000Z'", "0") : ("now()", "false")
            try desk.store.database.carryOut([
                "INSERT INTO t (id, \"updatedAt\", version, deleted, n, m, d) VALUES ('\(index)', \(now), \(index + 1), \(flag), \(value))"
            ])
            for path in ["/tables/t/\(index)", "/tables/t", "/tables/t/changes?since=\(try desk.cursor(0))"] {
                let answer = try desk.ask("GET", path)
                #expect(answer.status == 200)
                #expect(throws: Never.self) { try Value(json: answer.body) }
                #expect(answer.json != .null)
            }
        }
        let first = try desk.ask("GET", "/tables/t/0").json
        #expect(first["n"] == .string(backend == .sqlite ? "Infinity" : "NaN"))
        #expect(first["d"]?.string?.hasPrefix("10000-01-01") == true)
        // A year that the protocol can't express is rejected.
        let late = try desk.ask("PATCH", "/tables/t/0", #"{"d":"9999-12-31T23:00:00-05:00"}"#)
        #expect(late.status == 400 && late.json["code"] == .string("invalid-value"))
    }

    @Test func `SQLite's own form of a time is a time`() throws {
        let desk = try desk(.sqlite, ", made TIMESTAMP DEFAULT CURRENT_TIMESTAMP")
        for (id, time) in [
            ("a", "2026-05-19 21:30:00"), ("b", "2026-05-19T20:00:00.000Z"), ("c", "2026-05-19 22:00:00.5"),
        ] {
            try desk.store.database.carryOut([
                "INSERT INTO t (id, \"updatedAt\", version, deleted, made) VALUES ('\(id)', '\(time)', \(time.utf8.count), 0, '\(time)')"
            ])
        }
        let row = try desk.ask("GET", "/tables/t/a").json
        #expect(row["made"] == .string("2026-05-19T21:30:00.000Z") && row["updatedAt"] == row["made"])
        for column in ["made", "updatedAt"] {
            #expect(try desk.ask("GET", "/tables/t?$orderby=\(column)").ids == ["b", "a", "c"], "\(column)")
            let filter = "\(column) gt 2026-05-19T21:00:00Z".encoded
            #expect(try desk.ask("GET", "/tables/t?$filter=\(filter)&$orderby=\(column)").ids == ["a", "c"])
        }
    }

    @Test func `a time in SQLite's form is searched from the day before`() throws {
        let desk = try desk(.sqlite, ", made TIMESTAMP")
        let schema = try #require(desk.store.schema("t"))
        for column in ["made", "updatedAt"] {
            let filter = FilterSQL(
                try FilterExpression(parsing: "\(column) gt 2026-05-19T21:00:00Z and startswith(id,'a')"), schema,
                .sqlite)
            let statement = SQLStatement(try #require(filter.sql))
            #expect(!filter.isExact)
            #expect(statement.text(.sqlite) == #"("\#(column)" >= ?1 AND substr("id", 1, 1) = ?2)"#)
            #expect(statement.values == [.text("2026-05-18"), .text("a")])
        }
        try desk.store.database.carryOut([
            #"INSERT INTO t (id, "updatedAt", version, deleted) VALUES ('a', '2026-05-18T23:30:00-05:00', 1, 0)"#
        ])
        #expect(try desk.ask("GET", "/tables/t?$filter=" + "updatedAt gt 2026-05-19T01:00:00Z".encoded).ids == ["a"])
    }

    @Test(arguments: TestBackend.available)
    func `a column that is dropped, made or changed by hand is noticed`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: #"{"t":{"columns":{"text":"string","n":"number"}}}"#)
        #expect(try desk.ask("POST", "/tables/t", #"{"id":"a","text":"x","n":1}"#).status == 201)
        try desk.store.database.carryOut([#"ALTER TABLE "t" DROP COLUMN "n""#])
        let row = try desk.ask("GET", "/tables/t/a")
        #expect(row.status == 200 && row.json["n"] == nil && row.json["text"] == .string("x"), "\(row.text)")
        #expect(try desk.ask("GET", "/tables/t").ids == ["a"])
        try desk.store.database.carryOut([#"ALTER TABLE "t" DROP COLUMN "text""#])
        // The first to notice may be a write, batched with others.
        let operations = #"""
            {"operation":"insert","table":"t","item":{"id":"b","more":1}},{"operation":"insert","table":"t","item":{"id":"c"}}
            """#
        let batch = try desk.ask("POST", "/tables/$batch", #"{"operations":[\#(operations)]}"#)
        #expect(batch.json["results"]?[0]?["status"] == .integer(201), "\(batch.text)")
        #expect(batch.json["results"]?[1]?["status"] == .integer(201), "\(batch.text)")
        #expect(try desk.ask("GET", "/tables/t/changes?since=").ids == ["a", "b", "c"])
        // It may come back.
        #expect(try desk.ask("POST", "/tables/t", #"{"id":"d","text":"y"}"#).json["text"] == .string("y"))
        #expect(try desk.ask("GET", "/tables/t?$filter=" + "text eq 'y'".encoded).ids == ["d"])
        try desk.store.database.carryOut([#"DROP TABLE "t""#])
        for (method, path, body) in [("GET", "t", nil), ("GET", "t/a", nil), ("POST", "t", "{}")] {
            let gone = try desk.ask(method, "/tables/\(path)", body)
            #expect(gone.status == 503 && gone.json["code"] == .string("table-changed"), "\(gone.text)")
        }
    }

    @Test func `a column whose type was changed by hand is reported`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        let desk = try ServiceDesk(
            .postgres, tables: #"{"t":{"columns":{"text":"string","n":"number"}},"u":{}}"#)
        #expect(try desk.ask("POST", "/tables/t", #"{"id":"a","text":"1","n":1}"#).status == 201)
        #expect(try desk.ask("GET", "/tables/t").ids == ["a"])
        try desk.store.database.carryOut([#"ALTER TABLE "t" ALTER COLUMN "text" TYPE bytea USING 'x'"#])
        for _ in 0..<2 {
            let answer = try desk.ask("GET", "/tables/t")
            #expect(answer.status == 503 && answer.json["code"] == .string("table-changed"), "\(answer.text)")
        }
        #expect(try desk.ask("POST", "/tables/t", #"{"id":"b","text":"2"}"#).status == 503)
        #expect(try desk.ask("POST", "/tables/u", #"{"id":"b"}"#).status == 201)
        try desk.store.database.carryOut([#"ALTER TABLE "t" ALTER COLUMN "text" TYPE text USING 'x'"#])
        #expect(try desk.ask("GET", "/tables/t").ids == ["a"])
    }
}

extension ServiceDesk {
    /// A cursor after a change.
    func cursor(_ change: Int64) throws -> String {
        ChangeCursor(epoch: try store.mark().epoch, change: change).text
    }
}
