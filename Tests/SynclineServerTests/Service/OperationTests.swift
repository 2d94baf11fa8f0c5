// The response to each operation, in either protocol.

import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite struct OperationTests {
    @Test(arguments: TestBackend.stores)
    func `an old client inserts, reads, updates, deletes and restores`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let row = #""createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.00"#
        let inserted = try desk.ask("POST", "/tables/todoitem", #"{"id":"a","text":"one","n":9007199254740993}"#)
        #expect(inserted.status == 201 && inserted.etag == "\"AAABAAAAAAE=\"")
        #expect(
            inserted.text == #"{"id":"a","text":"one","complete":null,"n":9007199254740993,"# + row
                + #"0Z","version":"AAABAAAAAAE=","deleted":false}"#)
        #expect(try desk.ask("GET", "/tables/todoitem/a").text == inserted.text)

        let updated = try desk.ask("PATCH", "/tables/todoitem/a", #"{"text":"two"}"#, ["If-Match": inserted.etag ?? ""])
        #expect(updated.status == 200 && updated.json["text"] == .string("two"))
        #expect(updated.json["updatedAt"] == .string("2026-01-01T00:00:00.001Z"), "time never stands still")
        #expect(updated.json["createdAt"] == inserted.json["createdAt"])

        let deleted = try desk.ask("DELETE", "/tables/todoitem/a")
        #expect(deleted.status == 200 && deleted.json["deleted"] == .bool(true))
        #expect(try desk.ask("GET", "/tables/todoitem/a").status == 404)
        #expect(try desk.ask("GET", "/tables/todoitem").ids == [])
        #expect(try desk.ask("GET", "/tables/todoitem?__includeDeleted=true").ids == ["a"])
        #expect(try desk.ask("GET", "/tables/todoitem?__includeDeleted=false").ids == [])
        let again = try desk.ask("DELETE", "/tables/todoitem/a")
        #expect(again.status == 409 && again.json["deleted"] == .bool(true))
        #expect(try desk.ask("PATCH", "/tables/todoitem/a", #"{"text":"x"}"#).status == 409)
        let back = try desk.ask("POST", "/tables/todoitem/a")
        #expect(back.status == 201 && back.json["deleted"] == .bool(false) && back.json["text"] == .string("two"))
    }

    @Test(arguments: TestBackend.stores)
    func `a new client inserts, reads, replaces, deletes and restores`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let inserted = try desk.ask(
            "POST", "/tables/todoitem", #"{"id":"a","text":"one","updatedAt":null,"version":"x","deleted":false}"#,
            new: true)
        #expect(inserted.status == 201 && inserted.json["createdAt"] == nil)
        #expect(inserted.headers.value("Location") == "http://server:8080/tables/todoitem/a")
        #expect(inserted.headers.value("Last-Modified") == "Thu, 01 Jan 2026 00:00:00 GMT")

        let replaced = try desk.ask("PUT", "/tables/todoitem/a", #"{"id":"a","complete":true}"#, new: true)
        #expect(replaced.status == 200 && replaced.json["text"] == .null && replaced.json["complete"] == .bool(true))
        #expect(
            try desk.ask("PATCH", "/tables/todoitem/a", #"{"text":"m"}"#, new: true).json["complete"] == .bool(true))

        let deleted = try desk.ask("DELETE", "/tables/todoitem/a", new: true)
        #expect(deleted.status == 204 && deleted.body.isEmpty)
        #expect(try desk.ask("GET", "/tables/todoitem/a", new: true).status == 410)
        #expect(try desk.ask("GET", "/tables/todoitem/a?__INCLUDEDELETED=TRUE", new: true).status == 200)
        #expect(try desk.ask("DELETE", "/tables/todoitem/a", new: true).status == 410)
        #expect(try desk.ask("PUT", "/tables/todoitem/a", #"{"id":"a"}"#, new: true).status == 410)
        let back = try desk.ask(
            "PUT", "/tables/todoitem/a?__includedeleted=true", #"{"id":"a","deleted":false,"text":"b"}"#, new: true)
        #expect(back.status == 200 && back.json["deleted"] == .bool(false))
        _ = try desk.ask("DELETE", "/tables/todoitem/a", new: true)
        #expect(try desk.ask("PATCH", "/tables/todoitem/a", #"{"deleted":false}"#, new: true).status == 200)
    }

    @Test(arguments: TestBackend.stores)
    func `a conflict returns the server's row and its tag`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let first = try desk.ask("POST", "/tables/todoitem", #"{"id":"a","text":"one"}"#)
        for new in [false, true] {
            let duplicate = try desk.ask("POST", "/tables/todoitem", #"{"id":"a","text":"mine"}"#, new: new)
            #expect(duplicate.status == 409 && duplicate.etag == first.etag && duplicate.json["text"] == .string("one"))
            for (method, body) in [("PATCH", #"{"text":"x"}"#), ("PUT", #"{"text":"x"}"#), ("DELETE", nil)] {
                let stale = try desk.ask(method, "/tables/todoitem/a", body, ["If-Match": "\"AAAAAAAAAAk=\""], new: new)
                #expect(stale.status == 412 && stale.etag == first.etag && stale.json["text"] == .string("one"))
            }
        }
        let old = try desk.ask("PATCH", "/tables/todoitem/a", #"{"text":"x","version":"AAAAAAAAAAk="}"#)
        #expect(old.status == 409 && old.json["text"] == .string("one"))
        #expect(
            try desk.ask("PUT", "/tables/todoitem/a", #"{"text":"x","version":"AAAAAAAAAAk="}"#, new: true).status
                == 200)
    }

    @Test func `conditions are read as HTTP has them, and never dropped`() throws {
        let desk = try ServiceDesk()
        let tag = try #require(try desk.ask("POST", "/tables/todoitem", #"{"id":"a"}"#).etag)
        func status(_ condition: String) throws -> Int {
            // A condition that held has made another version.
            let current = try #require(try desk.ask("GET", "/tables/todoitem/a").etag)
            let text = condition.replacing("NOW", with: current)
            return try desk.ask("PATCH", "/tables/todoitem/a", #"{"text":"x"}"#, ["If-Match": text]).status
        }
        #expect(try status("*") == 200)
        #expect(try status("\"x\", NOW") == 200)
        #expect(try status(tag) == 412)
        #expect(try status("W/NOW") == 412)
        #expect(try status("\"\"") == 412)
        #expect(try status("\"open") == 400)
        #expect(try status("a b") == 400)
        #expect(try desk.ask("PATCH", "/tables/todoitem/zz", #"{"text":"x"}"#, ["If-Match": "*"]).status == 404)

        let current = try #require(try desk.ask("GET", "/tables/todoitem/a").etag)
        let weak = ["If-None-Match": "\"x\", W/\(current)"]
        #expect(try desk.ask("GET", "/tables/todoitem/a", nil, weak, new: true).status == 304)
        let unchanged = try desk.ask("GET", "/tables/todoitem/a", nil, ["If-None-Match": current], new: true)
        #expect(unchanged.status == 304 && unchanged.body.isEmpty && unchanged.etag == current)
        let since = ["If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"]
        #expect(try desk.ask("GET", "/tables/todoitem/a", nil, since, new: true).status == 304)
        #expect(try desk.ask("GET", "/tables/todoitem/a", nil, since).status == 200)
        let before = ["If-Unmodified-Since": "Wed, 31 Dec 2025 23:59:59 GMT"]
        #expect(try desk.ask("DELETE", "/tables/todoitem/a", nil, before, new: true).status == 412)
    }

    @Test func `an invalid item is refused with a code`() throws {
        let desk = try ServiceDesk()
        func code(_ body: String, _ table: String = "fixed", new: Bool = false) throws -> String {
            let answer = try desk.ask("POST", "/tables/\(table)", body, new: new)
            #expect((400...499).contains(answer.status) && answer.json["error"]?.string != nil)
            return answer.json["code"]?.string ?? ""
        }
        #expect(try code(#"{"id":"a/b"}"#) == "invalid-id")
        #expect(try code(#"{"id":"\#(String(repeating: "x", count: 256))"}"#) == "invalid-id")
        #expect(try code(#"{"id":7}"#) == "invalid-id")
        #expect(try code(#"{"n":"seven"}"#) == "invalid-value")
        #expect(try code(#"{"text":7}"#) == "invalid-value")
        #expect(try code(#"{"text":"a\u0000b"}"#) == "invalid-value")
        #expect(try code(#"{"text":"\ud800"}"#) == "invalid-json")
        #expect(try code(#"{"n":1e999}"#) == "invalid-value")
        #expect(try code(#"{"n":NaN}"#) == "invalid-json")
        #expect(try code(#"{"d":"tomorrow"}"#) == "invalid-value")
        #expect(try code(#"{"d":"0000-01-01T00:00:00Z"}"#) == "invalid-value")
        #expect(try code(#"{"nope":1}"#) == "unknown-column")
        #expect(try code(#"{"deleted":true}"#) == "reserved-column")
        #expect(try code(#"{"UPDATEDAT":null}"#) == "reserved-column")
        #expect(try code("[1]") == "invalid-json")
        #expect(try code("") == "missing-item")
        #expect(try code(#"{"x y":1}"#, "todoitem") == "invalid-column")
        #expect(try code(#"{"Text":"x"}"#, "todoitem") == "invalid-column")
        #expect(try code(#"{"fresh":1,"Fresh":2}"#, "todoitem") == "invalid-column", "the same for two new ones")
        #expect(try code(#"{"syncline_state":1}"#, "todoitem") == "invalid-column")
        #expect(try code(#"{"a\"; DROP TABLE todoitem; --":1}"#, "todoitem") == "invalid-column")
    }

    @Test func `records of another program are shown as far as possible`() throws {
        let desk = try ServiceDesk()
        _ = try desk.ask("POST", "/tables/fixed", #"{"id":"a","text":"x","d":"2026-01-01T00:00:00Z","j":[1]}"#)
        try desk.store.database.write { connection throws(StoreFailure) in
            try connection.execute(
                #"UPDATE "fixed" SET "text" = CAST(x'41ff42' AS TEXT), "d" = 'some day', "j" = '{"k":'"#)
        }
        let row = try desk.ask("GET", "/tables/fixed/a")
        #expect(row.json["text"] == .string("A\u{fffd}B"), "it is not valid UTF-8")
        #expect(row.json["d"] == .string("some day") && row.json["j"] == .string(#"{"k":"#))
        #expect(try desk.ask("GET", "/tables/fixed").ids == ["a"])
    }

    @Test(arguments: TestBackend.available)
    func `an insert whose number another program took is refused, never lost`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        _ = try desk.ask("POST", "/tables/fixed", #"{"id":"a"}"#)
        func change(_ statement: String) throws {
            try desk.store.database.write { connection throws(StoreFailure) in try connection.execute(statement) }
        }
        let isLine = desk.store.numbers == .line
        let next = isLine ? #""change" + 1 FROM "syncline_state""# : #"last_value + 1 FROM "syncline_changes""#
        try change(#"UPDATE "fixed" SET "version" = (SELECT \#(next))"#)
        let refused = try desk.ask("POST", "/tables/fixed", #"{"id":"b"}"#)
        // A repeat takes the next number of a sequence.
        if !isLine { return #expect(refused.status == 201) }
        #expect(refused.status == 409 && refused.json["code"] == .string("constraint"))
        #expect(try desk.ask("GET", "/tables/fixed/b").status == 404)
        try change(#"UPDATE "syncline_state" SET "change" = "change" + 1"#)
        #expect(try desk.ask("POST", "/tables/fixed", #"{"id":"b"}"#).status == 201)
        #expect(try desk.ask("GET", "/tables/fixed").ids == ["a", "b"])
    }

    @Test(arguments: TestBackend.stores)
    func `values survive a round trip`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let item = """
            {"id":"v","text":"Ünï\\u2028 %_'\\"","n":-9223372036854775808,"d":"2026-05-19T23:30:00.1234+02:00","b":false,\
            "j":{"a":[1,2.5,null],"b":{"c":"d"}}}
            """
        let answer = try desk.ask("POST", "/tables/fixed", item)
        #expect(answer.status == 201)
        let row = try desk.ask("GET", "/tables/fixed/v").json
        #expect(row["text"] == .string("Ünï\u{2028} %_'\""))
        #expect(row["n"] == .integer(.min))
        #expect(row["d"] == .string("2026-05-19T21:30:00.1234Z"))
        #expect(row["b"] == .bool(false))
        #expect(row["j"]?.json == #"{"a":[1,2.5,null],"b":{"c":"d"}}"#)
        for number in [
            "1.0", "0.1", "1e+300", "-2.5e-08", "5e-324", "1.7976931348623157e+308", "1e+18", "123456789012.5",
        ] {
            let double = try #require(Double(number))
            let answer = try desk.ask("PATCH", "/tables/fixed/v", #"{"n":\#(number)}"#)
            #expect(answer.json["n"] == .double(double), "\(number)")
        }
    }

    @Test func `a server creates ids in the form of the protocol`() throws {
        let desk = try ServiceDesk()
        let old = try #require(try desk.ask("POST", "/tables/todoitem", "{}").json["id"]?.string)
        let new = try #require(try desk.ask("POST", "/tables/todoitem", #"{"id":""}"#, new: true).json["id"]?.string)
        #expect(old.count == 36 && old.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        #expect(new.count == 32 && new.allSatisfy(\.isHexDigit))
    }

    @Test func `unknown paths, methods and versions are refused with a reason`() throws {
        let desk = try ServiceDesk()
        for path in ["/", "/tables", "/tables/nope", "/tables/todoitem/a/b", "/tables/..%2f", "/tables/syncline_state"]
        {
            let answer = try desk.ask("GET", path)
            #expect(answer.status == 404 && answer.json["code"]?.string != nil, "\(path)")
        }
        let wrong = try desk.ask("PUT", "/tables/todoitem", "{}")
        #expect(wrong.status == 405 && wrong.headers.value("Allow") == "GET, HEAD, POST, PATCH, OPTIONS")
        #expect(try desk.ask("BREW", "/tables/todoitem").status == 405)
        #expect(try desk.ask("HEAD", "/tables/todoitem").status == 200)
        #expect(try desk.ask("GET", "/tables/TodoItem").status == 200)
        for version in ["1.0", "2", "2.1", "4.0.0", "x"] {
            #expect(try desk.ask("GET", "/tables/todoitem", nil, ["ZUMO-API-VERSION": version]).status == 400)
        }
        #expect(try desk.ask("GET", "/tables/todoitem?zumo-api-version=3.0").text.hasPrefix(#"{"items""#))
        #expect(
            try desk.ask("GET", "/tables/todoitem").headers.value(WireHeader.capabilities)?.contains("batch") == true)
    }

    @Test(arguments: TestBackend.stores)
    func `a write that changes nothing uses no number`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let headers = [WireHeader.operationID: "o1"]
        #expect(try desk.ask("POST", "/tables/todoitem", #"{"id":"a"}"#, headers).status == 201)
        let mark = try desk.tables.mark()
        #expect(try desk.ask("POST", "/tables/todoitem", #"{"id":"a"}"#, headers).status == 201)
        #expect(try desk.ask("POST", "/tables/todoitem", #"{"id":"a"}"#).status == 409)
        // A sequence gives numbers that are not used.
        if (desk.tables as? SQLStore)?.numbers != .ticks { #expect(try desk.tables.mark() == mark) }
        #expect(try desk.tables.changes(ChangePlan(table: "todoitem", since: mark.change, limit: 9)).changes.isEmpty)
    }
}
