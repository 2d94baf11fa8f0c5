// How a server's responses are read: rows to the bit, lists in every form, and anything else reported as such.

import SynclineCore
import SynclineWire
import Testing

private let single = ServerRequest.row(table: "t", id: "a")
private let page = ServerRequest.list(ListRequest(table: "t"))

private func reply(
    _ text: String, to request: ServerRequest = single, status: Int = 200, headers: [HTTPHeader] = []
) -> ServerReply {
    reply(bytes: Array(text.utf8), to: request, status: status, headers: headers)
}

private func reply(
    bytes: [UInt8], to request: ServerRequest = single, status: Int = 200, headers: [HTTPHeader] = []
) -> ServerReply {
    var response = HTTPResponse(status: status)
    response.headers = headers
    response.body = bytes
    return WireCodec(.zumo2).reply(response, to: request)
}

extension ServerReply {
    fileprivate var row: ServerRow? {
        if case .row(let row) = content { return row }
        return nil
    }

    fileprivate var list: ServerList? {
        if case .list(let list) = content { return list }
        return nil
    }

    fileprivate var reason: String? {
        if case .unreadable(let reason) = content { return reason }
        return nil
    }
}

extension ServerRow {
    fileprivate var text: String { "\(id) \(Value.object(columns.members).json)" }
}

@Suite("Replies")
struct ReplyTests {
    @Test("a row keeps every value as it came")
    func values() throws {
        let row = try #require(
            reply(
                #"""
                {"id":"a","none":null,"yes":true,"n":9007199254740993,"max":9223372036854775807,"min":-9223372036854775808,
                 "small":-1,"zero":0,"large":9223372036854775808,"larger":-1e300,"half":0.5,"text":"\u00e9\n\"","emoji":"😀",
                 "when":"2026-01-01T00:00:00.000Z","createdAt":"2026-01-01T01:00:00.1234567+01:00","updatedAt":"soon",
                 "version":"v","deleted":false,"list":[1,[18446744073709551615],{"a":{}}],"uuid":"01234567-89ab-cdef-0123-456789abcdef"}
                """#
            ).row)
        #expect(row.id == "a")
        #expect(!row.isDeleted)
        #expect(row.columns.columns.first == "none")
        #expect(row.columns["n"] == .integer(9_007_199_254_740_993))
        #expect(row.columns["max"] == .integer(.max))
        #expect(row.columns["min"] == .integer(.min))
        #expect(row.columns["large"] == Value(number: "9223372036854775808"))
        #expect(row.columns["larger"]?.json == "-1e300")
        #expect(row.columns["text"] == .string("\u{e9}\n\""))
        #expect(row.columns["emoji"] == .string("\u{1F600}"))
        #expect(row.columns["when"] == .string("2026-01-01T00:00:00.000Z"))
        #expect(row.columns["createdAt"] == Timestamp("2026-01-01T01:00:00.1234567+01:00").map { .date($0) })
        #expect(row.columns["updatedAt"] == .string("soon"))
        #expect(row.columns["deleted"] == .bool(false))
        #expect(
            row.columns["list"]
                == .array([
                    .integer(1), .array([try #require(Value(number: "18446744073709551615"))]),
                    .object([.init("a", .object([]))]),
                ]))
        #expect(row.columns["id"] == nil)
        #expect(row.columns.members.count == 19)
    }

    @Test("the last of two members with one name counts")
    func duplicates() {
        #expect(reply(#"{"id":"x","n":1,"id":"a","n":2,"m":3}"#).row?.text == #"a {"n":2,"m":3}"#)
    }

    @Test("a strong tag is the row's version, a weak one says nothing")
    func tags() {
        let body = #"{"id":"a","version":"old","n":1}"#
        #expect(
            reply(body, headers: [.init("etag", #""new""#)]).row?.text == #"a {"version":"new","n":1}"#)
        #expect(reply(body, headers: [.init("ETag", #"W/"1-x""#)]).row?.text == #"a {"version":"old","n":1}"#)
        #expect(reply(#"{"id":"a"}"#, headers: [.init("ETag", #""v""#)]).row?.text == #"a {"version":"v"}"#)
        for (tag, version) in [
            (#""a\"b\\c""#, #"a"b\c"#), (#" "AAAA==" "#, "AAAA=="), ("AAAA==", "AAAA=="), (#""""#, nil), ("", nil),
            (#"W/"x""#, nil), (#""open"#, "open"),
        ] as [(String, String?)] {
            #expect(reply(body, headers: [.init("ETag", tag)]).etag == version)
        }
        #expect(EntityTag.version(EntityTag.text(of: #"\"\\""#)) == #"\"\\""#)
        #expect(EntityTag.version("\"\u{301}x\"") == "\u{301}x")
        #expect(EntityTag.versions("\"\u{301}x") == ["\u{301}x"])
    }

    @Test("a deleted row says so")
    func deleted() {
        #expect(reply(#"{"id":"a","deleted":true}"#).row?.isDeleted == true)
        #expect(reply(#"{"id":"a","deleted":"true"}"#).row?.isDeleted == false)
        #expect(reply(#"{"id":"a"}"#, status: 412).row?.isDeleted == false)
    }

    @Test(
        "a list is read in every shape, in either protocol",
        arguments: [
            (#"[{"id":"a","n":1},{"id":"b","n":2}]"#, nil),
            (#"{"results":[{"id":"a","n":1},{"id":"b","n":2}],"count":9}"#, 9),
            (#"{"items":[{"id":"a","n":1},{"id":"b","n":2}],"count":9,"nextLink":"$skip=2"}"#, 9),
            (
                #" { "count" : null , "more":[{}], "items" : [ { "id" : "a" , "n" : 1 } , { "id" : "b" , "n" : 2 } ] } "#,
                nil
            ),
            ("\u{feff}[{\"id\":\"a\",\"n\":1},{\"id\":\"b\",\"n\":2}]", nil),
        ] as [(String, Int?)])
    func lists(_ text: String, _ count: Int?) throws {
        let list = try #require(reply(text, to: page).list)
        #expect(list.rows.map(\.text) == [#"a {"n":1}"#, #"b {"n":2}"#])
        #expect(list.count == count)
        #expect(list.rows[0].columns.shape === list.rows[1].columns.shape)
    }

    @Test("rows of one list may have different members")
    func mixed() throws {
        let text =
            #"[{"id":"a","n":1},{},{"n":2,"id":"b"},{"id":"c","n":3},{"id":"d","n":4,"m":5},{"id":"e"},{"id":"f"},{"id":"g","n":6,"n":7},{"\u0069d":"h","n":8}]"#
        let list = try #require(reply(text, to: page).list)
        #expect(list.rows.compactMap(\.fault).map(\.place) == [2])
        #expect(
            list.rows.filter { $0.fault == nil }.map(\.text) == [
                #"a {"n":1}"#, #"b {"n":2}"#, #"c {"n":3}"#, #"d {"n":4,"m":5}"#, "e {}", "f {}", #"g {"n":7}"#,
                #"h {"n":8}"#,
            ])
    }

    @Test("empty lists are lists")
    func empty() {
        #expect(reply("[]", to: page).list == ServerList(rows: [], count: nil))
        #expect(reply(#"{"items":[],"count":0}"#, to: page).list == ServerList(rows: [], count: 0))
    }

    @Test(
        "an answer that is not a list is named with its place",
        arguments: [
            ("", "the response is empty"), ("{}", "the object has no list of rows (byte 0)"),
            (#"{"count":1}"#, "the object has no list of rows (byte 0)"),
            (#"{"items":{}}"#, "the rows must be an array (byte 9)"),
            ("3", "a list of rows must be an array or an object (byte 0)"),
            ("<html>", "unexpected byte 0x3c (byte 0)"),
            (#"[{"id":"a"}"#, "the JSON ends too early (byte 11)"),
            (#"[{"id":"a"}]]"#, "there is something after the value (byte 12)"),
            (#"{"items":[],"count":"1"}"#, "the count must be a number of rows (byte 20)"),
            (#"{"items":[],"count":-1}"#, "the count must be a number of rows (byte 20)"),
            (#"[{"id":"a","n":[}]}]"#, "unexpected byte 0x7d (byte 16)"),
            (#"[{"id":"a" "n":1}]"#, "unexpected byte 0x22 (byte 11)"),
            (#"[{"id":"a","n":"x}]"#, "the JSON ends too early (byte 19)"),
        ])
    func noList(_ text: String, _ reason: String) {
        #expect(reply(text, to: page).reason == reason)
    }

    @Test(
        "an element of a list that is not a row has a fault, and the others are read",
        arguments: [
            ("1", "", "the row is not an object"), ("null", "", "the row is not an object"),
            (#"{"id":7}"#, "", "the row has no string as id"), (#"{"id":""}"#, "", "the row has no string as id"),
            ("[[{}]]", "", "the row is not an object"),
            (#"{"id":"a","n":"\ud800"}"#, "a", "an escape in a string is invalid"),
            (#"{"n":"\u","deleted":false,"id":"a"}"#, "a", "an escape in a string is invalid"),
            ("{\"id\":\"a\",\"n\":[\"\u{1}\"]}", "a", "a string contains a control character"),
            (#"{"id":"\ud800"}"#, "", "an escape in a string is invalid"),
        ])
    func faults(_ element: String, _ id: String, _ reason: String) throws {
        let body = #"[{"id":"first","n":1},\#(element),{"id":"last","n":2}]"#
        let list = try #require(reply(body, to: page).list)
        #expect(list.rows.map(\.id) == ["first", id, "last"])
        #expect(list.rows.map(\.fault?.reason) == [nil, reason, nil])
    }

    @Test("a fault keeps the time by which pages are read, and a tombstone has none")
    func faultyTimes() throws {
        let deep = String(repeating: #"{"a":["#, count: 300) + String(repeating: "]}", count: 300)
        let time = #""updatedAt":"2026-01-01T00:00:00.123Z""#
        let body = #"[{"deep":\#(deep),"id":"a",\#(time)},{"id":"b","deep":\#(deep),\#(time),"deleted":true}]"#
        let list = try #require(reply(body, to: page).list)
        #expect(list.rows.map(\.moment) == [1_767_225_600_123, 1_767_225_600_123])
        #expect(list.rows.map(\.isDeleted) == [false, true])
        #expect(list.rows.map { $0.fault == nil } == [false, true])
    }

    @Test(
        "an element that is not a row is named with its place",
        arguments: [
            ("null", "the row is not an object (byte 0)"), ("[]", "the row is not an object (byte 0)"),
            ("{}", "the row has no string as id (byte 0)"), (#"{"id":1}"#, "the row has no string as id (byte 0)"),
            (#"{"id":"a"} x"#, "there is something after the value (byte 11)"),
            (#"{"id":"a""#, "the JSON ends too early (byte 9)"),
        ])
    func noRow(_ text: String, _ reason: String) {
        #expect(reply(text).reason == reason)
    }

    @Test("an error answer to a list is not a list, whatever its body")
    func listErrors() {
        #expect(reply("[]", to: page, status: 500).reason == "the status is not a success")
    }

    @Test("invalid UTF-8 is found in names, strings and on the known path")
    func invalidUTF8() throws {
        let row = Array(#"{"id":"a","t":"x"},"#.utf8)
        let bad = Array(#"{"id":"b","t":""#.utf8) + [0xff] + Array(#""}]"#.utf8)
        for bytes in [[0x5b] + row + bad, [0x5b] + bad] {
            let last = try #require(reply(bytes: bytes, to: page).list?.rows.last)
            #expect(last.id == "b" && last.fault?.reason == "the bytes are not UTF-8")
        }
    }

    @Test("nesting has a bound that the encoding of rows keeps, too")
    func nesting() throws {
        for depth in 120...130 {
            let value = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            let body = #"[{"id":"a","n":0},{"id":"b","n":"# + value + "}]"
            let list = try #require(reply(body, to: page).list)
            #expect((list.rows[1].fault != nil) == (depth > 127))
            if depth > 127 { continue }
            #expect(Value.object(list.rows[1].columns.members).json == #"{"n":"# + value + "}")
        }
    }

    @Test("the clock and the wait are read from the headers")
    func times() {
        let moment = Timestamp("1994-11-06T08:49:37Z")?.instant
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            #expect(reply("", headers: [.init("date", text)]).date == moment)
            #expect(reply("", headers: [.init("Retry-After", text)]).retryAfter == moment.map { .moment($0) })
        }
        #expect(moment.map(HTTPDate.text) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(of: .init(seconds: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(reply("", headers: [.init("Retry-After", " 12 ")]).retryAfter == .milliseconds(12_000))
        #expect(reply("", headers: [.init("Retry-After", "0")]).retryAfter == .milliseconds(0))
        for text in [
            "-1", "soon", "1.5", "", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "06 Nov 1994",
        ] {
            #expect(reply("", headers: [.init("Retry-After", text)]).retryAfter == nil)
        }
        let headers: [HTTPHeader] = [
            .init("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), .init("Retry-After", "Sun, 06 Nov 1994 08:49:40 GMT"),
        ]
        #expect(reply("", headers: headers).retryAfter == .milliseconds(3000))
        #expect(reply("", headers: [.init("Retry-After", "99999999999999999999")]).retryAfter == .milliseconds(.max))
        #expect(reply("", headers: [.init("Retry-After", "99999999999999999")]).retryAfter == .milliseconds(.max))
    }

    @Test(
        "an error's message is found in every shape",
        arguments: [
            (#"{"error":"The item does not exist"}"#, "The item does not exist"), (#"{"description":"no"}"#, "no"),
            (#"{"message":"no","code":3}"#, "no"), (#"{"error":{"code":"x","message":"deep"}}"#, "deep"),
            (#"{"title":"Bad","detail":"very","status":400}"#, "Bad; very"), (#"{"title":"Bad"}"#, "Bad"),
            (
                #"{"title":"One or more","errors":{"text":["is required","is short"],"n":["no"]}}"#,
                "One or more; text: is required; is short; n: no"
            ),
            (#""a json string""#, "a json string"),
            (
                #"[{"memberNames":["title","year"],"errorMessage":"is wrong"},{"errorMessage":"too"}]"#,
                "title; year: is wrong; too"
            ),
            ("You must be logged in", "You must be logged in"), ("  two\n lines\t\n", "two lines"),
            ("<!DOCTYPE html><html><head><Title>Not\nFound</TITLE></head><body>x</body>", "Not Found"),
            (
                "<html><body class=\"a\"><h1>Error</h1><pre>Cannot PUT &lt;it&gt;</pre></body></html>",
                "Error Cannot PUT <it>"
            ),
            ("a\u{1b}[31mred\u{0}", "a\\u{1b}[31mred\\u{0}"), (#"{"error":"a\u202eb"}"#, "a\\u{202e}b"),
            (#"{"Error":"upper"}"#, "upper"),
        ])
    func messages(_ text: String, _ message: String) {
        #expect(reply(text, status: 400).message == message)
    }

    @Test("an error without a message has none, and a long message is cut")
    func noMessages() throws {
        for text in ["", "{}", "[]", "null", "3", "   ", #"{"error":null}"#, #"{"error":""}"#, "<html></html>"] {
            #expect(reply(text, status: 500).message == nil)
        }
        #expect(reply(#"{"id":"a","message":"a column"}"#, status: 409).message == nil)
        #expect(reply("fine", status: 200).message == nil)
        let long = try #require(reply(String(repeating: "ab ", count: 1000), status: 500).message)
        #expect(long.count <= 302 && long.hasSuffix("…"))
        #expect(reply(bytes: [0xff, 0x41], status: 500).message == "\u{fffd}A")
    }

    @Test("a page of changes, with rows that left")
    func changes() {
        func reply(_ body: String, _ status: Int = 200) -> ServerReply {
            var response = HTTPResponse(status: status)
            response.headers = [HTTPHeader("X-Syncline-Capabilities", "batch, Changes ,events")]
            response.body = Array(body.utf8)
            return WireCodec(.zumo2).reply(
                response, to: .changes(ChangesRequest(table: "t", since: "", filter: nil, top: 5)))
        }
        let good = reply(
            #"{"items":[{"id":"a","left":true,"updatedAt":"2026-01-01T00:00:00Z","version":"1","deleted":false},"#
                + #"{"id":"b","version":"2","left":true},{"id":"c","version":"3","deleted":true}],"#
                + #""cursor":"e.3","end":"e.9","hasMore":true,"more":[{}]}"#)
        #expect(good.capabilities == [.batch, .changes, .events])
        guard case .changes(let changes) = good.content else {
            Issue.record("\(good.content)")
            return
        }
        #expect(changes.cursor == "e.3" && changes.hasMore)
        #expect(changes.rows.map(\.hasLeft) == [false, true, false])
        #expect(changes.rows.map(\.isDeleted) == [false, false, true])
        for bad in [
            "", "[]", "{}", #"{"items":[]}"#, #"{"cursor":"x"}"#, #"{"items":[],"cursor":""}"#,
            #"{"items":{},"cursor":"x"}"#, #"{"items":[],"cursor":"x"}x"#, #"{"items":[{},"cursor":"x"}"#,
        ] {
            guard case .unreadable = reply(bad).content else {
                Issue.record("\(bad)")
                continue
            }
        }
        guard case .unreadable = reply(#"{"items":[],"cursor":"x"}"#, 410).content else {
            Issue.record("a refusal is not a page")
            return
        }
    }

    @Test("results of a batch are answers of their own")
    func results() {
        func reply(_ body: String) -> ServerReply {
            var response = HTTPResponse(status: 200)
            response.headers = [
                HTTPHeader("X-Syncline-Capabilities", "batch"), HTTPHeader("Date", "Thu, 01 Jan 2026 00:00:00 GMT"),
            ]
            response.body = Array(body.utf8)
            return WireCodec(.zumo2).reply(response, to: .batch([]))
        }
        let good = reply(
            #"{"results":[{"status":201,"id":"a","version":"1","row":{"id":"a","version":"1"}},"#
                + #"{"status":412,"row":{"id":"b","version":"2"},"error":"no","code":"version-conflict"},"#
                + #"{"status":400,"error":"bad\nvalue","code":"invalid-value"}]}"#)
        guard case .results(let results) = good.content else {
            Issue.record("\(good.content)")
            return
        }
        #expect(results.map(\.status) == [201, 412, 400])
        #expect(results.map(\.message) == [nil, nil, "bad value"])
        #expect(results.allSatisfy { $0.capabilities == .batch && $0.date == good.date && $0.date != nil })
        for bad in ["{}", "[]", #"{"results":{}}"#, #"{"results":[{}]}"#, #"{"results":[{"status":1}]}"#] {
            guard case .unreadable = reply(bad).content else {
                Issue.record("\(bad)")
                continue
            }
        }
    }
}
