// What an operator configures, and the error for a wrong value: one line, and where to look.

import Foundation
import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ConfigurationTests {
    private func fault(_ json: String) throws -> String {
        do {
            _ = try configuration(json)
            return ""
        } catch let failure as StartFailure {
            return failure.message + (failure.hint.map { " (\($0))" } ?? "")
        } catch let error as JSONError {
            return error.description
        }
    }

    @Test func `an error is reported with its place`() throws {
        let misspelt = "the configuration can't have a member pageSiz (Did you mean pageSize?)"
        #expect(try fault(#"{"pageSiz":5}"#) == misspelt)
        #expect(try fault(#"{"limits":{"bodyByte":5}}"#).contains("limits.bodyByte"))
        #expect(try fault(#"{"tables":{"t":{"softdelete":true}}}"#).contains("Did you mean softDelete?"))
        #expect(try fault(#"{"pageSize":0}"#) == "pageSize must be a number from 1 to 128000")
        #expect(try fault(#"{"defaultProtocol":"zumo"}"#).contains("Did you mean zumo2?"))
        #expect(try fault(#"{"tables":{"t":{"columns":{"a":"text"}}}}"#).contains("one of string, number"))
        #expect(try fault(#"{"tables":{"t":{"columns":{"version":"string"}}}}"#).contains("is reserved"))
        #expect(try fault(#"{"tables":{"a b":{}}}"#).contains("can't be named"))
        #expect(try fault(#"{"tables":{"t":{},"T":{}}}"#).contains("two tables named"))
        #expect(try fault(#"{"tables":{"t":{"access":"authenticated"}}}"#).contains("no key to check tokens"))
        #expect(try fault(#"{"tables":{"t":{"insert":"admin"}}}"#).contains("role:NAME"))
        #expect(try fault(#"{"auth":{"key":"x","algorithm":"RS256"}}"#).contains("not a key for RS256"))
        #expect(try fault(#"{"auth":{"key":""}}"#).contains("It is empty"))
        #expect(try fault("[]").contains("must be an object"))
    }

    @Test func `flags take precedence over the file`() throws {
        let arguments = ServerArguments(
            file: { _ throws(StartFailure) in
                Array(#"{"pageSize":7,"tables":{"a":{}},"limits":{"idleSeconds":5}}"#.utf8)
            },
            variable: { $0 == "KEY" ? "from the environment, and long enough" : nil })
        let words = [
            "--config", "x", "--store=sqlite:y.db", "--table", "b:softDelete=false,columns=text/string+n/number",
            "--set", "limits.bodyBytes=9", "--auth-key", "env:KEY", "--listen", "127.0.0.1:0",
        ]
        guard case .serve(let configuration) = try arguments.parse(words) else {
            Issue.record("it should serve")
            return
        }
        #expect(configuration.pageSize == 7 && configuration.store == "sqlite:y.db")
        #expect(configuration.limits.bodyBytes == 9 && configuration.limits.deadlines.idle == 5)
        #expect(configuration.tables.map(\.name) == ["a", "b"])
        #expect(configuration.tables[1].columns == [Column("text", .string), Column("n", .number)])
        #expect(
            !configuration.tables[1].softDelete
                && configuration.auth?.keys.first?.bytes == Array("from the environment, and long enough".utf8))
        #expect(!configuration.renewsEpoch)
        if case .serve(let renewed) = try arguments.parse(words + ["--new-epoch"]) { #expect(renewed.renewsEpoch) }
        let text = configuration.value.json
        #expect(!text.contains("from the environment, and long enough"))
        #expect(throws: UsageFailure.self) { try arguments.parse(["--stor", "x"]) }
        #expect(throws: UsageFailure.self) { try arguments.parse(["--store"]) }
    }

    @Test func `a malformed flag is an error and never ignored`() throws {
        let arguments = ServerArguments(file: { _ throws(StartFailure) in Array("{}".utf8) }, variable: { _ in nil })
        for words in [
            ["--new-epoch=false"], ["--new-epoch=true"], ["--new-epoch="], ["--help=no"], ["--version=1"],
            ["--print-config=no"], ["--set", "=1"], ["--set", "limits..bodyBytes=5"], ["--set", ".pageSize=5"],
            ["--set", "pageSize"], ["--store", "sqlite:a.db", "--store", "sqlite:b.db"],
            ["--config", "a", "--config", "b"], ["--table", "t", "--table", "t:softDelete=false"],
        ] {
            #expect(throws: UsageFailure.self, "\(words)") { try arguments.parse(words) }
        }
    }

    @Test func `a repeated member is refused`() throws {
        for json in [
            #"{"pageSize":5,"pageSize":6}"#, #"{"limits":{"bodyBytes":5,"bodyBytes":5}}"#,
            #"{"tables":{"t":{"softDelete":true,"softDelete":false}}}"#, #"{"tables":{"t":{},"t":{}}}"#,
            #"{"tables":{"t":{"map":{"id":"a","id":"b"}}}}"#, #"{"tables":{"t":{"columns":{"a":"json","a":"json"}}}}"#,
            #"{"cors":{"origins":[],"origins":["*"]}}"#, #"{"tls":{"key":"a","key":"b","certificate":"c"}}"#,
        ] {
            #expect(try fault(json).contains("two"), "\(json)")
        }
    }

    @Test func `a secret that can be guessed is refused`() throws {
        #expect(try fault(#"{"auth":{"key":"\#(String(repeating: "x", count: 31))"}}"#).contains("32 bytes"))
        #expect(try fault(#"{"auth":{"key":"\#(String(repeating: "x", count: 32))"}}"#) == "")
    }

    @Test func `reads leave connections to PostgreSQL for writes`() throws {
        #expect(try configuration(#"{"readers":20}"#).readWorkers == 20)
        let address = #""store":"postgres://x/y""#
        #expect(try configuration("{\(address)}").readWorkers == 6)
        #expect(try configuration("{\(address),\"readers\":3}").readWorkers == 3)
        #expect(try configuration("{\(address),\"databaseConnections\":1}").readWorkers == 1)
    }

    @Test func `the printed configuration can be used again`() throws {
        let first = try configuration(#"{"cors":{},"tables":{"t":{"columns":{"a":"json"},"delete":"disabled"}}}"#)
        #expect(try configuration(first.value.json) == first)
        #expect(StoreAddress.masked("postgres://me:secret@host/db") == "postgres://me:(hidden)@host/db")
        for query in ["?password=secret", "?user=me&password=secret&host=x", "?sslpassword=secret#x"] {
            let masked = StoreAddress.masked("postgres://host/db" + query)
            #expect(!masked.contains("secret") && masked.contains("password=(hidden)"), "\(masked)")
        }
    }

    @Test func `the operator's page has every member with its default`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appending(path: "Sources/Syncline/Syncline.docc/Operating-the-server.md"), encoding: .utf8)
        guard case .object(let members) = ServerConfiguration().value else { return }
        for member in members where member.name != "tables" {
            var rows = [(member.name, member.value)]
            if case .object(let inner) = member.value {
                rows = inner.map { ("\(member.name).\($0.name)", $0.value) }
            }
            for (name, value) in rows {
                let text = value.string ?? value.json
                #expect(page.contains("| `\(name)` | \(text) |"), "| `\(name)` | \(text) |")
            }
        }
    }

    @Test(arguments: TestBackend.available)
    func `a foreign table is served unchanged`(_ backend: TestBackend) throws {
        let (database, keeper) = try backend.database()
        let (big, flag) = backend == .sqlite ? ("INTEGER", "BOOLEAN") : ("bigint", "boolean")
        try database.write { connection throws(StoreFailure) in
            let time = backend == .sqlite ? "TEXT" : "timestamptz"
            try connection.execute(
                """
                CREATE TABLE people (person varchar(40) PRIMARY KEY, name varchar(80) NOT NULL, age integer, \
                modified \(time), revision \(big), gone \(flag) NOT NULL)
                """)
            try connection.execute(
                "INSERT INTO people VALUES ('p1', 'Ann', 40, '2026-01-01T00:00:00.000Z', 7, '\(backend == .sqlite ? "0" : "f")')"
            )
            try connection.execute(
                """
                CREATE TABLE keyless (id varchar(40), "updatedAt" \(time), version \(big), deleted \(flag), \
                UNIQUE (id, version))
                """)
            try connection.execute("CREATE TABLE poor (id varchar(40) PRIMARY KEY, name varchar(80))")
        }
        let map = #"{"id":"person","updatedAt":"modified","version":"revision","deleted":"gone"}"#
        let json = #"{"tables":{"folk":{"source":"people","map":\#(map)}}}"#
        let settings = try configuration(json)
        let environment = StillEnvironment()
        let store = try SQLStore(database, settings.tables, environment)
        let service = TableAnswers(settings, store, environment)
        func ask(_ method: String, _ target: String, _ body: String? = nil) throws -> HTTPResponse {
            var request = try #require(HTTPRequest(method, target: target))
            request.body = body.map { Array($0.utf8) }
            return service.answer(request, url: "")
        }
        let read = try ask("GET", "/tables/folk/p1")
        #expect(read.json["name"] == .string("Ann") && read.json["age"] == .integer(40), "\(read.text)")
        #expect(try ask("PATCH", "/tables/folk/p1", #"{"age":41}"#).json["age"] == .integer(41))
        #expect(try ask("POST", "/tables/folk", #"{"id":"p2","name":"Bob"}"#).status == 201)
        #expect(try ask("POST", "/tables/folk", #"{"id":"p3"}"#).json["code"] == .string("constraint"))
        #expect(try ask("POST", "/tables/folk", #"{"id":"p3","name":"x","more":1}"#).status == 400)
        #expect(try ask("GET", "/tables/folk?$filter=age%20gt%2040").ids == ["p1"])
        #expect(try ask("DELETE", "/tables/folk/p1").status == 200)
        #expect(try ask("GET", "/tables/folk").ids == ["p2"])

        func start(_ tables: String) throws -> String {
            do {
                _ = try SQLStore(database, try configuration(#"{"tables":\#(tables)}"#).tables, environment)
                return ""
            } catch let failure as StoreFailure {
                return StartFailure(failure).message
            }
        }
        #expect(try start(#"{"keyless":{}}"#) == "column id of table keyless is not a key; add a unique index")
        #expect(try start(#"{"poor":{}}"#).contains("lacks updatedAt, version, deleted"))
        try database.write { connection throws(StoreFailure) in
            try connection.execute(#"UPDATE "syncline_state" SET "format" = "format" + 1"#)
        }
        #expect(try start("{}").contains("newer syncline-server"))
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: TestBackend.available)
    func `a store that is opened again has its rows, and also new columns`(_ backend: TestBackend) throws {
        let (store, keeper) = try backend.store(as: StillEnvironment())
        func open(_ tables: String) throws -> (TableAnswers, SQLStore) {
            let settings = try configuration(#"{"tables":\#(tables)}"#)
            let environment = StillEnvironment()
            let database: any SQLDatabase =
                switch try StoreAddress(store) {
                case .sqlite(let path): try SQLiteDatabase(path: path)
                case .postgres(let url): try PostgresDatabase(url: url, connections: 2, limits: .patient)
                }
            let opened = try SQLStore(database, settings.tables, environment)
            return (TableAnswers(settings, opened, environment), opened)
        }
        func ask(_ service: TableAnswers, _ method: String, _ target: String, _ body: String?) throws -> HTTPResponse {
            var request = try #require(HTTPRequest(method, target: target))
            request.body = body.map { Array($0.utf8) }
            return service.answer(request, url: "")
        }
        let (first, firstStore) = try open(#"{"t":{}}"#)
        let (beside, _) = try open(#"{"t":{}}"#)
        let inserted = try ask(first, "POST", "/tables/t", #"{"id":"a","n":1}"#)
        #expect(inserted.status == 201)
        let seen = try ask(beside, "GET", "/tables/t/a", nil)
        #expect(seen.text == inserted.text, "another process sees a column that it did not make")
        #expect(try ask(beside, "GET", "/tables/t?$filter=n%20eq%201", nil).ids == ["a"])
        #expect(try ask(beside, "PATCH", "/tables/t/a", #"{"m":"x"}"#).json["n"] == .integer(1))
        #expect(try ask(first, "PATCH", "/tables/t/a", #"{"m":"y"}"#).json["m"] == .string("y"))
        firstStore.close()

        let (again, _) = try open(#"{"t":{"columns":{"later":"boolean"}},"u":{}}"#)
        let row = try ask(again, "PATCH", "/tables/t/a", #"{"later":true}"#)
        #expect(row.json["n"] == .integer(1) && row.json["later"] == .bool(true))
        #expect(row.json["version"] == .string("AAABAAAAAAQ="))
        #expect {
            _ = try open(#"{"t":{"columns":{"n":"string"}}}"#)
        } throws: { error in
            guard case StoreFailure.refused(let refusal)? = error as? StoreFailure else { return false }
            return refusal.message == "column n of table t is number, not string"
        }
        withExtendedLifetime(keeper) {}
    }
}
