// Requests as a server reads them: what each means in either protocol, and what is refused.

import SynclineCore
import SynclineWire
import Testing

extension TableRequest {
    /// Parses a request. Without a protocol version it is read with `usual`.
    init(_ request: HTTPRequest, usual: ServerProtocol, rules: RequestRules = .peers) throws(TableRequestError) {
        let protocolVersion = try TableRequest.version(of: request, usual, rules)
        let segments = request.pathSegments
        guard segments.first == "tables", (2...3).contains(segments.count) else {
            throw TableRequestError(404, "There is no table at \(request.path)")
        }
        let id = segments.count > 2 ? segments[2] : ""
        try self.init(request, protocolVersion, table: segments[1], id: id, rules: rules)
    }
}

private func parse(
    _ method: String, _ target: String, _ body: String? = nil, headers: [HTTPHeader] = [],
    usual: ServerProtocol = .zumo2
) throws -> TableRequest {
    var request = try #require(HTTPRequest(method, target: target))
    request.headers = headers
    request.body = body.map { Array($0.utf8) }
    return try TableRequest(request, usual: usual)
}

private func status(
    _ method: String, _ target: String, _ body: String? = nil, headers: [HTTPHeader] = [],
    usual: ServerProtocol = .zumo2
) throws -> Int? {
    do {
        _ = try parse(method, target, body, headers: headers, usual: usual)
        return nil
    } catch let error as TableRequestError {
        return error.status
    }
}

@Suite("Requests to a table")
struct TableRequestTests {
    @Test("name an operation and a row")
    func actions() throws {
        #expect(try parse("GET", "/tables/t/a%2Fb").id == "a/b")
        #expect(try parse("GET", "/tables/t/a").action == .row)
        #expect(try parse("DELETE", "/tables/t/a").action == .delete)
        #expect(try parse("POST", "/tables/t/a").action == .undelete)
        let item = TableItem(id: "a", columns: Row([.init("n", .integer(1))]))
        let insert = try parse("POST", "/tables/t", #"{"id":"a","n":1}"#)
        #expect(insert.action == .insert(item))
        #expect(insert.id == "a")
        #expect(try parse("PATCH", "/tables/t", #"{"id":"a","n":1}"#).action == .update(item))
        #expect(try parse("PUT", "/tables/t/a", #"{"id":"a","n":1}"#, usual: .datasync3).action == .replace(item))
        #expect(try parse("POST", "/tables/t", #"{"id":null}"#).id == "")
        #expect(try parse("POST", "/tables/t", #"{"id":7}"#).id == "7")
        #expect(
            try parse("POST", "/tables/t", "{}", headers: [.init("x-syncline-operation-id", "O")]).operationID == "O")
    }

    @Test("keep a version and a mark of the body apart from its columns")
    func systemColumns() throws {
        let old = try parse("PATCH", "/tables/t/a", #"{"n":1,"version":"v"}"#)
        #expect(old.action == .update(TableItem(columns: Row([.init("n", .integer(1))]), version: "v")))
        let new = try parse(
            "PUT", "/tables/t/a", #"{"n":1,"version":"v","updatedAt":"x","DELETED":false}"#, usual: .datasync3)
        #expect(
            new.action == .replace(TableItem(columns: Row([.init("n", .integer(1))]), version: "v", isDeleted: false)))
    }

    @Test(
        "agree on a version of the protocol",
        arguments: [
            ("2.0.0", .zumo2), ("2.0", .zumo2), ("2.0.7", .zumo2), ("2", .zumo2), ("3.0.0", .datasync3),
            ("3.0", .datasync3), ("3.1.4", .datasync3), (" 3 ", .datasync3), ("2.1.0", nil), ("4.0.0", nil),
            ("1.0", nil), ("", nil),
            ("x", nil), ("2.0.0.0", nil), ("3.-1", nil), ("2.0.x", nil),
        ] as [(String, ServerProtocol?)])
    func versions(_ text: String, _ expected: ServerProtocol?) throws {
        let header = [HTTPHeader("zumo-api-version", text)]
        if let expected {
            #expect(try parse("GET", "/tables/t", headers: header).serverProtocol == expected)
            let target = "/tables/t?Zumo-Api-Version=" + PercentEncoding.encode(text)
            #expect(try parse("GET", target).serverProtocol == expected)
        } else {
            #expect(try status("GET", "/tables/t", headers: header) == 400)
        }
    }

    @Test("take the header's version before the parameter's, and the usual one without either")
    func usual() throws {
        let header = [HTTPHeader("ZUMO-API-VERSION", "2.0.0")]
        #expect(try parse("GET", "/tables/t?ZUMO-API-VERSION=3.0.0", headers: header).serverProtocol == .zumo2)
        #expect(try parse("GET", "/tables/t", usual: .datasync3).serverProtocol == .datasync3)
    }

    @Test("read a list's parameters as a client writes them")
    func lists() throws {
        for dialect in ServerProtocol.allCases {
            var list = ListRequest(
                table: "t", filter: try FilterExpression(parsing: "contains(a,'x+y%20''z') and n in (1)"))
            if dialect == .zumo2 { list.filter = try FilterExpression(parsing: "substringof('x+y',a) and n eq 1") }
            list.order = [.init("updatedAt"), .init("id", descending: true)]
            list.top = 10
            list.skip = 3
            list.select = ["id", "a"]
            let sent = try WireCodec(dialect).request(.list(list))
            var received = try #require(HTTPRequest("GET", target: sent.target(below: "")))
            received.headers = sent.headers
            let parsed = try TableRequest(received, usual: .zumo2)
            #expect(parsed.action == .list(list))
            #expect(parsed.includesDeleted)
        }
        guard case .list(let plain) = try parse("GET", "/tables/t?$unknown=1&$filter=&$orderby=&$select=").action else {
            return #expect(Bool(false))
        }
        #expect(!plain.includesDeleted && !plain.counts && plain.filter == nil && plain.select == nil)
        #expect(try parse("GET", "/tables/t?__includeDeleted=false").includesDeleted)
        #expect(try !parse("GET", "/tables/t?__includedeleted=false", usual: .datasync3).includesDeleted)
    }

    @Test("read what If-Match asks")
    func conditions() throws {
        for (text, old, new) in [
            ("\"v\"", .versions(["v"]), .versions(["v"])), ("v", .versions(["v"]), nil), ("*", .versions(["*"]), .any),
            ("\"a\", W/\"b\", \"c\\\"\"", .versions(["a", "c\""]), .versions(["a", "c\""])),
            ("W/\"b\"", .versions([]), .versions([])),
        ] as [(String, TableRequest.Condition?, TableRequest.Condition?)] {
            let header = [HTTPHeader("If-Match", text)]
            #expect(try parse("DELETE", "/tables/t/a", headers: header).condition == old)
            #expect(try parse("DELETE", "/tables/t/a", headers: header, usual: .datasync3).condition == new)
        }
    }

    @Test("are refused where they are wrong")
    func refused() throws {
        for (method, target, body, expected) in [
            ("GET", "/", nil, 404), ("GET", "/tables", nil, 404), ("GET", "/tables/t/a/b", nil, 404),
            ("GET", "/api/t", nil, 404), ("PUT", "/tables/t/a", "{}", 404), ("DELETE", "/tables/t", nil, 405),
            ("HEAD", "/tables/t", nil, 405), ("POST", "/tables/t", nil, 400), ("POST", "/tables/t", "[]", 400),
            ("POST", "/tables/t", "{", 400), ("POST", "/tables/t", "{} {}", 400),
            ("POST", "/tables/t", #"{"deleted":true}"#, 400),
            ("POST", "/tables/t", #"{"CreatedAt":1}"#, 400), ("POST", "/tables/t", #"{"id":true}"#, 400),
            ("PATCH", "/tables/t/a", #"{"id":"b"}"#, 400), ("PATCH", "/tables/t", "{}", 400),
            ("GET", "/tables/t?$top=x", nil, 400),
            ("GET", "/tables/t?$top=1001", nil, 400), ("GET", "/tables/t?$skip=-1", nil, 400),
            ("GET", "/tables/t?$filter=a%20eq", nil, 400),
            ("GET", "/tables/t?$orderby=a%20up", nil, 400), ("GET", "/tables/t?$select=*", nil, 400),
            ("GET", "/tables/t?$select=a,,b", nil, 400),
        ] as [(String, String, String?, Int)] {
            #expect(try status(method, target, body) == expected, "\(method) \(target)")
        }
        #expect(try status("PATCH", "/tables/t/a", "{}", usual: .datasync3) == 405)
        #expect(try status("PUT", "/tables/t/a", #"{"id":"b"}"#, usual: .datasync3) == 400)
        #expect(try status("POST", "/tables/t", #"{"id":7}"#, usual: .datasync3) == 400)
        #expect(try status("POST", "/tables/t", "{}", headers: [.init("content-type", "text/plain")]) == 415)
        #expect(HTTPRequest("GET", target: "/tables/t/%") == nil)
        #expect(HTTPRequest("GET", target: "/tables/t/%zz") == nil)
        #expect(HTTPRequest("GET", target: "/tables/t/%ff") == nil)
    }
}

@Suite("A request's path")
struct RequestPathTests {
    @Test(
        "is the same however it is written",
        arguments: [
            ("/tables/t/a", ["tables", "t", "a"]), ("//tables///t/a", ["tables", "t", "a"]),
            ("/tables/t/a/", ["tables", "t", "a"]), ("tables/t/%61", ["tables", "t", "a"]), ("/", []), ("", []),
            ("/tables/t/é", ["tables", "t", "é"]), ("/tables/t/%C3%A9?a=b", ["tables", "t", "é"]),
            ("/tables/t/a%2Fb", ["tables", "t", "a/b"]), ("/tables/t/a?b/c=/", ["tables", "t", "a"]),
        ])
    func forms(_ target: String, _ segments: [String]) throws {
        let request = try #require(HTTPRequest("GET", target: target))
        #expect(request.pathSegments == segments)
        #expect(request.path == "/" + segments.joined(separator: "/"))
    }
}

@Suite("Answers of a table")
struct TableAnswerTests {
    private let row = TableRow(
        id: "a", columns: Row([.init("n", .null)]), createdAt: .init(seconds: 0),
        updatedAt: .init(seconds: 1, nanoseconds: 999_999_999), version: "v\"", isDeleted: true)

    private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test("show a row with times to the millisecond")
    func rows() {
        let old = TableAnswer(.zumo2).row(row, status: 412)
        #expect(
            text(old)
                == #"{"id":"a","n":null,"createdAt":"1970-01-01T00:00:00.000Z","updatedAt":"1970-01-01T00:00:01.999Z","version":"v\"","deleted":true}"#
        )
        #expect(old.status == 412)
        #expect(old.headers.value("ETag") == #""v\"""#)
        #expect(
            text(TableAnswer(.datasync3).row(row))
                == #"{"id":"a","n":null,"updatedAt":"1970-01-01T00:00:01.999Z","version":"v\"","deleted":true}"#)
    }

    @Test("show lists in the protocol's shape")
    func lists() {
        let (old, new) = (TableAnswer(.zumo2), TableAnswer(.datasync3))
        let select = ["id", "deleted"]
        let shown = #"{"id":"a","deleted":true}"#
        #expect(text(old.list([row], select: select, count: nil) { _ in nil }) == "[\(shown)]")
        #expect(
            text(old.list([row, row], select: select, count: 3) { _ in nil })
                == #"{"results":[\#(shown),\#(shown)],"count":3}"#)
        #expect(
            text(new.list([], select: nil, count: nil) { _ in nil }) == #"{"items":[],"count":null,"nextLink":null}"#)
        #expect(
            text(new.list([row], select: select, count: 3) { _ in "a=b" })
                == #"{"items":[\#(shown)],"count":3,"nextLink":"a=b"}"#)
    }

    @Test("show errors in the protocol's words")
    func errors() {
        #expect(text(TableAnswer(.zumo2).error(404, "no")) == #"{"error":"no"}"#)
        #expect(text(TableAnswer(.datasync3).error(404, "no")) == "")
        #expect(text(TableAnswer(.datasync3).error(400, "no")) == #""no""#)
    }
}
