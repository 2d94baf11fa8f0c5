// Columns that only some callers see: absent from every answer, not to be asked for, and kept when others replace the row.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ColumnReaderTests {
    private static let tables = #"""
        {"person":{"columns":{"name":"string","salary":{"type":"number","read":"role:hr"}}}}
        """#

    private let id = "00000000-0000-7000-8000-000000000001"
    private let other = "00000000-0000-7000-8000-000000000002"

    private func ask(
        _ desk: ServiceDesk, _ user: String, _ method: String, _ path: String, _ body: String? = nil,
        _ headers: [String: String] = [:]
    ) throws -> HTTPResponse {
        let login = ["X-ZUMO-AUTH": token(user, claims: user == "hr" ? #","roles":["hr"]"# : "")]
        return try desk.ask(method, path, body, login.merging(headers) { $1 })
    }

    private func desk(_ backend: TestBackend) throws -> ServiceDesk {
        let desk = try ServiceDesk(backend, tables: Self.tables)
        let row = #"{"id":"\#(id)","name":"Ann","salary":4711}"#
        #expect(try ask(desk, "hr", "POST", "/tables/person", row).status == 201)
        return desk
    }

    private func salary(_ desk: ServiceDesk) throws -> Value? {
        try ask(desk, "hr", "GET", "/tables/person/\(id)").json["salary"]
    }

    @Test(arguments: TestBackend.stores)
    func `no answer has a hidden column`(_ backend: TestBackend) throws {
        let desk = try desk(backend)
        #expect(try salary(desk) == 4711)
        let new = ["ZUMO-API-VERSION": "3.0.0"]
        let batch = """
            {"operations":[{"operation":"insert","table":"person","item":{"id":"\(id)","name":"Eve"}},
            {"operation":"update","table":"person","id":"\(id)","item":{"name":"Bea"}}]}
            """
        let requests: [(String, String, String?, [String: String])] = [
            ("GET", "/tables/person", nil, [:]), ("GET", "/tables/person", nil, new),
            ("GET", "/tables/person/\(id)", nil, [:]), ("GET", "/tables/person/\(id)", nil, new),
            ("GET", "/tables/person/changes?since=", nil, [:]),
            ("GET", "/tables/person?$orderby=updatedAt&__includeDeleted=true", nil, [:]),
            ("POST", "/tables/person", #"{"id":"\#(id)","name":"Eve"}"#, [:]),
            ("POST", "/tables/person", #"{"id":"\#(id)","name":"Eve"}"#, new),
            ("PATCH", "/tables/person/\(id)", #"{"name":"Eve"}"#, ["If-Match": #""AAAA""#]),
            ("PATCH", "/tables/person/\(id)", #"{"name":"Eve"}"#, [:]),
            ("POST", "/tables/$batch", batch, [:]),
            ("DELETE", "/tables/person/\(id)", nil, [:]), ("POST", "/tables/person/\(id)", nil, [:]),
        ]
        for (method, path, body, headers) in requests {
            let answer = try ask(desk, "bob", method, path, body, headers)
            #expect(
                !answer.text.contains("salary") && !answer.text.contains("4711"), "\(method) \(path): \(answer.text)")
            #expect([200, 201, 409, 412].contains(answer.status), "\(method) \(path): \(answer.status)")
        }
        #expect(try salary(desk) == 4711)
    }

    @Test(arguments: TestBackend.stores)
    func `nothing can be asked about a hidden column`(_ backend: TestBackend) throws {
        let desk = try desk(backend)
        for query in [
            "$filter=salary%20gt%201000", "$filter=Salary%20gt%201000", "$orderby=SALARY", "$select=id,salary",
            "$filter=name%20eq%20'x'%20or%20salary%20eq%20null",
        ] {
            let answer = try ask(desk, "bob", "GET", "/tables/person?\(query)")
            #expect(answer.status == 403 && answer.json["code"] == "column-not-permitted", "\(query): \(answer.text)")
            #expect(try ask(desk, "hr", "GET", "/tables/person?\(query)").status == 200)
        }
        let feed = try ask(desk, "bob", "GET", "/tables/person/changes?since=&$filter=salary%20gt%201000")
        #expect(feed.status == 403)
    }

    @Test(arguments: TestBackend.stores)
    func `a caller who does not see a column neither sets nor loses it`(_ backend: TestBackend) throws {
        let desk = try desk(backend)
        let (path, new) = ("/tables/person/\(id)", ["ZUMO-API-VERSION": "3.0.0"])
        for (body, headers) in [(#"{"salary":1}"#, [:]), (#"{"Salary":1,"name":"Eve"}"#, [:]), (#"{"salary":1}"#, new)]
        {
            #expect(try ask(desk, "bob", headers.isEmpty ? "PATCH" : "PUT", path, body, headers).status == 403)
        }
        let inserted = #"{"id":"\#(other)","name":"Eve","salary":1}"#
        #expect(try ask(desk, "bob", "POST", "/tables/person", inserted).status == 403)
        // Clients with the column in their model send null, or nothing.
        #expect(try ask(desk, "bob", "PATCH", path, #"{"name":"Bea","salary":null}"#).status == 200)
        #expect(try ask(desk, "bob", "PUT", path, #"{"name":"Cea"}"#, new).status == 200)
        #expect(try ask(desk, "bob", "PUT", path, #"{"name":"Dea","salary":null}"#, new).status == 200)
        let patch = new.merging(["Content-Type": "application/json-patch+json"]) { $1 }
        for (steps, status) in [
            (#"[{"op":"test","path":"/salary","value":4711}]"#, 400),
            (#"[{"op":"copy","from":"/salary","path":"/name"}]"#, 400),
            (#"[{"op":"add","path":"/salary","value":1}]"#, 403),
            (#"[{"op":"replace","path":"/name","value":"Fea"}]"#, 200),
        ] {
            #expect(try ask(desk, "bob", "PATCH", path, steps, patch).status == status, "\(steps)")
        }
        let row = try ask(desk, "hr", "GET", path).json
        #expect(row["salary"] == 4711 && row["name"] == "Fea")
        #expect(try ask(desk, "hr", "PUT", path, #"{"name":"Ann"}"#, new).status == 200)
        #expect(try salary(desk) == .null)
    }

    @Test func `the configuration names readers, and prints them`() throws {
        let settings = try configuration(#"{"auth":{"key":"\#(testSecret)"},"tables":\#(Self.tables)}"#)
        #expect(settings.value.json.contains(#""salary":{"type":"number","read":"role:hr"}"#))
        for columns in [#"{"a":{"type":"number","read":"somebody"}}"#, #"{"a":{"read":"role:hr"}}"#, #"{"a":{"x":1}}"#]
        {
            #expect(throws: StartFailure.self) { try configuration(#"{"tables":{"t":{"columns":\#(columns)}}}"#) }
        }
    }
}
