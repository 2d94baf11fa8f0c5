// Filters: what both protocols' spellings mean, where an error is reported, and that printing and parsing are
// inverse.

import SynclineCore
import Testing

private struct Row: FilterSubject {
    var columns: [String: Value]

    func value(ofColumn name: String) -> Value { columns[name] ?? .null }
}

private let row = Row(columns: [
    "id": .string("O'Brien"), "text": .string("cheese at home"), "n": .integer(3), "price": .double(1.5),
    "big": .integer(9_007_199_254_740_993), "done": .bool(false), "when": .string("2020-01-01T00:00:00Z"),
    "updatedAt": .date(Timestamp(.init(milliseconds: 1_577_836_800_123))),
    "place": .object([.init("city", .string("Oslo"))]),
    "list": .array([.integer(1), "b", "2020-01-01T00:00:00Z", .null, .array([.integer(7)])]),
])

private func matches(_ text: String) throws -> Bool {
    try FilterExpression(parsing: text).matches(row)
}

@Suite("Filters")
struct FilterTests {
    @Test(
        "hold for a row",
        arguments: [
            "n eq 3", "n ne 4", "n gt 2", "n ge 3", "n lt 4", "n le 3", "n eq 3.0", "price eq 1.5", "3 eq n",
            "id eq 'O''Brien'", "not done", "not (n eq 4)", "n eq 1 or n eq 3", "n eq 3 and not done and price lt 2",
            "big eq 9007199254740993", "big gt 9007199254740992.0", "missing eq null", "n ne null", "missing ne 5",
            "substringof('at',text) and n le 4", "contains(text,'at')", "startswith(text,'ch')",
            "endswith(text,'home')",
            "length(text) eq 14", "indexof(text,'at') eq 7", "substring(text,7) eq 'at home'",
            "substring(text,7,2) eq 'at'", "toupper(text) eq 'CHEESE AT HOME'", "trim(concat(' ',text)) eq text",
            "replace(text,'e','') eq 'chs at hom'", "n add 1 eq 4", "n sub 5 eq -2", "n mul 2 eq 6", "7 div n eq 2",
            "7 mod n eq 1", "n add 2 mul 3 eq 9", "(n add 2) mul 3 eq 15", "-n eq -3", "floor(price) eq 1",
            "ceiling(price) eq 2", "round(price) eq 2", "year(updatedAt) eq 2020", "month(when) eq 1",
            "when eq datetime'2020-01-01T00:00:00.000Z'", "when eq '2020-01-01T00:00:00Z'",
            "when lt datetimeoffset'2020-01-01T01:00:01+01:00'",
            "updatedAt gt cast(2020-01-01T00:00:00.122Z,Edm.DateTimeOffset)",
            "updatedAt ge 2020-01-01", "n in (1,2,3)", "id in ('x','O''Brien')", "place/city eq 'Oslo'", "n eq 3L",
            "price eq 1.5f", "element(list,1)", "element(list,1.0)",
            "not element(list,2)", "Element(list,'b') and not element(list,'B')", "element(list,null)",
            "element(list,datetime'2020-01-01T00:00:00.000Z')", "element(list,n sub 2)", "not (missing eq 1) or n eq 3",
            "-9223372036854775808 lt n", "done eq false",
        ])
    func hold(_ text: String) throws {
        #expect(try matches(text))
    }

    @Test(
        "do not hold for a row",
        arguments: [
            "n eq 4", "missing eq 5", "not (missing eq 5)", "missing gt 5", "not (missing gt 5)", "n eq '3'",
            "not (n eq '3')",
            "n ne '3'", "big eq 9007199254740992", "when eq '2020-01-01T00:00:00.000Z'", "n eq null", "not (n ne null)",
            "done", "n", "text", "missing", "not missing", "7 div 0 eq 1", "not (7 div 0 eq 1)", "length(n) eq 1",
            "9223372036854775807 add 1 eq 0", "place/city/street eq 'x'", "n in ('3')", "done eq 0",
            "missing eq missing", "element(list,7)", "element(list,'1')", "element(text,'c')", "not element(text,'c')",
            "element(missing,1)", "not element(missing,1)", "element(place,'Oslo')",
        ])
    func doNotHold(_ text: String) throws {
        #expect(try !matches(text))
    }

    @Test(
        "are refused with the place of the fault",
        arguments: [
            ("", 0), ("n eq", 4), ("n eq 'abc", 5), ("n = 3", 2), ("(n eq 3", 7), ("n eq 3)", 6), ("foo(n)", 0),
            ("length(n,n)", 0), ("n eq 1e9999999999", 5), ("n eq 1.x", 7), ("n eq datetime'yesterday'", 5),
            ("n eq cast(1,Edm.Thing)", 5), ("n eq 3 n", 7), ("n eq 3x", 6), ("a/1 eq 1", 2),
        ] as [(String, Int)])
    func refused(_ text: String, _ position: Int) {
        #expect {
            try FilterExpression(parsing: text)
        } throws: { error in
            (error as? FilterError)?.position == position
        }
    }

    @Test("that nest without end are refused, not followed")
    func depth() throws {
        let deep = String(repeating: "(", count: 100_000) + "n eq 3" + String(repeating: ")", count: 100_000)
        #expect(throws: FilterError.self) { try FilterExpression(parsing: deep) }
        #expect(throws: FilterError.self) {
            try FilterExpression(parsing: String(repeating: "not ", count: 100_000) + "done")
        }
        let modest = String(repeating: "(", count: 100) + "n eq 3" + String(repeating: ")", count: 100)
        #expect(try matches(modest))
    }

    @Test(
        "come back from their printed text",
        arguments: [
            "a eq 1 and (b eq 2 or c eq 3)", "a eq 1 or b eq 2 and c eq 3", "not (a eq 1)", "a add 1 mul 2 eq 3",
            "(a add 1) mul 2 eq 3", "a sub (b sub 1) eq 0", "-(a add 1) lt -5", "contains(a,'x''y')",
            "a in (1,'b',null)",
            "when gt datetimeoffset'2020-01-01T00:00:00.1234567Z'", "a/b/c eq 1.5",
            "a eq cast(00000000-0000-0000-0000-000000000001,Edm.Guid)",
            "(a eq 1) eq true", "not not a",
        ])
    func roundTrip(_ text: String) throws {
        let expression = try FilterExpression(parsing: text)
        #expect(try FilterExpression(parsing: expression.text(for: .datasync3)) == expression)
    }

    @Test("are printed as each protocol spells them")
    func dialects() throws {
        let filter = try FilterExpression(
            parsing: "contains(a,'x') and n in (1,2) and at ge 2020-01-01T00:00:00Z and not done and b eq 'it''s'")
        #expect(
            try filter.text(for: .zumo2)
                == "substringof('x',a) and (n eq 1 or n eq 2) and at ge datetimeoffset'2020-01-01T00:00:00.000Z' and not (done) and b eq 'it''s'"
        )
        #expect(
            try filter.text(for: .datasync3)
                == "contains(a,'x') and n in (1,2) and at ge cast(2020-01-01T00:00:00.000Z,Edm.DateTimeOffset) and not (done) and b eq 'it''s'"
        )
    }
}

@Suite("Filters for servers")
struct ServerFilterTests {
    @Test(
        "ask for rows without a value if the local filter includes them",
        arguments: [
            ("n ne 5", "n ne 5 or n eq null"), ("5 ne n", "5 ne n or n eq null"), ("id ne 'a'", "id ne 'a'"),
            ("n ne null", "n ne null"), ("not (n eq 5)", "not (n eq 5)"),
            ("a/b ne 5 and n eq 1", "(a/b ne 5 or a/b eq null) and n eq 1"),
            ("tolower(a) ne 'x'", "tolower(a) ne 'x' or a eq null"),
            ("concat(a,b) ne 'x'", "concat(a,b) ne 'x' or a eq null or b eq null"),
            ("a add a ne 5", "a add a ne 5 or a eq null"),
            ("a ne b", "a ne b or a eq null and not (b eq null) or b eq null and not (a eq null)"),
            ("not (n ne 5)", "not (n ne 5 or n eq null)"), ("n in (1,null)", "n in (1) or n eq null"),
            ("n in (null)", "n eq null"), ("n in (1,2)", "n in (1,2)"),
            ("(a eq 1) ne true", "(a eq 1) ne true or (a eq 1) eq null"),
        ])
    func printed(_ filter: String, _ expected: String) throws {
        #expect(try FilterExpression(parsing: filter).forServers.text(for: .datasync3) == expected)
    }

    @Test("mean on a server over SQL what the filter means here")
    func meaning() throws {
        let values: [Value?] = [nil, .null, .integer(1), .integer(5), .string("x")]
        for text in [
            "a ne 5", "5 ne a", "a ne b", "not (a ne b)", "not (a ne 5)", "a in (1,null)", "not (a in (1,null))",
            "a add b ne 6", "(a eq 5) ne true", "not not (a ne 5) and b ne 1", "-a ne 5",
        ] {
            let filter = try FilterExpression(parsing: text)
            // Servers refuse to calculate with strings.
            let values = text.contains("add") || text.contains("-") ? values.dropLast() : values[...]
            for first in values {
                for second in values {
                    var columns: [String: Value] = [:]
                    columns["a"] = first
                    columns["b"] = second
                    let row = Row(columns: columns)
                    #expect(
                        filter.matches(row) == filter.forServers.asServersRead.matches(row), "\(text) of \(row)")
                }
            }
        }
    }
}

@Suite("Orders")
struct OrderTests {
    @Test("are read with their directions")
    func read() throws {
        #expect(
            try RowQuery.Key.list(parsing: "a, b DESC,c asc") == [.init("a"), .init("b", descending: true), .init("c")])
        for text in ["", "a,", "a up", "a desc b", "1"] {
            let error = #expect(throws: FilterError.self) { try RowQuery.Key.list(parsing: text) }
            #expect(error?.message.contains("filter") == false, "\(text)")
        }
        let long = String(repeating: "a,", count: 1 << 20)
        #expect(throws: FilterError(position: 0, message: "the order is longer than 1048576 bytes")) {
            try RowQuery.Key.list(parsing: long)
        }
    }

    @Test("put null first where they ascend, and end with the id")
    func nullsAndIds() {
        let rows: [(id: String, row: Row)] = [
            ("d", Row(columns: ["n": .integer(2)])), ("c", Row(columns: [:])), ("b", Row(columns: ["n": .double(1.5)])),
            ("a", Row(columns: ["n": .integer(2)])), ("e", Row(columns: ["n": .string("x")])),
        ]
        func ids(_ order: [RowQuery.Key]) -> String {
            let query = RowQuery(table: "t", order: order)
            return rows.sorted { query.areInOrder($0, $1) }.map(\.id).joined()
        }
        #expect(ids([.init("n")]) == "cbade")
        #expect(ids([.init("n", descending: true)]) == "eadbc")
        #expect(ids([]) == "abcde")
    }

    @Test("find parts of strings as a plain search does")
    func search() throws {
        var state: UInt64 = 7
        func below(_ bound: UInt64) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33 % bound)
        }
        func text(_ most: UInt64) -> String {
            (0..<below(most)).map { _ in ["a", "b", "é", "😀"][below(4)] }.joined()
        }
        func holds(_ function: String, _ parts: String..., equal: String) throws -> Bool {
            let call = "\(function)(\(parts.map { "'\($0)'" }.joined(separator: ",")))"
            return try matches("\(call) eq \(equal)")
        }
        for _ in 0..<2000 {
            let (whole, part, new) = (text(12), text(4), text(3))
            let (letters, wanted) = (Array(whole.unicodeScalars), Array(part.unicodeScalars))
            let places = (0...letters.count).filter { letters[$0...].starts(with: wanted) }
            #expect(try holds("indexof", whole, part, equal: "\(places.first ?? -1)"), "\(whole) \(part)")
            #expect(try holds("contains", whole, part, equal: "\(!places.isEmpty)"))
            #expect(try holds("startswith", whole, part, equal: "\(places.first == 0)"))
            let isAtEnd = places.last == letters.count - wanted.count
            #expect(try holds("endswith", whole, part, equal: "\(isAtEnd)"))
            #expect(try holds("length", whole, equal: "\(letters.count)"))
            var replaced = String.UnicodeScalarView()
            var place = 0
            while place < letters.count {
                if !wanted.isEmpty, places.contains(place) {
                    replaced.append(contentsOf: new.unicodeScalars)
                    place += wanted.count
                } else {
                    replaced.append(letters[place])
                    place += 1
                }
            }
            #expect(try holds("replace", whole, part, new, equal: "'\(String(replaced))'"), "\(whole) \(part) \(new)")
        }
    }

    @Test("make strings only up to a limit, and report it")
    func bounds() throws {
        let long = Row(columns: ["text": .string(String(repeating: "a", count: 100_000))])
        for filter in [
            "replace(text,'a',text) ne ''", "concat(text,replace(text,'a',text)) ne ''",
            Array(repeating: "toupper(text) eq 'x'", count: 200).joined(separator: " or "),
            Array(repeating: "substring(text,1) eq 'x'", count: 200).joined(separator: " or "),
        ] {
            let work = FilterWork()
            #expect(try !FilterExpression(parsing: filter).matches(long, work))
            #expect(work.failure == .tooLarge)
        }
        let work = FilterWork()
        #expect(try FilterExpression(parsing: "toupper(text) ne 'x'").matches(long, work))
        for _ in 0..<300 { #expect(try FilterExpression(parsing: "toupper(text) ne 'x'").matches(long, work)) }
        #expect(work.failure == nil, "each row has the bound for itself")
    }

    @Test("stop when they are cancelled")
    func stopped() throws {
        var looks = 0
        let work = FilterWork {
            looks += 1
            return looks < 5
        }
        let filter = Array(repeating: "toupper(text) eq 'x'", count: 100).joined(separator: " or ")
        #expect(try !FilterExpression(parsing: filter).matches(row, work))
        #expect(work.failure == .stopped && looks == 5)
    }

    @Test("a quotation mark before an accent ends no string")
    func accents() throws {
        for text in ["'\u{301} or n eq 3", "a'\u{301}", "'", "''\u{301}'"] {
            let filter = FilterExpression.compare(.equal, .column(["id"]), .literal(.string(text)))
            for server in [ServerProtocol.zumo2, .datasync3] {
                let printed = try filter.text(for: server)
                #expect(printed.unicodeScalars.count { $0 == "'" } == 2 + 2 * text.unicodeScalars.count { $0 == "'" })
                #expect(try FilterExpression(parsing: printed) == filter, "\(printed)")
            }
        }
    }
}
