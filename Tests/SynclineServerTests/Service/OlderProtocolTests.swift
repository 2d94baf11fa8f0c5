// What clients of the older protocol expect of filters, of parameters, and of deleted rows.

import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct OlderProtocolTests {
    @Test(arguments: TestBackend.stores)
    func `a condition on a deleted row is answered with 412 and the tombstone`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let live = try #require(try desk.ask("POST", "/tables/todoitem", #"{"id":"a","text":"one"}"#).etag)
        let gone = try #require(try desk.ask("DELETE", "/tables/todoitem/a").etag)
        for (method, body, condition, status) in [
            ("PATCH", #"{"text":"x"}"#, live, 412), ("PUT", #"{"text":"x"}"#, live, 412), ("DELETE", nil, live, 412),
            ("DELETE", nil, gone, 412), ("POST", nil, live, 412), ("PATCH", #"{"text":"x"}"#, gone, 409),
            ("DELETE", nil, "*", 412), ("PATCH", #"{"text":"x"}"#, nil, 409), ("DELETE", nil, nil, 409),
        ] {
            let answer = try desk.ask(method, "/tables/todoitem/a", body, condition.map { ["If-Match": $0] } ?? [:])
            #expect(answer.status == status, "\(method) \(condition ?? "")")
            #expect(answer.json["deleted"] == .bool(true) && answer.etag == gone, "\(method) \(condition ?? "")")
        }
        // The newer protocol has a status of its own for it.
        #expect(try desk.ask("PATCH", "/tables/todoitem/a", "{}", ["If-Match": live], new: true).status == 410)
        #expect(try desk.ask("DELETE", "/tables/todoitem/a", nil, ["If-Match": gone], new: true).status == 410)
    }

    @Test(arguments: [
        "$select=,", "$select=id,,n", "$select=*,n", "$select=n%20desc", "$select=1", "$select='n'", "$select=n%00",
        "$inlinecount=all", "$inlinecount=true", "$inlinecount=", "$inlinecount=allpages,none",
    ])
    func `a selection or a count that makes no sense is refused`(_ query: String) throws {
        let desk = try ServiceDesk()
        let answer = try desk.ask("GET", "/tables/todoitem?\(query)")
        #expect(answer.status == 400 && answer.json["code"]?.string?.hasPrefix("invalid-") == true, "\(answer.text)")
    }

    @Test func `a selection or a count that makes sense is answered`() throws {
        let desk = try ServiceDesk()
        for query in [
            "$select=", "$select=*", "$select=id,%20text", "$select=ID,later,deleted", "$inlinecount=none",
            "$inlinecount=AllPages",
        ] {
            #expect(try desk.ask("GET", "/tables/todoitem?\(query)").status == 200, "\(query)")
        }
        #expect(try desk.ask("GET", "/tables/todoitem?$count=perhaps", new: true).status == 400)
        #expect(try desk.ask("GET", "/tables/todoitem?$count=True", new: true).status == 200)
    }

    @Test(arguments: TestBackend.stores)
    func `a date needs no seconds`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        for (id, date) in [
            ("a", "2026-01-01T12:30Z"), ("b", "2026-01-01T12:30:00.001Z"), ("c", "2026-01-01T14:30+02:00"),
        ] {
            #expect(try desk.ask("POST", "/tables/fixed", #"{"id":"\#(id)","d":"\#(date)"}"#).status == 201, "\(date)")
        }
        #expect(try desk.ask("GET", "/tables/fixed/a").json["d"] == .string("2026-01-01T12:30:00.000Z"))
        for (filter, ids) in [
            ("d eq datetime'2026-01-01T12:30Z'", "ac"), ("d eq datetime'2026-01-01T12:30'", "ac"),
            ("d gt datetimeoffset'2026-01-01T13:30+01:00'", "b"),
            ("d le cast(2026-01-01T12:30Z,Edm.DateTimeOffset)", "ac"),
        ] {
            let answer = try desk.ask("GET", "/tables/fixed?$filter=\(filter.encoded)")
            #expect(answer.ids.joined() == ids, "\(filter): \(answer.text)")
        }
        for date in ["2026-01-01T12Z", "2026-01-01T12:3Z", "2026-01-01T12:30:Z", "2026-01-01T25:30Z", "2026-01-01T:Z"] {
            #expect(try desk.ask("POST", "/tables/fixed", #"{"d":"\#(date)"}"#).status == 400, "\(date)")
            let filter = "d eq datetime'\(date)'".encoded
            #expect(try desk.ask("GET", "/tables/fixed?$filter=\(filter)").status == 400, "\(date)")
        }
    }

    @Test(arguments: TestBackend.stores)
    func `numbers are divided alike, however a row was sent`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        for (id, number) in [("a", "25"), ("b", "25.0"), ("c", "20"), ("d", "-25")] {
            #expect(try desk.ask("POST", "/tables/fixed", #"{"id":"\#(id)","n":\#(number)}"#).status == 201)
        }
        for (filter, ids) in [
            ("n div 10 eq 2.5", "ab"), ("n div 10 eq 2", "c"), ("n div 10 eq -2.5", "d"), ("n div 10 gt 2", "ab"),
            ("n mod 10 eq 5", "ab"), ("not (n div 10 eq 2)", "abd"), ("7 div 2 eq 3.5 and n gt 24", "ab"),
            ("n div 0 eq 1", ""), ("n div 10 mul 4 eq 10", "ab"),
        ] {
            let answer = try desk.ask("GET", "/tables/fixed?$filter=\(filter.encoded)")
            #expect(answer.ids.joined() == ids, "\(filter): \(answer.text)")
            let changes = try desk.ask("GET", "/tables/fixed/changes?since=&$filter=\(filter.encoded)")
            #expect(changes.ids.joined() == ids, "\(filter): \(changes.text)")
        }
        // The newer protocol truncates whole numbers, as its servers do.
        let cut = try desk.ask("GET", "/tables/fixed?$filter=\("n div 10 eq 2".encoded)", new: true)
        #expect(cut.ids.joined() == "ac")
    }

    @Test(arguments: TestBackend.stores)
    func `a filter of the maximum configured depth is answered`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, more: #","limits":{"filterDepth":200,"urlBytes":1048576}"#)
        for (id, flag) in [("a", "true"), ("b", "false"), ("c", "null")] {
            _ = try desk.ask("POST", "/tables/fixed", #"{"id":"\#(id)","b":\#(flag),"n":1}"#)
        }
        func nested(_ depth: Int, _ open: (Int) -> String, _ close: (Int) -> String) -> String {
            (0..<depth).map(open).joined() + "b" + (0..<depth).reversed().map(close).joined()
        }
        for depth in [1, 30, 60, 99] {
            let filters = [
                nested(depth * 2, { _ in "(" }, { $0 % 2 == 0 ? " and b)" : " or b)" }),
                nested(depth * 2, { $0 % 2 == 0 ? "(b and " : "(b or " }, { _ in ")" }),
                nested(depth / 2 * 2, { _ in "not (" }, { _ in ")" }),
                nested(depth / 4 * 2, { $0 % 2 == 0 ? "(b and not (" : "(b or not (" }, { _ in "))" }) + " or b",
                nested(depth, { $0 % 2 == 0 ? "(n eq 1 and " : "(n eq 2 or " }, { _ in ")" }),
            ]
            for filter in filters {
                let answer = try desk.ask("GET", "/tables/fixed?$filter=\(filter.encoded)&$inlinecount=allpages")
                #expect(
                    answer.status == 200 && answer.json["results"]?[0]?["id"] == .string("a"),
                    "\(filter) \(answer.text)")
            }
        }
        // Long ones have no depth, and more values than a statement may have.
        let long = (0..<8_000).map { "n eq \($0)" }.joined(separator: " or ")
        #expect(try desk.ask("GET", "/tables/fixed?$filter=\(long.encoded)").ids.joined() == "abc")
        let choices = "n in (\((0..<33_000).map(String.init).joined(separator: ",")))"
        #expect(try desk.ask("GET", "/tables/fixed?$filter=\(choices.encoded)").ids.joined() == "abc")
    }
}
