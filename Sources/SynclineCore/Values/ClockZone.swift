// A time zone as a value: its offsets from UTC, and when each begins.

import SynclineGround

/// A time zone: its name, and its offsets from UTC.
public struct ClockZone: Hashable, Sendable {
    /// The name, such as `Europe/Berlin`.
    public let name: String
    /// The offset before the first change, in seconds east of UTC.
    private let first: Int64
    /// When an offset begins, in seconds since 1970, ascending.
    private let starts: [Int64]
    private let offsets: [Int64]

    /// Creates a zone.
    /// - Parameters:
    ///   - first: The offset before the first change, in seconds east of UTC.
    ///   - changes: When another offset begins, in seconds since 1970, ascending.
    public init(name: String, first: Int64, changes: [(start: Int64, offset: Int64)]) {
        self.name = name
        self.first = first
        starts = changes.map(\.start)
        offsets = changes.map(\.offset)
    }

    /// Seconds east of UTC at a moment.
    func offset(at seconds: Int64) -> Int64 {
        let passed = starts.countOfFirst { $0 <= seconds }
        return passed == 0 ? first : offsets[passed - 1]
    }
}

/// A part of a date in a time zone.
public enum ClockPart: Hashable, Sendable {
    /// The date-time that the clocks show.
    case time
    /// The day.
    case day
    /// The first day of the month.
    case month

    func shown(at instant: Timestamp.Instant, _ zone: ClockZone) -> Value {
        let seconds = instant.seconds &+ zone.offset(at: instant.seconds)
        if self == .time {
            return .date(Timestamp(.init(seconds: seconds, nanoseconds: instant.nanoseconds), zone: .none))
        }
        var days = floorDivide(seconds, by: 86_400).quotient
        if self == .month { days -= CivilDate(daysSince1970: days).day - 1 }
        return .string(Timestamp(.init(seconds: days * 86_400), decimals: 0, zone: .dateOnly).description)
    }
}
