// What this server adds: batches, operation ids, and the changes of a table in commit order.

import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct BatchTests {
    private func statuses(_ answer: HTTPResponse) -> [Int64] {
        guard case .array(let results)? = answer.json["results"] else { return [] }
        return results.map { result in
            guard case .integer(let status)? = result["status"] else { return 0 }
            return status
        }
    }

    @Test(arguments: TestBackend.stores)
    func `each operation of a batch has its own result`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let operations = #"""
            {"operation":"insert","table":"todoitem","item":{"id":"a","text":"one"}},
            {"operation":"insert","table":"todoitem","item":{"id":"a","text":"again"}},
            {"operation":"update","table":"TODOITEM","id":"a","item":{"text":"two"},"ifMatch":"AAABAAAAAAE="},
            {"operation":"update","table":"todoitem","id":"a","item":{"text":"no"},"ifMatch":"AAABAAAAAAE="},
            {"operation":"insert","table":"hard","id":"h","item":{"text":"x"}},
            {"operation":"delete","table":"hard","id":"h"},
            {"operation":"delete","table":"nope","id":"h"},
            {"operation":"insert","table":"readonly","item":{}},
            {"operation":"insert","table":"secure","item":{}},
            {"operation":"insert","table":"fixed","item":{"n":"x"}}
            """#
        let answer = try desk.ask("POST", "/tables/$batch", #"{"operations":[\#(operations)]}"#)
        #expect(answer.status == 200)
        #expect(statuses(answer) == [201, 409, 200, 412, 201, 200, 404, 405, 401, 400])
        #expect(answer.json["results"]?[3]?["row"]?["text"] == .string("two"))
        #expect(answer.json["results"]?[3]?["code"] == .string("version-conflict"))
        #expect(try desk.ask("GET", "/tables/todoitem/a").json["text"] == .string("two"))

        let short = try desk.ask(
            "POST", "/tables/$batch",
            #"{"rows":false,"operations":[{"operation":"insert","table":"todoitem","item":{"id":"s"}}]}"#)
        #expect(short.text == #"{"results":[{"status":201,"id":"s","version":"AAABAAAAAAg="}]}"#)
    }

    @Test(arguments: TestBackend.stores)
    func `a group is carried out completely or not at all, and a batch may stop`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let operations = #"""
            {"operation":"insert","table":"todoitem","item":{"id":"a","fresh":1},"group":"g"},
            {"operation":"delete","table":"todoitem","id":"missing","group":"g"},
            {"operation":"insert","table":"todoitem","item":{"id":"b"},"group":"g"},
            {"operation":"insert","table":"todoitem","item":{"id":"c"}},
            {"operation":"insert","table":"todoitem","item":{"id":"d"},"group":"h"},
            {"operation":"update","table":"todoitem","id":"d","item":{"text":"x","fresh":2},"group":"h"}
            """#
        let going = try desk.ask("POST", "/tables/$batch", #"{"operations":[\#(operations)]}"#)
        #expect(statuses(going) == [424, 404, 424, 201, 201, 200])
        #expect(try desk.ask("GET", "/tables/todoitem").ids == ["c", "d"])
        #expect(try desk.ask("GET", "/tables/todoitem/d").json["fresh"] == .integer(2))

        let stopping = operations.replacing(#""id":"c""#, with: #""id":"e""#).replacing(
            #""id":"d""#, with: #""id":"f""#)
        let stopped = try desk.ask("POST", "/tables/$batch", #"{"onRefusal":"stop","operations":[\#(stopping)]}"#)
        #expect(statuses(stopped) == [424, 404, 424, 424, 424, 424])
        #expect(try desk.ask("GET", "/tables/todoitem").ids == ["c", "d"])
    }

    @Test func `a body that is not a batch is refused`() throws {
        let desk = try ServiceDesk()
        for body in [
            "", "[]", #"{"operations":{}}"#, #"{"operations":[1]}"#, #"{"operations":[{}]}"#, #"{"operation":[]}"#,
            #"{"operations":[{"operation":"destroy","table":"todoitem"}]}"#,
            #"{"operations":[{"operation":"delete","table":"todoitem"}]}"#, #"{"onRefusal":"panic","operations":[]}"#,
            #"{"operations":[{"operation":"insert","table":"todoitem","id":"x","item":{"id":"y"}}]}"#,
        ] {
            let answer = try desk.ask("POST", "/tables/$batch", body)
            #expect(answer.status == 400 && answer.json["error"]?.string != nil, "\(body)")
        }
        #expect(try desk.ask("POST", "/tables/$batch", #"{"operations":[]}"#).text == #"{"results":[]}"#)
    }

    @Test(arguments: TestBackend.available)
    func `T21: a repeated operation has its first answer and no second effect`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        func send(_ method: String, _ path: String, _ body: String?, _ id: String, new: Bool = false) throws
            -> HTTPResponse
        {
            try desk.ask(method, path, body, [WireHeader.operationID: id], new: new)
        }
        let first = try send("POST", "/tables/todoitem", #"{"text":"one"}"#, "o1")
        #expect(first.status == 201)
        _ = try desk.ask("PATCH", "/tables/todoitem/\(first.json["id"]?.string ?? "")", #"{"text":"two"}"#)
        let again = try send("POST", "/tables/todoitem", #"{"text":"one"}"#, "o1")
        #expect(again.status == 201 && again.text == first.text && again.etag == first.etag)
        #expect(try desk.ask("GET", "/tables/todoitem").ids.count == 1)

        _ = try desk.ask("POST", "/tables/hard", #"{"id":"h","text":"x"}"#)
        let deleted = try send("DELETE", "/tables/hard/h", nil, "o2")
        #expect(deleted.status == 200)
        #expect(try send("DELETE", "/tables/hard/h", nil, "o2").text == deleted.text)
        #expect(try send("DELETE", "/tables/hard/h", nil, "o2", new: true).status == 204)
        #expect(try send("DELETE", "/tables/hard/h", nil, "o3").status == 404, "a refused operation is judged again")
        #expect(try send("PATCH", "/tables/todoitem/x", #"{"text":"x"}"#, "o2").status == 422)

        desk.environment.set(now: desk.environment.now() + 90_000_000)
        try desk.store.purge(tombstonesBefore: nil)
        #expect(try send("DELETE", "/tables/hard/h", nil, "o2").status == 404, "after a day it is forgotten")
    }
}

@Suite struct ChangeTests {
    @Test(arguments: TestBackend.stores)
    func `T13, T14: changes come in the order of their commits, with tombstones, page by page`(
        _ backend: TestBackend
    ) throws {
        let desk = try ServiceDesk(backend)
        for table in ["todoitem", "hard"] {
            for id in ["a", "b", "c"] { _ = try desk.ask("POST", "/tables/\(table)", #"{"id":"\#(id)"}"#) }
            _ = try desk.ask("PATCH", "/tables/\(table)/a", #"{"text":"x"}"#)
            _ = try desk.ask("DELETE", "/tables/\(table)/b")
            var since = ""
            var ids: [String] = []
            for _ in 0..<5 {
                let page = try desk.ask("GET", "/tables/\(table)/changes?since=\(since)&$top=2")
                #expect(page.status == 200)
                ids += page.ids
                since = try #require(page.json["cursor"]?.string)
                if page.json["hasMore"] == .bool(false) { break }
            }
            #expect(ids == ["c", "a", "b"])
            let quiet = try desk.ask("GET", "/tables/\(table)/changes?since=\(since)")
            #expect(quiet.ids == [] && quiet.json["cursor"] == quiet.json["end"])
            _ = try desk.ask("POST", "/tables/\(table)", #"{"id":"d"}"#)
            #expect(try desk.ask("GET", "/tables/\(table)/changes?since=\(since)").ids == ["d"])
        }
        let all = try desk.ask("GET", "/tables/hard/changes?since=0")
        #expect(all.json["items"]?[2]?["deleted"] == .bool(true))
    }

    @Test(arguments: TestBackend.stores)
    func `the number of changes after a cursor is returned on request`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        for table in ["todoitem", "hard"] {
            for id in ["a", "b", "c"] { _ = try desk.ask("POST", "/tables/\(table)", #"{"id":"\#(id)"}"#) }
            _ = try desk.ask("DELETE", "/tables/\(table)/b")
            let first = try desk.ask("GET", "/tables/\(table)/changes?since=&$top=2&$count=true")
            #expect(first.ids.count == 2 && first.json["count"] == .integer(3))
            let since = try #require(first.json["cursor"]?.string)
            let rest = try desk.ask("GET", "/tables/\(table)/changes?since=\(since)&$count=true")
            #expect(rest.ids.count == 1 && rest.json["count"] == .integer(1))
            let mark = try #require(rest.json["end"]?.string)
            _ = try desk.ask("POST", "/tables/\(table)", #"{"id":"d"}"#)
            let bounded = "/tables/\(table)/changes?since=&until=\(mark)&$top=1"
            #expect(try desk.ask("GET", bounded + "&$count=true").json["count"] == .integer(3))
            #expect(try desk.ask("GET", bounded).json["count"] == nil)
        }
    }

    @Test func `N20, T20: a mark holds several tables together`() throws {
        let desk = try ServiceDesk()
        _ = try desk.ask("POST", "/tables/todoitem", #"{"id":"parent"}"#)
        let end = try #require(try desk.ask("GET", "/tables/todoitem/changes?since=").json["end"]?.string)
        _ = try desk.ask("POST", "/tables/hard", #"{"id":"child"}"#)
        let bounded = try desk.ask("GET", "/tables/hard/changes?since=&until=\(end)")
        #expect(bounded.ids == [] && bounded.json["cursor"] == .string(end))
        #expect(try desk.ask("GET", "/tables/hard/changes?since=\(end)").ids == ["child"])
    }

    @Test func `T16: a row that leaves a filter is reported as having left`() throws {
        let desk = try ServiceDesk()
        _ = try desk.ask("POST", "/tables/todoitem", #"{"id":"a","complete":false}"#)
        let filter = "complete eq false".encoded
        let first = try desk.ask("GET", "/tables/todoitem/changes?since=&$filter=\(filter)")
        #expect(first.json["items"]?[0]?["complete"] == .bool(false))
        _ = try desk.ask("PATCH", "/tables/todoitem/a", #"{"complete":true}"#)
        let since = first.json["cursor"]?.string ?? ""
        let second = try desk.ask("GET", "/tables/todoitem/changes?since=\(since)&$filter=\(filter)")
        #expect(second.json["items"]?.json == #"[{"id":"a","version":"AAABAAAAAAI=","left":true}]"#)
    }

    @Test func `a row may be called changes`() throws {
        let desk = try ServiceDesk()
        _ = try desk.ask("POST", "/tables/todoitem", #"{"id":"changes","text":"a row"}"#)
        #expect(try desk.ask("GET", "/tables/todoitem/changes").json["text"] == .string("a row"))
    }

    @Test(arguments: TestBackend.available)
    func `T15, T18: a cursor that can't be answered is refused`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        for table in ["todoitem", "hard"] {
            _ = try desk.ask("POST", "/tables/\(table)", #"{"id":"a"}"#)
            _ = try desk.ask("POST", "/tables/\(table)", #"{"id":"b"}"#)
        }
        let before = try #require(try desk.ask("GET", "/tables/hard/changes?since=").json["cursor"]?.string)
        for table in ["todoitem", "hard"] { _ = try desk.ask("DELETE", "/tables/\(table)/a") }
        let after = try #require(try desk.ask("GET", "/tables/hard/changes?since=").json["cursor"]?.string)
        try desk.store.purge(tombstonesBefore: desk.environment.now() + 1_000_000)
        func answer(_ cursor: String) throws -> HTTPResponse {
            try desk.ask("GET", "/tables/hard/changes?since=\(cursor.encoded)")
        }
        #expect(try answer(before).status == 410 && answer(before).json["code"] == .string("purged"))
        #expect(try answer(after).status == 200)
        #expect(try answer("").ids == ["b"], "from the beginning on there is nothing to miss")
        #expect(try desk.ask("GET", "/tables/todoitem?__includeDeleted=true").ids == ["b"])
        // A first read continues, although its pages begin before what was purged.
        _ = try desk.ask("POST", "/tables/hard", #"{"id":"c"}"#)
        let page = try desk.ask("GET", "/tables/hard/changes?since=&$top=1")
        #expect(page.ids == ["b"] && page.json["hasMore"] == .bool(true))
        let next = try answer(page.json["cursor"]?.string ?? "")
        #expect(next.ids == ["c"] && next.json["cursor"] == next.json["end"])
        #expect(try answer("ffff.1").json["code"] == .string("other-epoch"))
        let epoch = before.split(separator: ".")[0]
        #expect(
            try answer("\(epoch).\(Int64.max)").json["code"] == .string("other-epoch"),
            "ahead of the server: it was set back")
        for text in ["nonsense", "\(epoch).-1", "\(epoch).1.x", "\(epoch).1.1.", "\(epoch).1.x.a"] {
            #expect(try answer(text).status == 400)
        }
    }

    @Test func `T18: a new epoch makes all clients read everything again`() throws {
        let (database, keeper) = try TestBackend.sqlite.database()
        let settings = try configuration(#"{"tables":{"t":{}}}"#)
        let environment = StillEnvironment()
        func epoch(renewed: Bool) throws -> String {
            try SQLStore(database, settings.tables, environment, renewsEpoch: renewed).mark().epoch
        }
        let first = try epoch(renewed: false)
        #expect(try epoch(renewed: false) == first)
        #expect(try epoch(renewed: true) != first)
        let mark = try SQLStore(database, settings.tables, environment).mark()
        #expect(mark.change >= 1 << 40, "no number of before is given again")
        withExtendedLifetime(keeper) {}
    }

    @Test func `T7: times of changes never run backwards, whatever the clock does`() throws {
        let desk = try ServiceDesk()
        let first = try desk.ask("POST", "/tables/todoitem", #"{"id":"a"}"#)
        desk.environment.set(now: 1_000_000_000)
        let second = try desk.ask("POST", "/tables/todoitem", #"{"id":"b"}"#)
        let times = [first, second].compactMap { $0.json["updatedAt"]?.string }
        #expect(times.count == 2 && times[0] < times[1])
    }
}
