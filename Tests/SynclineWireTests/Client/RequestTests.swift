// What is sent on the wire, to the byte, in both protocols.

import SynclineCore
import SynclineWire
import Testing

private func request(
    _ serverProtocol: ServerProtocol, _ request: ServerRequest, headers: [HTTPHeader] = [], token: String? = nil
) throws -> HTTPRequest {
    try WireCodec(serverProtocol).request(request, headers: headers, token: token)
}

private func write(
    _ kind: OperationKind, id: String = "a", _ members: [Value.Member] = [], version: String? = nil
) -> ServerRequest {
    .write(
        WriteRequest(
            kind: kind, table: "todoitem", id: id, body: Row(members), version: version, operationID: "OP-1"))
}

extension HTTPRequest {
    fileprivate var text: String? { body.map { String(decoding: $0, as: UTF8.self) } }
    fileprivate var line: String { "\(method) \(target(below: ""))" }
    fileprivate var head: [String] { headers.map { "\($0.name): \($0.value)" } }
}

@Suite("Requests")
struct RequestTests {
    @Test("an insert is a POST of the id and all columns")
    func insert() throws {
        let all: [Value.Member] = [
            .init("text", .string("q\"\\\n\u{1F600}\u{7f}")), .init("none", .null),
            .init("n", .integer(9_007_199_254_740_993)),
            .init("max", .integer(.max)), .init("min", .integer(.min)), .init("price", .double(1.5)),
            .init("whole", .double(3)), .init("done", .bool(false)), .init("data", .bytes([1, 2, 255])),
            .init("at", .date(try #require(Timestamp("2026-05-19T21:30:00.1234567+02:00")))),
            .init("list", .array([.integer(1), .object([.init("b", .null), .init("a", .string(""))])])),
        ]
        for (dialect, version) in [(ServerProtocol.zumo2, "2.0.0"), (.datasync3, "3.0.0")] {
            let found = try request(dialect, write(.insert, all, version: "v"))
            #expect(found.line == "POST /tables/todoitem")
            #expect(
                found.text
                    == "{\"id\":\"a\",\"text\":\"q\\\"\\\\\\n\u{1F600}\u{7f}\",\"none\":null,\"n\":9007199254740993,"
                    + "\"max\":9223372036854775807,\"min\":-9223372036854775808,\"price\":1.5,\"whole\":3.0,"
                    + "\"done\":false,\"data\":\"AQL/\",\"at\":\"2026-05-19T21:30:00.1234567+02:00\","
                    + "\"list\":[1,{\"b\":null,\"a\":\"\"}]}")
            #expect(
                found.head == [
                    "ZUMO-API-VERSION: \(version)", "Accept: application/json", "Content-Type: application/json",
                    "X-Syncline-Operation-Id: OP-1",
                ])
        }
    }

    @Test("an update is a PATCH of the changed columns, or a PUT of the whole row")
    func update() throws {
        let update = write(.update, [.init("text", .string("two"))], version: "q\"b\\e")
        let patch = try request(.zumo2, update)
        #expect(patch.line == "PATCH /tables/todoitem/a")
        #expect(patch.text == "{\"text\":\"two\"}")
        #expect(
            patch.head == [
                "ZUMO-API-VERSION: 2.0.0", "Accept: application/json", "Content-Type: application/json",
                "If-Match: \"q\\\"b\\\\e\"", "X-Syncline-Operation-Id: OP-1",
            ])
        let put = try request(.datasync3, update)
        #expect(put.line == "PUT /tables/todoitem/a")
        #expect(put.text == "{\"id\":\"a\",\"text\":\"two\"}")
        #expect(try request(.zumo2, write(.update)).headers.value("if-match") == nil)
    }

    @Test("a delete has no body")
    func delete() throws {
        for dialect in ServerProtocol.allCases {
            let found = try request(dialect, write(.delete, version: "MQ=="))
            #expect(found.line == "DELETE /tables/todoitem/a")
            #expect(found.body == nil)
            #expect(found.headers.value("If-Match") == "\"MQ==\"")
            #expect(found.headers.value("Content-Type") == nil)
        }
    }

    @Test(
        "an id stays one segment of the path",
        arguments: [
            ("a b", "a%20b"), ("a/b", "a%2Fb"), ("q\"'", "q%22%27"), ("+?#%&=", "%2B%3F%23%25%26%3D"),
            ("日本", "%E6%97%A5%E6%9C%AC"), ("\u{1F600}", "%F0%9F%98%80"), ("..", "%2E%2E"), ("a.b-c_d~e", "a.b-c_d~e"),
        ])
    func ids(_ id: String, _ encoded: String) throws {
        let found = try request(.zumo2, .row(table: "t", id: id))
        #expect(found.target(below: "https://host/app/") == "https://host/app/tables/t/" + encoded)
        #expect(found.path == "/tables/t/" + id)
        let back = try #require(HTTPRequest("GET", target: found.target(below: "")))
        #expect(back.pathSegments == ["tables", "t", id])
    }

    @Test("a list names its filter, order, window, columns, count and deleted rows")
    func list() throws {
        var list = ListRequest(
            table: "t", filter: try FilterExpression(parsing: "a eq 'x+y&z''s' and at ge 2020-01-01T00:00:00Z"))
        list.order = [.init("updatedAt"), .init("id", descending: true)]
        list.top = 50
        list.select = ["id", "a"]
        let old = try request(.zumo2, .list(list))
        #expect(
            old.query.map { "\($0.name)=\($0.value)" } == [
                "$filter=a eq 'x+y&z''s' and at ge datetimeoffset'2020-01-01T00:00:00.000Z'",
                "$orderby=updatedAt,id desc", "$top=50", "$select=id,a", "$inlinecount=allpages",
                "__includeDeleted=true",
            ])
        #expect(old.body == nil)
        #expect(old.headers.value("X-Syncline-Operation-Id") == nil)
        list.filter = try FilterExpression(parsing: "a eq 'x+y'")
        list.skip = 7
        let new = try request(.datasync3, .list(list))
        #expect(
            new.line
                == "GET /tables/t?%24filter=a%20eq%20%27x%2By%27&%24orderby=updatedAt%2Cid%20desc&%24top=50&%24skip=7"
                + "&%24select=id%2Ca&%24count=true&__includedeleted=true")
        list.counts = false
        list.includesDeleted = false
        #expect(
            try request(.datasync3, .list(list)).query.map(\.name) == [
                "$filter", "$orderby", "$top", "$skip", "$select",
            ])
        #expect(HTTPRequest("GET", target: new.target(below: "")) == withoutHeaders(new))
    }

    private func withoutHeaders(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.headers = []
        return request
    }

    @Test("the token goes where the protocol wants it, and the app's headers replace no other header")
    func headers() throws {
        let own = [
            HTTPHeader("zumo-api-version", "9"), HTTPHeader("IF-MATCH", "*"), HTTPHeader("X-App", "yes"),
            HTTPHeader("authorization", "Basic x"), HTTPHeader("X-ZUMO-AUTH", "mine"),
            HTTPHeader("Content-Length", "1"),
            HTTPHeader("X-Split", "a\r\nEvil: b"), HTTPHeader("Bad Name", "x"), HTTPHeader("", "x"),
        ]
        let old = try request(.zumo2, .row(table: "t", id: "a"), headers: own, token: "T")
        #expect(
            old.head == [
                "ZUMO-API-VERSION: 2.0.0", "Accept: application/json", "X-ZUMO-AUTH: T", "X-App: yes",
                "authorization: Basic x",
            ])
        let new = try request(.datasync3, .row(table: "t", id: "a"), headers: own, token: "T")
        #expect(
            new.head == [
                "ZUMO-API-VERSION: 3.0.0", "Accept: application/json", "Authorization: Bearer T", "X-App: yes",
                "X-ZUMO-AUTH: mine",
            ])
    }

    @Test("what a protocol can't express is an error")
    func unsupported() {
        let filter = FilterExpression.compare(.equal, .column("a"), .literal(.bytes([1])))
        #expect(throws: UnsupportedPredicate.self) {
            try request(.zumo2, .list(ListRequest(table: "t", filter: filter)))
        }
    }

    @Test("a version with control characters can't end its header")
    func versionsWithControls() throws {
        #expect(EntityTag.text(of: "a\r\nb\u{0}") == "\"a  b \"")
    }

    @Test("the root of the tables can be another")
    func root() throws {
        let codec = WireCodec(.datasync3, tables: "/api/v1")
        let found = try codec.request(.row(table: "t", id: "a/b"))
        #expect(found.target(below: "http://h") == "http://h/api/v1/t/a%2Fb")
    }

    @Test("several writes in one request")
    func batch() throws {
        func all(_ protocolVersion: ServerProtocol) throws -> HTTPRequest {
            try request(
                protocolVersion,
                .batch([
                    WriteRequest(
                        kind: .insert, table: "t", id: "a\"", body: Row([.init("n", .integer(1))]), version: "v",
                        operationID: "O1"),
                    WriteRequest(
                        kind: .update, table: "u", id: "b", body: Row([.init("x", .null)]), version: "q\"",
                        operationID: "O2"),
                    WriteRequest(kind: .delete, table: "t", id: "c", body: .empty, version: nil, operationID: "O3"),
                ]))
        }
        let old = try all(.zumo2)
        #expect(old.line == "POST /tables/$batch" || old.line == "POST /tables/%24batch")
        #expect(old.head.contains("Content-Type: application/json") && !old.headers.contains("If-Match"))
        let insert = #"{"operation":"insert","table":"t","id":"a\"","item":{"n":1},"operationId":"O1"}"#
        let change = #""table":"u","id":"b","item":{"x":null},"ifMatch":"q\"","operationId":"O2"}"#
        let delete = #"{"operation":"delete","table":"t","id":"c","operationId":"O3"}"#
        #expect(old.text == #"{"operations":[\#(insert),{"operation":"update",\#(change),\#(delete)]}"#)
        let new = #"{"operations":[\#(insert),{"operation":"replace",\#(change),\#(delete)]}"#
        #expect(try all(.datasync3).text == new)
    }

    @Test("changes after a cursor, in the form of either protocol")
    func changes() throws {
        let filter = try FilterExpression(parsing: "at gt 2026-01-01T00:00:00Z")
        let asked = ServerRequest.changes(ChangesRequest(table: "t", since: "", filter: filter, top: 7))
        let old = try request(.zumo2, asked)
        #expect(old.method == "GET" && old.path == "/tables/t/changes")
        #expect(old.query.map(\.name) == ["since", "$top", "$filter"])
        #expect(old.query.first?.value == "" && old.query.last?.value.contains("datetime") == true)
        #expect(try request(.datasync3, asked).query.last?.value.contains("datetime") == false)
    }
}
