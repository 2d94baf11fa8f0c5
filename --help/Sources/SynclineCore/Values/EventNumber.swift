// The number of an event: its place in the log.

/// The number of an event. The first event of a store has the number 1.
public struct EventNumber: RawRepresentable, Hashable, Sendable {
    /// The number itself.
    public var rawValue: UInt64

    /// Creates the number of an event.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

extension EventNumber: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: UInt64) {
        self.init(rawValue: value)
    }
}

extension EventNumber: CustomStringConvertible {
    public var description: String { "\(rawValue)" }
}

extension EventNumber: Strideable {
    public static func < (left: EventNumber, right: EventNumber) -> Bool { left.rawValue < right.rawValue }

    /// Returns the number of events from this one to another; the nearest number there is if they are too far apart.
    public func distance(to other: EventNumber) -> Int {
        let count = Int(clamping: max(rawValue, other.rawValue) - min(rawValue, other.rawValue))
        return other < self ? -count : count
    }

    /// Returns the number that is `count` events later, or earlier if the count is negative. The result is clamped to
    /// the range from 0 to the highest number.
    public func advanced(by count: Int) -> EventNumber {
        let steps = UInt64(count.magnitude)
        if count < 0 { return EventNumber(rawValue: rawValue - min(rawValue, steps)) }
        let (sum, isTooHigh) = rawValue.addingReportingOverflow(steps)
        return EventNumber(rawValue: isTooHigh ? .max : sum)
    }

    /// Returns the number that is `count` events later.
    public static func + (event: EventNumber, count: Int) -> EventNumber { event.advanced(by: count) }

    /// Returns the number that is `count` events earlier, or 0.
    public static func - (event: EventNumber, count: Int) -> EventNumber {
        event.advanced(by: count == .min ? .max : -count)
    }
}
