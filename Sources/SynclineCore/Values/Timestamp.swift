// A date-time that remembers how it was written, so that a server's value is sent back unchanged: the number of
// decimals, and whether it ended in Z, an offset, or nothing.

import SynclineGround

/// An instant, and the form it was written in.
public struct Timestamp: Hashable, Sendable {
    /// An instant in the Gregorian calendar without leap seconds.
    public struct Instant: Hashable, Comparable, Sendable {
        /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
        public var seconds: Int64
        /// The remaining nanoseconds, 0 … 999,999,999.
        public var nanoseconds: UInt32

        /// Creates an instant.
        public init(seconds: Int64, nanoseconds: UInt32 = 0) {
            self.seconds = seconds
            self.nanoseconds = nanoseconds
        }

        public static func < (left: Self, right: Self) -> Bool {
            (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
        }

        /// Whole milliseconds since 1970, rounded down.
        public var milliseconds: Int64 {
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
            return overflow ? (seconds < 0 ? .min : .max) : product &+ Int64(nanoseconds / 1_000_000)
        }

        /// Creates an instant from milliseconds since 1970.
        public init(milliseconds: Int64) {
            let (seconds, rest) = floorDivide(milliseconds, by: 1000)
            self.init(seconds: seconds, nanoseconds: UInt32(rest) * 1_000_000)
        }
    }

    /// How the time zone was written.
    public enum Zone: Hashable, Sendable {
        /// As `Z`.
        case utc
        /// Minutes east of Greenwich.
        case offset(Int16)
        /// Not written; treated as UTC.
        case none
        /// A date without a time, at midnight UTC.
        case dateOnly
    }

    /// The instant.
    public var instant: Instant
    /// The number of decimals of the second, 0 … 9.
    public var decimals: UInt8
    /// How the time zone was written.
    public var zone: Zone

    /// Creates a timestamp with a form.
    public init(_ instant: Instant, decimals: UInt8 = 3, zone: Zone = .utc) {
        self.instant = instant
        self.decimals = decimals
        self.zone = zone
    }

    /// Whether it can be written: a year of four digits, at most nine decimals, an offset of less than a day.
    var isWritable: Bool {
        if case .offset(let minutes) = zone, minutes.magnitude >= 1440 { return false }
        return (-62_135_596_800...253_402_300_799).contains(instant.seconds) && instant.nanoseconds < 1_000_000_000
            && decimals <= 9
    }
}

extension Timestamp: CustomStringConvertible {
    /// Parses `2026-05-19T21:30:00.123Z` and similar forms: 0 … 9 decimals, `Z`, `±hh:mm` or nothing, or only a
    /// date. Nil for anything else, and for dates that do not exist.
    public init?(_ text: String) {
        // The shortest form is a date.
        guard text.utf8.count >= 10 else { return nil }
        var text = text
        let parsed = text.withUTF8 { Timestamp(utf8: $0) }
        guard let parsed else { return nil }
        self = parsed
    }

    /// Parses the same forms, and a time without seconds: `2026-05-19T21:30Z`.
    package init?(anyForm text: String) {
        let minutes = 16
        let bytes = Array(text.utf8)
        let hasSeconds = bytes.count > minutes && bytes[minutes] == UInt8(ascii: ":")
        guard bytes.count >= minutes, !hasSeconds else {
            self.init(text)
            return
        }
        self.init(String(decoding: bytes[..<minutes] + ":00".utf8 + bytes[minutes...], as: UTF8.self))
    }

    /// Parses the string's UTF-8.
    package init?(utf8: UnsafeBufferPointer<UInt8>) {
        var scanner = DateScanner(bytes: UnsafeRawBufferPointer(utf8))
        guard let parsed = scanner.timestamp() else { return nil }
        self = parsed
    }

    /// The timestamp in the form it was written in.
    public var description: String {
        String(unsafeUninitializedCapacity: Timestamp.textLimit, initializingUTF8With: write)
    }

    /// Calls `body` with the UTF-8 of the string form.
    package func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withTextMemory(Timestamp.textLimit) { bytes in body(bytes.filled(write(into: bytes))) }
    }

    /// More than any timestamp needs.
    private static let textLimit = 64

    /// Writes digits one by one, because every displayed row has a few timestamps.
    private func write(into bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var text = FixedText(bytes: bytes)
        write(into: &text)
        return text.count
    }

    private func write(into text: inout FixedText) {
        var shift: Int64 = 0
        if case .offset(let minutes) = zone { shift = Int64(minutes) * 60 }
        let (days, second) = floorDivide(instant.seconds &+ shift, by: 86_400)
        let date = CivilDate(daysSince1970: days)
        if (0...9999).contains(date.year) {
            text.appendTwoDigits(date.year / 100)
            text.appendTwoDigits(date.year % 100)
        } else {
            text.append(date.year, width: 4)
        }
        text.append("-", date.month)
        text.append("-", date.day)
        if zone == .dateOnly { return }
        text.append("T", second / 3600)
        text.append(":", second / 60 % 60)
        text.append(":", second % 60)
        if decimals > 0 {
            text.append(".")
            text.append(fraction: instant.nanoseconds, decimals: Int(min(decimals, 9)))
        }
        switch zone {
        case .utc: text.append("Z")
        case .offset(let minutes):
            let size = Int64(minutes.magnitude)
            text.append(minutes < 0 ? "-" : "+")
            text.append(size / 60, width: 2)
            text.append(":", size % 60)
        case .none, .dateOnly: break
        }
    }
}

/// ASCII text that is written into given memory.
private struct FixedText {
    let bytes: UnsafeMutableBufferPointer<UInt8>
    var count = 0

    mutating func append(_ character: Unicode.Scalar) {
        bytes[count] = UInt8(truncatingIfNeeded: character.value)
        count += 1
    }

    /// Appends a separator and a number of two digits.
    mutating func append(_ separator: Unicode.Scalar, _ number: Int64) {
        append(separator)
        appendTwoDigits(number)
    }

    /// - Parameter number: From 0 to 99.
    mutating func appendTwoDigits(_ number: Int64) {
        let number = UInt8(truncatingIfNeeded: number)
        bytes[count] = UInt8(ascii: "0") &+ number / 10
        bytes[count &+ 1] = UInt8(ascii: "0") &+ number % 10
        count &+= 2
    }

    /// Appends the first decimals of nanoseconds.
    mutating func append(fraction nanoseconds: UInt32, decimals: Int) {
        if decimals == 3 {
            let milliseconds = nanoseconds / 1_000_000
            bytes[count] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: milliseconds / 100)
            count &+= 1
            return appendTwoDigits(Int64(milliseconds % 100))
        }
        var rest = nanoseconds
        for _ in decimals..<9 { rest /= 10 }
        for place in (count..<count &+ decimals).reversed() {
            bytes[place] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count &+= decimals
    }

    /// Appends a number with leading zeros, and with more digits if it needs them.
    mutating func append(_ number: Int64, width: Int) {
        if number < 0 { append("-") }
        var rest = number.magnitude
        var length = 1
        while length < 20, rest >= 10 {
            rest /= 10
            length += 1
        }
        length = max(length, width)
        rest = number.magnitude
        for place in (count..<count + length).reversed() {
            bytes[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count += length
    }
}
