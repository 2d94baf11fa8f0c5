// Values of the files become values of JSON, or are refused.

import SynclineCore
import Testing

@testable import SynclineSQL

@Suite struct ForeignValueTests {
    private func value(_ raw: Value, _ type: ForeignType, _ dates: ForeignDates = .text) -> Value? {
        ForeignValue.value(raw, as: type, dates)
    }

    @Test func `null stays null, and other kinds are refused`() {
        for type in ForeignType.allCases { #expect(value(.null, type) == .null) }
        #expect(value("x", .integer) == nil)
        #expect(value(1.5, .integer) == nil)
        #expect(value(1, .string) == nil)
        #expect(value(2, .bool) == nil)
        #expect(value("1", .bool) == nil)
        #expect(value(.bytes([1]), .uuid) == nil)
        #expect(value("{", .json) == nil)
        #expect(value("soon", .number) == nil)
        #expect(value("1e999", .number) == nil)
        #expect(value("x", .bytes) == nil)
        #expect(value(5, .skip) == .null)
    }

    @Test func `numbers, strings and bytes are kept`() {
        #expect(value(.integer(.max), .integer) == .integer(.max))
        #expect(value(.integer(.min), .number) == .integer(.min))
        #expect(value("12.50", .number) == .double(12.5))
        #expect(value("12", .number) == .integer(12))
        #expect(value(0, .bool) == .bool(false))
        #expect(value(.bytes([0, 255]), .bytes) == "AP8=")
        #expect(value(#"{"a":[1,null]}"#, .json) == .object([.init("a", .array([1, .null]))]))
        let bytes = (0..<16).map { UInt8($0 * 16 + $0) }
        #expect(value(.bytes(bytes), .uuid) == "00112233-4455-6677-8899-AABBCCDDEEFF")
    }

    @Test(arguments: [
        (0.0, "2001-01-01T00:00:00.000Z"), (-978_307_200, "1970-01-01T00:00:00.000Z"),
        (800_919_000.123, Moment.text), (-62_000_000_000.5, "0036-04-19T09:46:39.500Z"),
        (800_919_000.1234567, Moment.text), (-0.001, "2000-12-31T23:59:59.999Z"),
    ])
    func `dates of Core Data count seconds since 2001`(seconds: Double, text: String) {
        #expect(value(.double(seconds), .date, .secondsSince2001) == .string(text))
    }

    @Test func `dates beyond the calendar, and dates of another form, are refused`() {
        #expect(value(.double(1e12), .date, .secondsSince2001) == nil)
        #expect(value(.double(-1e12), .date, .secondsSince2001) == nil)
        #expect(value(.double(.nan), .date, .secondsSince2001) == nil)
        #expect(value("2026-05-19", .date, .secondsSince2001) == nil)
        #expect(value(5, .date, .text) == nil)
        #expect(value("2026-13-01 00:00:00", .date, .text) == nil)
        #expect(value(1, .date, .secondsSince2001) == "2001-01-01T00:00:01.000Z")
        #expect(value(.integer(1_779_226_200_123), .date, .millisecondsSince1970) == .string(Moment.text))
    }

    @Test(arguments: [
        ("2026-05-19 21:30:00.1234567+00:00", Moment.text), ("2026-05-19 23:30:00.123+02:00", Moment.text),
        ("2026-05-19 21:30:00", "2026-05-19T21:30:00.000Z"), ("2026-05-19", "2026-05-19"),
    ])
    func `dates of Entity Framework are strings`(text: String, date: String) {
        #expect(value(.string(text), .date, .text) == .string(date))
    }

    @Test func `system columns are strings, dates and a Boolean`() {
        func system(_ raw: Value, _ name: String) -> Value? { ForeignValue.systemValue(raw, of: name, .text) }
        #expect(system(.bytes([0, 1]), "version") == "AAE=")
        #expect(system("v", "version") == "v")
        #expect(system(1, "deleted") == .bool(true))
        #expect(system("2026-05-19 21:30:00.123", "updatedAt") == Timestamp(Moment.text).map { .date($0) })
        #expect(system(1, "version") == nil)
        #expect(system("x", "createdAt") == nil)
    }
}
