// Lists: filters, orders, windows, and pages whose links continue.

import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ListTests {
    private func desk(_ backend: TestBackend, rows: [String], pageSize: Int = 50) throws -> ServiceDesk {
        let tables = #"""
            {"t":{"columns":{"s":"string","n":"number","b":"boolean","d":"date","j":"json"}},
            "f":{"dynamicSchema":false,"columns":{"n":"number"}}}
            """#
        let desk = try ServiceDesk(backend, tables: tables, pageSize: pageSize)
        for row in rows { #expect(try desk.ask("POST", "/tables/t", row).status == 201) }
        return desk
    }

    private static let rows = [
        #"{"id":"a","s":"Äpfel","n":1,"b":true,"d":"2026-01-01T00:00:00Z","j":{"k":1}}"#,
        #"{"id":"b","s":"50%_off","n":2.5,"b":false,"d":"2026-06-01T12:30:15.500Z"}"#,
        #"{"id":"c","s":"äpfel","n":-7}"#,
        #"{"id":"d"}"#,
        #"{"id":"e","s":"O'Brien","n":9007199254740993,"b":true}"#,
    ]

    @Test(arguments: TestBackend.stores)
    func `every filter gives the rows that it should`(_ backend: TestBackend) throws {
        let desk = try desk(backend, rows: ListTests.rows)
        let expected: [(String, String)] = [
            ("n eq 1", "a"), ("1 eq n", "a"), ("n gt 1", "be"), ("1 lt n", "be"), ("n ne 1", "bce"),
            ("n eq null", "d"), ("null eq n", "d"), ("n ne null", "abce"), ("not (n eq 1)", "bce"),
            ("n eq 9007199254740993", "e"), ("n eq 9007199254740992", ""), ("n eq 1.0", "a"), ("n gt 2.4", "be"),
            ("b", "ae"), ("not b", "b"), ("b eq false", "b"), ("not (b eq true)", "b"),
            ("s eq 'O''Brien'", "e"), ("startswith(s,'50%')", "b"), ("startswith(s,'5_')", ""),
            ("endswith(s,'pfel')", "ac"), ("substringof('%_',s)", "b"), ("contains(s,'PFEL')", ""),
            ("tolower(s) eq 'äpfel'", "ac"), ("toupper(s) eq 'ÄPFEL'", "ac"), ("length(s) eq 5", "ac"),
            ("indexof(s,'_') eq 3", "b"), ("concat(s,'!') eq 'äpfel!'", "c"), ("substring(s,1) eq 'pfel'", "ac"),
            ("d eq datetimeoffset'2026-01-01T01:00:00.000+01:00'", "a"), ("year(d) eq 2026 and month(d) eq 6", "b"),
            ("d gt cast(2026-01-01T00:00:00.000Z,Edm.DateTimeOffset)", "b"), ("second(d) eq 15", "b"),
            ("round(n) eq 3", "b"), ("floor(n) eq 2", "b"), ("n mod 2 eq 1", "ae"), ("n div 0 eq 1", ""),
            ("-n eq 7", "c"), ("id in ('a','c','zz')", "ac"), ("n in (1,2.5)", "ab"), ("id gt 'c'", "de"),
            ("s gt 'a'", "ac"), ("n add 1 eq 2", "a"), ("j/k eq 1", "a"),
            ("n eq 1 or s eq 'äpfel' or tolower(s) eq 'o''brien'", "ace"), ("n gt 0 and tolower(s) eq 'äpfel'", "a"),
            ("deleted eq false", "abcde"), ("version eq 'AAABAAAAAAI='", "b"),
            ("updatedAt ge datetimeoffset'2026-01-01T00:00:00.003Z'", "de"), ("nosuch eq 1", ""),
            ("nosuch eq 1 or n eq 1", "a"), ("startswith(s,'')", "abce"),
        ]
        for (filter, ids) in expected {
            let answer = try desk.ask("GET", "/tables/t?$filter=\(filter.encoded)&$inlinecount=allpages")
            #expect(answer.ids.joined() == ids, "\(filter): \(answer.text)")
            #expect(answer.json["count"] == .integer(Int64(ids.count)), "\(filter)")
        }
    }

    @Test(arguments: TestBackend.stores)
    func `null comes first in ascending order, and the id decides ties`(_ backend: TestBackend) throws {
        let desk = try desk(backend, rows: ListTests.rows)
        func ids(_ order: String) throws -> String {
            try desk.ask("GET", "/tables/t?$orderby=\(order.encoded)").ids.joined()
        }
        #expect(try ids("n") == "dcabe")
        #expect(try ids("n desc") == "ebacd")
        #expect(try ids("b, n DESC") == "cdbea")
        #expect(try ids("s") == "dbeac")
        #expect(try ids("j") == "bcdea")
        #expect(try ids("j desc") == "abcde")
        #expect(try ids("id desc") == "edcba")
        #expect(try ids("updatedAt desc") == "edcba")
    }

    @Test(arguments: TestBackend.stores)
    func `links lead through all rows, for every client`(_ backend: TestBackend) throws {
        let rows = (10..<31).map { #"{"id":"r\#($0)","n":\#($0 % 3)}"# }
        let desk = try desk(backend, rows: rows, pageSize: 5)
        var target = "/tables/t?$orderby=n&$filter=n%20lt%202"
        var seen: [String] = []
        for _ in 0..<10 {
            let page = try desk.ask("GET", target)
            seen += page.ids
            guard let link = page.headers.value("Link") else { break }
            #expect(link.hasPrefix("http://server:8080/tables/t?") && link.hasSuffix("; rel=next"))
            target = String(link.dropFirst("http://server:8080".count).dropLast("; rel=next".count))
        }
        #expect(seen.count == 14 && Set(seen).count == 14)

        target = "/tables/t?$top=12&$count=true"
        seen = []
        for _ in 0..<10 {
            let page = try desk.ask("GET", target, new: true)
            seen += page.ids
            #expect(page.json["count"] == .integer(21))
            guard let link = page.json["nextLink"]?.string else { break }
            target = "/tables/t?" + link
        }
        #expect(seen == (10..<22).map { "r\($0)" })
        let path = try desk.ask("GET", "/tables/t", nil, ["X-ZUMO-Options": "nextLink=path"], new: true)
        #expect(path.json["nextLink"] == .string("/tables/t?%24after=-%20r14"))
        let filtered = try desk.ask("GET", "/tables/t?$filter=tolower(id)%20ge%20'r20'&$skip=2&$top=3")
        #expect(filtered.ids == ["r22", "r23", "r24"] && filtered.headers.value("Link") == nil)
        #expect(try desk.ask("GET", "/tables/t?$top=0&$inlinecount=allpages").text == #"{"results":[],"count":21}"#)
    }

    @Test(arguments: TestBackend.stores)
    func `rows that move between pages hide no other row`(_ backend: TestBackend) throws {
        let desk = try desk(backend, rows: (10..<40).map { #"{"id":"r\#($0)"}"# }, pageSize: 4)
        for filter in ["deleted eq false", "length(id) eq 3"] {
            let start = "/tables/t?$orderby=updatedAt&$count=true&$filter=\(filter.encoded)"
            var target = start
            var seen: Set<String> = []
            for page in 0..<12 {
                let answer = try desk.ask("GET", target, new: true)
                #expect(answer.json["count"] == .integer(30))
                seen.formUnion(answer.ids)
                guard let link = answer.json["nextLink"]?.string else { break }
                target = "/tables/t?" + link
                // Rows that were read move to the end, where they are read again.
                if page < 4 { for id in answer.ids { _ = try desk.ask("PATCH", "/tables/t/\(id)", #"{"n":1}"#) } }
            }
            #expect(seen.count == 30)
        }
        for after in ["x", "- ", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z r1", "- a\u{0}"] {
            #expect(try desk.ask("GET", "/tables/t?$after=\(after.encoded)").status == 400)
        }
    }

    @Test func `an invalid query is refused, with the position of the error`() throws {
        let desk = try desk(.sqlite, rows: [])
        let wrong = [
            "$filter=n%20eq", "$filter=(n%20eq%201", "$filter=nofunction(n)", "$filter=n%20eq%20datetime'x'", "$top=-1",
            "$top=1.5", "$top=", "$top=1001", "$skip=-1", "$skip=x", "$orderby=n%20up", "$select=a,,b",
            "$filter=" + String(repeating: "(", count: 5000) + "n",
            "$filter=" + String(repeating: "not%20", count: 150) + "b",
        ]
        for parameters in wrong {
            for new in [false, true] {
                let answer = try desk.ask("GET", "/tables/t?\(parameters)", new: new)
                #expect(answer.status == 400 && answer.json["error"]?.string != nil, "\(parameters.prefix(60))")
            }
        }
        #expect(try desk.ask("GET", "/tables/t?$filter=n%20eq").json["error"]?.string?.contains("character 5") == true)
        #expect(try desk.ask("GET", "/tables/f?$filter=nope%20eq%201").status == 400)
        #expect(try desk.ask("GET", "/tables/f?$orderby=nope").status == 400)
        #expect(try desk.ask("GET", "/tables/f?$select=nope").status == 400)
        let many = (0..<300).map { "n eq \($0)" }.joined(separator: " or ").encoded
        #expect(try desk.ask("GET", "/tables/t?$filter=\(many)").status == 200)
    }

    @Test(arguments: [
        ("s eq 5", 6), ("5 eq s", 6), ("n gt 'x'", 6), ("d lt '2026-05-19T21:30:00Z'", 6), ("b eq 1", 6),
        ("updatedAt ge 5", 14), ("deleted eq 'false'", 12), ("version eq 7", 12), ("n in (1,'2')", 9),
        ("s add 1 eq 2", 1),
        ("1 add s eq 2", 7), ("-s eq 1", 2), ("not n", 5), ("n", 1), ("'x'", 1), ("b and n", 7), ("n or b", 1),
        ("(n) and b", 2), ("year(s) eq 2026", 6), ("startswith(n,'a')", 12), ("substringof('a',n)", 17),
        ("length(d) eq 1", 8), ("round(s) eq 1", 7), ("substring(s,'1') eq 'x'", 13), ("tolower(s) eq 5", 15),
        ("concat(s,s) and b", 1), ("n eq b", 6),
    ])
    func `a filter with mismatched types is refused, with the position`(filter: String, place: Int) throws {
        let desk = try desk(.sqlite, rows: [])
        for path in ["t?", "t/changes?since=&"] {
            let answer = try desk.ask("GET", "/tables/\(path)$filter=\(filter.encoded)")
            #expect(
                answer.status == 400 && answer.json["code"] == .string("invalid-filter"), "\(filter) \(answer.text)")
            #expect(
                answer.json["error"]?.string?.hasSuffix("at character \(place)") == true, "\(filter) \(answer.text)")
        }
    }

    @Test(arguments: [
        "s eq null", "null eq n", "j/a eq 5", "j eq 'x'", "unknown eq 5", "unknown eq 'x'", "not (n gt 1)", "b",
        "not b",
        "n eq 1.5", "n div 2 eq 1", "length(s) add n gt 2", "year(d) eq 2026",
        "d gt datetimeoffset'2026-01-01T00:00:00Z'",
        "id eq guid'5d0f2a53-a6a7-4b64-8d5e-6f54e1d0c9d1'", "contains(tolower(S),'x')", "DELETED eq false",
        "s in ('a',null)",
    ])
    func `a filter whose types may match is answered`(filter: String) throws {
        let desk = try desk(.sqlite, rows: [])
        #expect(try desk.ask("GET", "/tables/t?$filter=\(filter.encoded)").status == 200)
    }

    @Test func `a selection returns what was asked for`() throws {
        let desk = try desk(.sqlite, rows: ListTests.rows)
        #expect(try desk.ask("GET", "/tables/t?$select=id,n&$top=1").text == #"[{"id":"a","n":1}]"#)
        #expect(try desk.ask("GET", "/tables/t?$select=*&$top=1").json[0]?["s"] == .string("Äpfel"))
    }

    @Test func `hostile names and values are data`() throws {
        let desk = try desk(.sqlite, rows: ListTests.rows)
        for text in ["'; DROP TABLE t; --", "x' OR '1'='1", "\\", "%27", "\u{0}", "\"\"\""] {
            let quoted = text.replacing("'", with: "''")
            let answer = try desk.ask("GET", "/tables/t?$filter=\("s eq '\(quoted)'".encoded)")
            #expect(answer.status == 200 && answer.ids == [], "\(text)")
        }
        let order = try desk.ask("GET", "/tables/t?$orderby=\("n; DROP TABLE t".encoded)")
        #expect(order.status == 400)
        #expect(try desk.ask("GET", "/tables/t").ids.count == 5)
    }
}
