// Values: dates come back as they were written, numbers compare without rounding, ids follow the rules.

import SynclineCore
import Testing

@Suite("Values")
struct ValueTests {
    @Test(
        "dates come back in the form they were written in",
        arguments: [
            "2026-05-19T21:30:00.123Z", "2026-05-19T21:30:00Z", "2026-05-19T21:30:00.1234567Z",
            "2026-05-19T21:30:00.000+02:00",
            "2026-05-19T21:30:00.123456789-11:30", "2026-05-19", "2026-05-19T21:30:00", "1970-01-01T00:00:00Z",
            "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "2000-02-29", "1969-12-31T23:59:59.9Z",
        ])
    func dates(_ text: String) {
        #expect(Timestamp(text)?.description == text)
    }

    @Test(
        "strings that are not dates are refused",
        arguments: [
            "", "yesterday", "2026-02-30", "2026-13-01", "2026-05-19T24:00:00Z", "2026-05-19T21:30:00.Z",
            "2026-05-19 21:30:00Z",
            "2026-05-19T21:30:00.1234567890Z", "2026-05-19T21:30Z", "1900-02-29", "2026-05-19T21:30:00-00:00",
            "2026-05-19T21:30:00Zx",
        ])
    func noDates(_ text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test("dates compare as instants, whatever their form")
    func instants() throws {
        let utc = try #require(Timestamp("2026-05-19T21:30:00Z"))
        let oslo = try #require(Timestamp("2026-05-19T23:30:00.000+02:00"))
        #expect(utc.instant == oslo.instant)
        #expect(Value.date(utc).means(.date(oslo)))
        #expect(Value.date(utc).means(.string("2026-05-19T21:30:00.0Z")))
        #expect(!Value.string("2026-05-19T21:30:00Z").means(.string("2026-05-19T21:30:00.0Z")))
    }

    @Test("every day of eight centuries has its own number")
    func calendar() throws {
        var day = try #require(Timestamp("1600-01-01")).instant.seconds
        let end = try #require(Timestamp("2400-12-31")).instant.seconds
        while day <= end {
            let date = Timestamp(.init(seconds: day), decimals: 0, zone: .dateOnly)
            #expect(Timestamp(date.description)?.instant.seconds == day)
            day += 86_400 * 7
        }
    }

    @Test("a month has the days until the next one begins, and no others")
    func months() throws {
        func day(_ year: Int, _ month: Int, _ day: Int) -> Timestamp? {
            func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            return Timestamp("\(year)-\(two(month))-\(two(day))")
        }
        for year in [1896, 1900, 1999, 2000, 2023, 2024, 2100] {
            #expect(day(year, 0, 1) == nil && day(year, 13, 1) == nil)
            for month in 1...12 {
                let next = try #require(month == 12 ? day(year + 1, 1, 1) : day(year, month + 1, 1))
                let first = try #require(day(year, month, 1))
                let length = Int(next.instant.seconds - first.instant.seconds) / 86_400
                #expect((0...32).filter { day(year, month, $0) != nil } == Array(1...length), "\(year)-\(month)")
            }
        }
    }

    @Test("milliseconds before 1970 round towards the past")
    func negativeMilliseconds() {
        for milliseconds: Int64 in [-1001, -1000, -999, -1, 0, 1, 999, 1000] {
            #expect(Timestamp.Instant(milliseconds: milliseconds).milliseconds == milliseconds)
        }
    }

    @Test("integers and doubles compare without rounding")
    func numbers() {
        #expect(Value.compare(.integer(9_007_199_254_740_993), .double(9_007_199_254_740_992)) == .greater)
        #expect(Value.compare(.integer(.max), .double(0x1p63)) == .less)
        #expect(Value.compare(.integer(.min), .double(-0x1p63)) == .equal)
        #expect(Value.compare(.integer(-1), .double(-1.5)) == .greater)
        #expect(Value.compare(.double(2.5), .integer(2)) == .greater)
        #expect(Value.integer(3).means(.double(3)))
        #expect(!Value.integer(1).means(.bool(true)))
    }

    @Test("objects mean the same whatever the order of their members")
    func objects() {
        let left = Value.object([.init("a", .integer(1)), .init("b", .null)])
        #expect(left.means(.object([.init("b", .null), .init("a", .double(1))])))
        #expect(left.means(.object([.init("a", .integer(1))])))
        #expect(!left.means(.object([.init("a", .integer(2))])))
        #expect(!Value.array([.integer(1), .integer(2)]).means(.array([.integer(2), .integer(1)])))
    }

    @Test(
        "ids that are allowed", arguments: ["a", " .", "...", "id with spaces", "{3F25}", "50%", "日本語", "a@b.c", "'x'"])
    func ids(_ id: String) throws {
        try RowID.check(id)
    }

    @Test(
        "ids that are not",
        arguments: [
            "", " ", "\u{a0}", ".", "..", "a/b", "a+b", "a?b", "a\\b", "a`b", "a\"b", "a\nb", "a\u{7f}", "a\u{85}",
        ])
    func noIds(_ id: String) {
        #expect(throws: RowIDFault.self) { try RowID.check(id) }
    }

    @Test("the length of an id counts UTF-16 units")
    func length() throws {
        try RowID.check(String(repeating: "x", count: 255))
        try RowID.check(String(repeating: "𝒜", count: 127))
        #expect(throws: RowIDFault.tooLong(256)) { try RowID.check(String(repeating: "𝒜", count: 128)) }
    }

    @Test("an id that is made is a UUID of version 7, which begins with its time")
    func timedIDs() {
        // The example of RFC 9562.
        let text = TimedID.text(
            milliseconds: 0x017F_22E2_79B0, chance: (0xABCD_EF00_1234_5CC3, 0x58C4_DC0C_0C07_398F), isUpper: true)
        #expect(text == "017F22E2-79B0-7CC3-98C4-DC0C0C07398F")
        let earlier = TimedID.text(milliseconds: 0x017F_22E2_79AF, chance: (.max, .max), isUpper: true)
        #expect(earlier == "017F22E2-79AF-7FFF-BFFF-FFFFFFFFFFFF")
        #expect(earlier < text)
        // A clock before 1970.
        let first = TimedID.text(milliseconds: -5, chance: (0, 0), isUpper: false)
        #expect(first == "00000000-0000-7000-8000-000000000000")
    }
}
