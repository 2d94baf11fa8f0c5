// Dates by the clocks of time zones: parts in filters, groups by day and month, and days of the calendar as values.

import Foundation
import SegmentLog
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineCore

private struct Entry: SyncModel {
    var id: String
    var date: Date
    var booked: CalendarDay?
    var amount: Decimal
}

@Suite struct CalendarDayTests {
    private static let zones = [
        "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "Australia/Lord_Howe", "America/Sao_Paulo",
        "Africa/Casablanca", "GMT",
    ].compactMap(TimeZone.init(identifier:))

    private static func calendar(_ zone: TimeZone) -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        return calendar
    }

    private func entries() async throws -> SyncTable<Entry> {
        try await SyncDatabase.open(MemoryStorage(), .test()).table(Entry.self)
    }

    /// Dates from 1950 to 2090, many of them close to a change of clocks.
    private static func dates(_ chance: inout Chance, _ zone: TimeZone) -> [Date] {
        (0..<150).map { _ in
            let date = Date(timeIntervalSince1970: Double(chance.below(4_400_000_000)) - 631_152_000)
            let change = chance.once(in: 2) ? zone.nextDaylightSavingTimeTransition(after: date) : nil
            return change.map { $0 + Double(chance.below(14_400)) - 7200 } ?? date
        }
    }

    @Test(arguments: zones) func `the clocks of a zone show what a calendar says`(_ zone: TimeZone) async throws {
        var chance = Chance(seed: 7)
        let entries = try await entries()
        let calendar = Self.calendar(zone)
        let rows = Self.dates(&chance, zone).enumerated().map { number, date in
            Entry(id: "\(number)", date: date, amount: Decimal(number))
        }
        try await entries.untyped.database.transaction { transaction in
            for row in rows { try transaction.insert(row, in: entries) }
        }
        func parts(_ date: Date) -> DateComponents {
            calendar.dateComponents([.year, .month, .day, .hour], from: date)
        }
        for month in 1...12 {
            let found = try await entries.where { $0.date.month(in: zone) == month }.get()
            #expect(Set(found.map(\.id)) == Set(rows.filter { parts($0.date).month == month }.map(\.id)))
        }
        let some = parts(rows[3].date)
        let same = try await entries.where {
            $0.date.year(in: zone) == (some.year ?? 0) && $0.date.day(in: zone) == (some.day ?? 0)
                && $0.date.hour(in: zone) == (some.hour ?? 0)
        }.get()
        #expect(same.contains { $0.id == "3" })

        let byDay = try await entries.grouped(by: { $0.date.calendarDay(in: zone) }).compute(.sum(\.amount))
        let days = Dictionary(grouping: rows) { CalendarDay($0.date, in: zone) }
        #expect(byDay == days.mapValues { $0.reduce(0) { $0 + $1.amount } })
        let byMonth = try await entries.grouped(by: { $0.date.firstOfMonth(in: zone) }).compute(.count)
        #expect(
            byMonth == Dictionary(grouping: rows) { CalendarDay($0.date, in: zone).firstOfMonth }.mapValues(\.count))
        for (day, rows) in days {
            let range = day.dates(in: zone)
            let expected = try #require(calendar.dateInterval(of: .day, for: rows[0].date))
            #expect(range == expected.start..<expected.end, "\(day) in \(zone)")
            #expect(try await entries.where { $0.date.isIn(range) }.count() == rows.count)
            #expect(try await entries.where { $0.date.calendarDay(in: zone) == day }.count() == rows.count)
        }
    }

    @Test func `a day is a date in its column, own or pulled`() async throws {
        let entries = try await entries()
        let days = ["2026-05-19", "2026-05-20", "2024-02-29"].compactMap(CalendarDay.init)
        for (number, day) in days.enumerated() {
            try await entries.insert(Entry(id: "\(number)", date: .distantPast, booked: day, amount: 1))
        }
        let table = entries.untyped
        let types = try table.database.columnTypes(of: table.name)
        #expect(types["booked"] == .date && types["date"] == .date && types["amount"] == .decimal)
        try await table.insert([
            "id": "server", "date": "0001-01-01T00:00:00Z", "booked": "2026-05-19T00:00:00.000Z", "amount": 2,
        ])
        #expect(
            try await entries.order(by: \.booked).get().map(\.booked?.description) == [
                "2024-02-29", "2026-05-19", "2026-05-19", "2026-05-20",
            ])
        #expect(try await entries.where { $0.booked == days[0] }.count() == 2)
        #expect(try await entries.where { $0.date == .distantPast }.count() == 4)
        #expect(try await entries.where { $0.booked < days[1] && $0.booked.year == 2026 }.count() == 2)
        let months = try await entries.grouped(by: { $0.booked.firstOfMonth }).compute(.sum(\.amount))
        #expect(months == [days[0].firstOfMonth: 4, days[2].firstOfMonth: 1])
        #expect(try await table.get(id: "0")?.columns["booked"] == "2026-05-19")
        await #expect(throws: SyncError.self) {
            try await table.insert(["id": "x", "date": "soon", "amount": 1])
        }
    }

    @Test func `groups by month follow changes`() async throws {
        let entries = try await entries()
        let (january, march) = (CalendarDay("2026-01-01"), CalendarDay("2026-03-01"))
        @Sendable func date(_ text: String) -> Date { Timestamp(text)?.date ?? .distantPast }
        var months = try entries.grouped(by: { $0.date.firstOfMonth(in: .gmt) }).observe(computing: .count)
            .makeAsyncIterator()
        #expect(try await months.next() == [:])
        try await entries.insert(Entry(id: "a", date: date("2026-01-31T23:59:59Z"), amount: 1))
        #expect(try await months.next() == [try #require(january): 1])
        try await entries.update(id: "a") { $0.date = date("2026-03-01T00:00:00Z") }
        #expect(try await months.next() == [try #require(march): 1])
    }

    @Test func `a server is not asked by the clocks of a zone`() async throws {
        let zone = try #require(Self.zones.first)
        let filter = Filter<Entry> { $0.date.month(in: zone) == 5 }
        for dialect in [ServerProtocol.zumo2, .datasync3] {
            #expect(throws: UnsupportedPredicate(what: "a date by the clocks of Europe/Berlin")) {
                try filter.expression.text(for: dialect)
            }
        }
        let day = try Filter<Entry> { $0.booked == CalendarDay("2026-05-19") }.expression
            .spelled(by: TableTypes([TypedColumn("booked", .date)]), for: .datasync3)
        #expect(try day.text(for: .datasync3) == "booked eq cast(2026-05-19,Edm.Date)")
    }

    @Test func `a day that does not exist is not made`() {
        #expect(CalendarDay(year: 2026, month: 2, day: 29) == nil && CalendarDay("2026-02-29") == nil)
        #expect(CalendarDay(year: 0, month: 1, day: 1) == nil && CalendarDay("2026-05-19T00:00:00Z") == nil)
        let last = CalendarDay(.distantFuture, in: .gmt).adding(days: .max)
        #expect(last.description == "9999-12-31" && last.adding(days: .min).description == "0001-01-01")
        #expect(last.adding(days: -31).days(until: last) == 31)
        let apia = TimeZone(identifier: "Pacific/Apia") ?? .gmt
        // Samoa skipped this day.
        #expect(CalendarDay("2011-12-30").map { $0.dates(in: apia).isEmpty } == true)
    }

    @Test func `a day is read from its midnight in UTC and from nothing else`() throws {
        func read(_ text: String) -> CalendarDay? { try? ValueDecoder.decode(CalendarDay.self, from: .string(text)) }
        #expect(read("2026-05-19T02:00:00+02:00")?.description == "2026-05-19")
        #expect(read("2026-05-19T00:00:00")?.description == "2026-05-19")
        #expect(read("2026-05-19T00:00:01Z") == nil && read("19.5.2026") == nil && read("0000-01-01") == nil)
    }
}
