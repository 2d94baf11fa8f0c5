// The numbers of the log, each a type of its own so that none is mistaken for another, and the notation in which
// errors, tools and tests print them: `@41` is a record, `s7:5209663` is byte 5,209,663 of segment 7.

/// The place of a record in the order of the log. The first record of a log is 1.
public struct SequenceNumber: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number itself.
    public var rawValue: UInt64

    /// A number by its value.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The number of the first record of a log.
    public static let first = SequenceNumber(rawValue: 1)
    /// The number before the first: "through none".
    public static let none = SequenceNumber(rawValue: 0)

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The number `count` records later; stays at the largest number rather than wrap.
    public func advanced(by count: UInt64) -> SequenceNumber {
        let (sum, overflow) = rawValue.addingReportingOverflow(count)
        return SequenceNumber(rawValue: overflow ? .max : sum)
    }

    /// The next number.
    public var next: SequenceNumber { advanced(by: 1) }
    /// The number before, or `none`.
    public var previous: SequenceNumber { SequenceNumber(rawValue: rawValue == 0 ? 0 : rawValue - 1) }

    public var description: String { "@\(rawValue)" }
}

/// Records from `first` through `last`; empty when `last` is before `first`.
public struct SequenceRange: Hashable, Sendable, CustomStringConvertible {
    /// The first of them.
    public var first: SequenceNumber
    /// The last of them.
    public var last: SequenceNumber

    /// A range, both ends included.
    public init(first: SequenceNumber, last: SequenceNumber) {
        self.first = first
        self.last = last
    }

    package init(first: SequenceNumber, count: UInt64) {
        self.init(first: first, last: SequenceNumber(rawValue: first.rawValue &+ count &- 1))
    }

    /// How many records the range holds.
    public var count: UInt64 { last < first ? 0 : last.rawValue - first.rawValue + 1 }
    /// Whether it holds none.
    public var isEmpty: Bool { last < first }

    /// Whether a number is in it.
    public func contains(_ number: SequenceNumber) -> Bool { first <= number && number <= last }

    public var description: String {
        isEmpty ? "none" : first == last ? first.description : "\(first)..\(last.rawValue)"
    }
}

/// A byte of a segment.
public struct LogPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Which segment: 1, 2, 3 … in the order of the log.
    public var segment: UInt64
    /// The byte, counted from the start of the segment's file.
    public var offset: UInt64

    /// A place.
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
    /// How many.
    public var rawValue: UInt64

    /// So many bytes.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// So many bytes.
    public static func bytes(_ count: UInt64) -> ByteCount { ByteCount(rawValue: count) }
    /// So many times 1024 bytes.
    public static func kibibytes(_ count: UInt64) -> ByteCount { ByteCount(rawValue: count << 10) }
    /// So many times 1024² bytes.
    public static func mebibytes(_ count: UInt64) -> ByteCount { ByteCount(rawValue: count << 20) }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    public var description: String { "\(rawValue) bytes" }
}

/// A moment on the writer's wall clock: milliseconds since 1970-01-01T00:00:00Z.
public struct WallTime: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Milliseconds since 1970.
    public var rawValue: Int64

    /// A moment by its milliseconds since 1970.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    public var description: String { "\(rawValue) ms" }
}

/// The identity of a log: 128 random bits, written into every segment and mixed into every checksum.
public struct LogIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The upper half.
    public var high: UInt64
    /// The lower half.
    public var low: UInt64

    /// An identity by its halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Thirty-two hexadecimal digits, in the order of the bytes in the file.
    public var description: String {
        hexadecimal(high.byteSwapped, digits: 16) + hexadecimal(low.byteSwapped, digits: 16)
    }
}

package func hexadecimal(_ value: UInt64, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}
