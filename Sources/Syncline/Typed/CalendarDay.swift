// A day of the calendar without a time and a zone, such as a birthday or the day of a booking.

public import Foundation
import SynclineCore
import SynclineGround

/// A day of the Gregorian calendar, stored and sent as `2026-05-19`. In orders and filters it counts as its midnight in UTC.
public struct CalendarDay: Hashable, Sendable {
    /// The year, 1 … 9999.
    public let year: Int
    /// The month, 1 … 12.
    public let month: Int
    /// The day of the month, from 1.
    public let day: Int

    /// Creates a day; nil if the calendar has none.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year),
            CivilDate(year: Int64(year), month: Int64(month), day: Int64(day)).seconds() != nil
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The day on which a date is in a time zone, within the years 1 … 9999.
    public init(_ date: Date, in zone: TimeZone) {
        let seconds = Int64(min(max(date.timeIntervalSince1970, -1e12), 1e12).rounded(.down))
        self.init(daysSince1970: floorDivide(seconds + Int64(zone.secondsFromGMT(for: date)), by: 86_400).quotient)
    }

    private init(daysSince1970 days: Int64) {
        let date = CivilDate(daysSince1970: min(max(days, CalendarDay.days.lowerBound), CalendarDay.days.upperBound))
        (year, month, day) = (Int(date.year), Int(date.month), Int(date.day))
    }

    /// The days of the years 1 … 9999.
    private static let days: ClosedRange<Int64> = -719_162...2_932_896

    private var daysSince1970: Int64 {
        CivilDate(year: Int64(year), month: Int64(month), day: Int64(day)).daysSince1970
    }

    /// Returns the day that is some days later, or earlier if `days` is negative, within the years 1 … 9999.
    public func adding(days: Int) -> CalendarDay {
        CalendarDay(daysSince1970: daysSince1970 + Int64(min(max(days, -4_000_000), 4_000_000)))
    }

    /// How many days another day is later.
    public func days(until other: CalendarDay) -> Int { Int(other.daysSince1970 - daysSince1970) }

    /// The first day of the month.
    public var firstOfMonth: CalendarDay { adding(days: 1 - day) }

    /// The dates of the day in a time zone: from its first moment to that of the next day. A filter by this range
    /// uses an index: `$0.date.isIn(day.dates(in: .current))`.
    public func dates(in zone: TimeZone) -> Range<Date> {
        let start = CalendarDay.start(of: daysSince1970, in: zone)
        return start..<max(start, CalendarDay.start(of: daysSince1970 + 1, in: zone))
    }

    private static func start(of day: Int64, in zone: TimeZone) -> Date {
        let midnight = Date(timeIntervalSince1970: Double(day * 86_400))
        // Clocks may change in the hours around midnight, and skip it.
        let guesses = [-86_400.0, 86_400].map { zone.secondsFromGMT(for: midnight + $0) }.sorted(by: >)
        for offset in guesses {
            let start = midnight - Double(offset)
            if zone.secondsFromGMT(for: start) == offset { return start }
        }
        return zone.nextDaylightSavingTimeTransition(after: midnight - Double(guesses[0])) ?? midnight
    }
}

extension CalendarDay: Comparable {
    public static func < (left: Self, right: Self) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

extension CalendarDay: LosslessStringConvertible {
    /// Reads a day as `2026-05-19`; nil for anything else.
    public init?(_ description: String) {
        guard let date = Timestamp(description), date.zone == .dateOnly,
            case let days = floorDivide(date.instant.seconds, by: 86_400).quotient, CalendarDay.days.contains(days)
        else { return nil }
        self.init(daysSince1970: days)
    }

    public var description: String {
        Timestamp(.init(seconds: daysSince1970 * 86_400), decimals: 0, zone: .dateOnly).description
    }
}

extension CalendarDay: Codable {
    /// Reads a day, also from its midnight in UTC.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let date = Timestamp(text), date.instant.nanoseconds == 0,
            case let (days, rest) = floorDivide(date.instant.seconds, by: 86_400), rest == 0,
            CalendarDay.days.contains(days)
        else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a day such as 2026-05-19, or its midnight in UTC, was expected")
        }
        self.init(daysSince1970: days)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension ClockZone {
    private static let known = Mutex<[TimeZone: ClockZone]>([:])

    /// The zone with the offsets of the years 1900 to 2500.
    init(_ zone: TimeZone) {
        self = ClockZone.known.withLock { known in
            let made = known[zone] ?? ClockZone(reading: zone)
            known[zone] = made
            return made
        }
    }

    private init(reading zone: TimeZone) {
        var changes: [(start: Int64, offset: Int64)] = []
        let begin = Date(timeIntervalSince1970: -2_208_988_800)
        var moment = begin
        while let next = zone.nextDaylightSavingTimeTransition(after: moment), next > moment,
            next.timeIntervalSince1970 < 16_725_225_600
        {
            changes.append(
                (Int64(next.timeIntervalSince1970.rounded(.up)), Int64(zone.secondsFromGMT(for: next))))
            moment = next
        }
        self.init(name: zone.identifier, first: Int64(zone.secondsFromGMT(for: begin)), changes: changes)
    }
}
