// JSON in and out: what is accepted, what is rejected and where, and that nothing changes on the way.

import SynclineCore
import SynclineGround
import SynclineWire
import Testing

private func parse(_ text: String) throws -> Value { try Value(json: text.utf8) }

@Suite("JSON")
struct JSONTests {
    @Test(
        "is written as it was read",
        arguments: [
            "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "9007199254740993",
            "1.5", "-0.25",
            "1e+300", "\"\"", "\"text\"", "\"q\\\"b\\\\n\\nt\\t\\u0001\"", "\"日本語 𝒜\"", "[]", "{}",
            "[1,[2,{\"a\":null}]]",
            "{\"b\":1,\"a\":[true,false]}",
        ])
    func roundTrip(_ text: String) throws {
        #expect(try parse(text).json == text)
    }

    @Test("is written of a row's encoding as of its values")
    func rows() throws {
        let texts = [
            "", "a", "q\"b\\n\nt\t\u{1}", "日本語 𝒜\"", "plain and then \u{1f} and more",
            String(repeating: "x", count: 200) + "\"",
            "0f8fad5b-d9cb-469f-a165-70867728950e", "0F8FAD5B-D9CB-469F-A165-70867728950E",
            "2026-05-19T21:30:00.123Z", "0123456789abcdef", String(repeating: "0123456789abcdef", count: 4),
        ]
        let dates = [
            "2026-05-19", "2026-05-19T21:30:00", "0001-01-01T00:00:00.123456789+05:30", "9999-12-31T23:59:59Z",
        ]
        let values: [Value] =
            texts.map { .string($0) } + dates.compactMap { Timestamp($0).map { .date($0) } } + [
                .null, .bool(true), .bool(false), .integer(0), .integer(63), .integer(64), .integer(.min), .double(1.5),
                .double(-0.0), .bytes([1, 2, 255]), .array([.string("a\"b"), .null]),
                .object([.init("in\"side", .string(texts[6]))]),
            ]
        let members = values.enumerated().map { Value.Member("column \"\($0)\"", $1) }
        var writer = JSONWriter()
        writer.write(row: Row(members), id: nil)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == Value.object(members).json)
    }

    @Test("writes null for a number that JSON does not have")
    func infinite() {
        #expect(Value.array([.double(.infinity), .double(-.infinity), .double(.nan)]).json == "[null,null,null]")
    }

    @Test("reads escapes and surrogate pairs")
    func escapes() throws {
        #expect(try parse(#""\u0041\/\b\f\r\u00e9\ud835\udc9c""#) == .string("A/\u{8}\u{c}\r\u{e9}\u{1d49c}"))
    }

    @Test("takes the last of two members with one name")
    func duplicates() throws {
        #expect(try parse(#"{"a":1,"b":2,"a":3}"#) == .object([.init("a", .integer(3)), .init("b", .integer(2))]))
    }

    @Test("distinguishes integers from doubles by their form")
    func numbers() throws {
        #expect(try parse("3") == .integer(3))
        #expect(try parse("3.0") == .double(3))
        for text in ["1e2", "9223372036854775808", "1e999", "1.0e0"] {
            #expect(try parse(text) == Value(number: text) && parse(text).json == text)
        }
    }

    @Test(
        "is refused at the place of the error",
        arguments: [
            ("", 0), ("nul", 0), ("[1,]", 3), ("[1", 2), ("{\"a\" 1}", 5), ("{a:1}", 1), ("01", 0), ("1.", 0), ("-", 0),
            ("1 2", 2),
            ("\"abc", 4), ("\"a\nb\"", 2), ("\"\\x\"", 1), ("\"\\ud800\"", 1), ("\"\\udc00\"", 1),
            ("1e9999999999", 0), ("+1", 0), ("[1 2]", 3), ("tru3", 3),
        ] as [(String, Int)])
    func refused(_ text: String, _ offset: Int) {
        #expect {
            try parse(text)
        } throws: { error in
            (error as? JSONError)?.offset == offset
        }
    }

    @Test("that is not UTF-8 is refused")
    func invalidUTF8() {
        for bytes: [UInt8] in [
            [0x22, 0xff, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xe2, 0x82],
        ] {
            #expect(throws: JSONError.self) { try Value(json: bytes) }
        }
    }

    @Test("that nests without end is refused, not followed")
    func depth() throws {
        #expect {
            try parse(String(repeating: "[", count: 1_000_000))
        } throws: { error in
            (error as? JSONError)?.reason == .tooDeep
        }
        _ = try parse(String(repeating: "[", count: 100) + String(repeating: "]", count: 100))
    }

    @Test("carries bytes in base64")
    func base64() {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
        #expect(Base64.encode(Array("Man".utf8)) == "TWFu")
        #expect(Base64.encode(Array("Ma".utf8)) == "TWE=")
        for text in ["A", "AA", "AAA", "A===", "AA=A", "=AAA", "AA A", "AAAA=", "AA=="].dropLast() {
            #expect(Base64.decode(text) == nil)
        }
    }
}
