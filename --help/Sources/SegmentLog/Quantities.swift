// The log's quantities, each with its own type so that they can't be confused, and the notation used by errors,
// tools and tests: `@41` is a record, `s7:5209663` is byte 5,209,663 of segment 7.

import SynclineGround

/// The position of a record in the log. The first record is 1.
public struct SequenceNumber: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number itself.
    public var rawValue: UInt64

    /// Creates a number from its value.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The number of the first record of a log.
    public static let first = SequenceNumber(rawValue: 1)
    /// The number before the first, for "through none".
    public static let none = SequenceNumber(rawValue: 0)

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Returns the number `count` records later; saturates at the maximum.
    public func advanced(by count: UInt64) -> SequenceNumber {
        let (sum, overflow) = rawValue.addingReportingOverflow(count)
        return SequenceNumber(rawValue: overflow ? .max : sum)
    }

    /// The next number.
    public var next: SequenceNumber { advanced(by: 1) }
    /// The previous number, or `none`.
    public var previous: SequenceNumber { SequenceNumber(rawValue: rawValue == 0 ? 0 : rawValue - 1) }

    public var description: String { "@\(rawValue)" }
}

/// Records from `first` through `last`; empty if `last` is before `first`.
public struct SequenceRange: Hashable, Sendable, CustomStringConvertible {
    /// The first record.
    public var first: SequenceNumber
    /// The last record.
    public var last: SequenceNumber

    /// Creates a range that includes both ends.
    public init(first: SequenceNumber, last: SequenceNumber) {
        self.first = first
        self.last = last
    }

    package init(first: SequenceNumber, count: UInt64) {
        self.init(first: first, last: SequenceNumber(rawValue: first.rawValue &+ count &- 1))
    }

    /// The number of records in the range.
    public var count: UInt64 { last < first ? 0 : last.rawValue - first.rawValue + 1 }
    /// Whether the range is empty.
    public var isEmpty: Bool { last < first }

    /// Returns whether the range contains a number.
    public func contains(_ number: SequenceNumber) -> Bool { first <= number && number <= last }

    public var description: String {
        isEmpty ? "none" : first == last ? first.description : "\(first)..\(last.rawValue)"
    }
}

/// The position of a byte in the log.
public struct LogPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The segment's number: 1, 2, 3 … in the order of the log.
    public var segment: UInt64
    /// The byte's offset from the start of the segment's file.
    public var offset: UInt64

    /// Creates a position.
    public init(segment: UInt64, offset: UInt64) {
        self.segment = segment
        self.offset = offset
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.segment, left.offset) < (right.segment, right.offset)
    }

    public var description: String { "s\(segment):\(offset)" }
}

/// A number of bytes.
public struct ByteCount: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of bytes.
    public var rawValue: UInt64

    /// A size in bytes.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// A size in bytes.
    public static func bytes(_ count: UInt64) -> ByteCount { ByteCount(rawValue: count) }
    /// A size in KiB.
    public static func kibibytes(_ count: UInt64) -> ByteCount { ByteCount(rawValue: count << 10) }
    /// A size in MiB.
    public static func mebibytes(_ count: UInt64) -> ByteCount { ByteCount(rawValue: count << 20) }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    public var description: String { "\(rawValue) bytes" }
}

/// A time on the writer's wall clock, in milliseconds since 1970-01-01T00:00:00Z.
public struct WallTime: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Milliseconds since 1970.
    public var rawValue: Int64

    /// Creates a time from milliseconds since 1970.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    public var description: String { "\(rawValue) ms" }
}

/// The identity of a log: 128 random bits, stored in every segment and mixed into every checksum.
public struct LogIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The upper half.
    public var high: UInt64
    /// The lower half.
    public var low: UInt64

    /// Creates an identity from its halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Thirty-two hexadecimal digits, in the order of the bytes in the file.
    public var description: String {
        Hexadecimal.text(high.byteSwapped, digits: 16) + Hexadecimal.text(low.byteSwapped, digits: 16)
    }
}
