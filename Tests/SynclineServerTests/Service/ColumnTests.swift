// Columns that requests create: which names they may have, how many there may be, and how one is removed.

import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite struct ColumnTests {
    private func item(_ names: some Sequence<String>, id: String = "") -> String {
        "{\"id\":\"\(id)\"" + names.map { ",\"\($0)\":1" }.joined() + "}"
    }

    @Test(arguments: TestBackend.stores)
    func `a request creates a limited number of columns, and so does a table`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(
            backend, tables: #"{"t":{"columns":{"text":"string"}}}"#, more: #","limits":{"newColumns":3,"columns":8}"#)
        func post(_ names: [String]) throws -> HTTPResponse { try desk.ask("POST", "/tables/t", item(names)) }
        let many = try post((0..<4).map { "c\($0)" })
        #expect(many.status == 400 && many.json["code"] == .string("too-many-columns"), "\(many.text)")
        #expect(try post(["a", "b", "c"]).status == 201)
        #expect(try post(["a", "b", "c", "d", "e", "f"]).status == 201)
        let more = try post(["g", "h"])
        #expect(more.status == 400 && more.json["code"] == .string("too-many-columns"), "\(more.text)")
        #expect(try post(["g"]).status == 201)
        #expect(try desk.ask("GET", "/tables/t").ids.count == 3)
    }

    @Test(arguments: TestBackend.available)
    func `two spellings of a name are two columns`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: #"{"t":{}}"#)
        let (one, two) = ("é", "e\u{301}")
        let others = (0..<8).map { ",\"c\($0)\":0" }.joined()
        func values(_ answer: HTTPResponse) -> [Int64?] {
            guard case .object(let members) = answer.json else { return [] }
            return [one, two].map { name in
                guard case .integer(let number)? = members.first(where: { $0.name.hasSameBytes(as: name) })?.value
                else {
                    return nil
                }
                return number
            }
        }
        #expect(try values(desk.ask("POST", "/tables/t", #"{"id":"a","\#(one)":1,"\#(two)":2}"#)) == [1, 2])
        #expect(try values(desk.ask("POST", "/tables/t", #"{"id":"b","\#(two)":4\#(others)}"#)) == [nil, 4])
        #expect(try values(desk.ask("PATCH", "/tables/t/a", #"{"\#(two)":3\#(others)}"#)) == [1, 3])
        #expect(try values(desk.ask("GET", "/tables/t/a")) == [1, 3])
        let patch = #"[{"op":"replace","path":"/\#(one)","value":7}]"#
        let headers = ["Content-Type": "application/json-patch+json"]
        var request = try #require(HTTPRequest("PATCH", target: "/tables/t/a"))
        request.headers = (headers.merging(["ZUMO-API-VERSION": "3.0.0"]) { $1 }).map { HTTPHeader($0.key, $0.value) }
        request.body = Array(patch.utf8)
        #expect(values(desk.service.answer(request, url: "")) == [7, 3])
        for (name, ids) in [(one, ["a"]), (two, ["a", "b"])] {
            let filter = "\(name) gt 2".encoded
            #expect(try desk.ask("GET", "/tables/t?$filter=\(filter)").ids == ids)
        }
        try desk.store.look()
        #expect(try values(desk.ask("GET", "/tables/t/a")) == [7, 3])
    }

    @Test(arguments: TestBackend.stores)
    func `columns of a batch that is rolled back count as created`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: #"{"t":{}}"#, more: #","limits":{"newColumns":3}"#)
        let operations = (0..<4).map { number in
            """
            {"operation":"insert","table":"t","item":\(item(["c\(number)", "d\(number)"])),"group":"g\(number)"},
            {"operation":"delete","table":"t","id":"none","group":"g\(number)"}
            """
        }
        let answer = try desk.ask("POST", "/tables/$batch", #"{"operations":[\#(operations.joined(separator: ","))]}"#)
        let results = try #require(answer.json["results"])
        #expect(results[0]?["code"] == .string("group-refused") && results[1]?["code"] == .string("row-not-found"))
        for place in [2, 4, 6] { #expect(results[place]?["code"] == .string("too-many-columns")) }
    }

    @Test(arguments: TestBackend.stores)
    func `thirty thousand names are refused`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let answer = try desk.ask("POST", "/tables/todoitem", item((0..<30_000).map { "n\($0)" }))
        #expect(answer.status == 400 && answer.json["code"] == .string("too-many-columns"), "\(answer.text)")
        #expect(try desk.ask("POST", "/tables/todoitem", #"{"id":"a","fresh":1}"#).status == 201)
    }

    @Test(arguments: TestBackend.stores)
    func `no column has the name of one that a database keeps for itself`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        for name in ["xmin", "xmax", "cmin", "cmax", "ctid", "tableoid", "oid", "rowid", "_rowid_", "XMin", "ROWID"] {
            let answer = try desk.ask("POST", "/tables/todoitem", item([name]))
            #expect(answer.status == 400 && answer.json["code"] == .string("invalid-column"), "\(name) \(answer.text)")
            #expect(throws: StartFailure.self) {
                try configuration(#"{"tables":{"t":{"columns":{"\#(name)":"number"}}}}"#)
            }
        }
        #expect(try desk.ask("GET", "/tables/todoitem").ids == [])
    }

    @Test(arguments: TestBackend.available)
    func `an operator removes a column, and the processes that serve the table notice`(_ backend: TestBackend) throws {
        let (address, keeper) = try backend.store()
        defer { withExtendedLifetime(keeper) {} }
        let configuration = try configuration(#"{"store":"\#(address)","tables":{"t":{"columns":{"text":"string"}}}}"#)
        func store() throws -> SQLStore {
            let database: any SQLDatabase =
                switch try StoreAddress(address) {
                case .sqlite(let path): try SQLiteDatabase(path: path)
                case .postgres(let url): try PostgresDatabase(url: url, connections: 2, limits: .patient)
                }
            return try SQLStore(database, configuration.tables, StillEnvironment())
        }
        let stores = [try store(), try store()]
        func write(_ id: String, _ value: Value) throws -> WriteOutcome {
            let columns = Row([.init("text", .string("x")), .init("extra", value)])
            return try stores[0].write(
                [[TableWrite(.insert(columns), table: "t", id: id, serverProtocol: .zumo2)]], stopsAtRefusal: false)[0][
                    0]
        }
        #expect(try !write("a", .integer(1)).isRefused)
        #expect(try stores[1].row("t", id: "a")?.columns["extra"] == .integer(1))
        for wrong in ["t.text", "t.nope", "u.extra", "t.id"] {
            #expect(throws: StartFailure.self) { try Server.dropColumn(#require(ColumnName(wrong)), configuration) }
        }
        try Server.dropColumn(#require(ColumnName("t.extra")), configuration)
        for store in stores {
            let row = try #require(try store.row("t", id: "a"))
            #expect(row.columns["extra"] == nil && row.columns["text"] == .string("x"))
            #expect(try store.list(ListPlan(table: "t", limit: 9)).rows == [row])
        }
        // It may be created again, with another type.
        #expect(try !write("b", .string("new")).isRefused)
        #expect(try stores[1].row("t", id: "b")?.columns["extra"] == .string("new"))
        #expect(try stores[1].row("t", id: "a")?.columns["extra"] == .null)
    }

    @Test func `if PostgreSQL accepts no more columns, only writes with a new column are refused`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        let desk = try ServiceDesk(.postgres, tables: #"{"t":{"columns":{"text":"string"}}}"#)
        let columns = (0..<1594).map { "ADD COLUMN h\($0) integer" }.joined(separator: ", ")
        try desk.store.database.carryOut(["ALTER TABLE t " + columns])
        let operations = #"""
            {"operation":"insert","table":"t","item":{"id":"a","text":"x"}},
            {"operation":"insert","table":"t","item":{"id":"b","fresh":1}},
            {"operation":"insert","table":"t","item":{"id":"c","text":"y"}}
            """#
        let answer = try desk.ask("POST", "/tables/$batch", #"{"operations":[\#(operations)]}"#)
        #expect(answer.json["results"]?[1]?["code"] == .string("too-many-columns"), "\(answer.text)")
        #expect(try desk.ask("GET", "/tables/t").ids == ["a", "c"])
    }

    @Test(arguments: TestBackend.available)
    func `an operator is told about columns that are added and removed by hand`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: #"{"t":{"columns":{"text":"string"}}}"#)
        let before = desk.store.currentCatalogue
        try desk.store.database.carryOut([
            #"ALTER TABLE "t" ADD COLUMN "hand" INTEGER"#, #"ALTER TABLE "t" DROP COLUMN "text""#,
        ])
        try desk.store.look()
        #expect(
            desk.store.currentCatalogue.notes(since: before) == [
                "table t no longer has text: dropped in the database",
                "table t has hand, which the server did not make and does not serve",
            ])
        #expect(desk.store.currentCatalogue.notes(since: desk.store.currentCatalogue) == [])
    }

    @Test(arguments: TestBackend.available)
    func `a column created by hand is adopted, or makes one row fail`(
        _ backend: TestBackend
    ) throws {
        let desk = try ServiceDesk(backend, tables: #"{"t":{"columns":{"text":"string"}}}"#)
        let type = backend == .sqlite ? "ANY" : "numeric"
        let other = backend == .sqlite ? "BLOB" : "bytea"
        try desk.store.database.carryOut([
            #"ALTER TABLE "t" ADD COLUMN "n" \#(type)"#, #"ALTER TABLE "t" ADD COLUMN "b" \#(other)"#,
        ])
        #expect(try desk.ask("POST", "/tables/t", #"{"id":"a","n":1.5}"#).json["n"] == .double(1.5))
        #expect(try desk.ask("GET", "/tables/t/a").json["n"] == .double(1.5))
        let taken = try desk.ask("POST", "/tables/t", #"{"id":"b","b":"x"}"#)
        #expect(taken.status == 409 && taken.json["code"] == .string("column-taken"), "\(taken.text)")
    }
}
