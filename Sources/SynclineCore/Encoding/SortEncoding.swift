// Values as bytes that sort as the values do in the order of a query: null first, then those that fit the type of their
// column, then the others. In a column without a type they sort by kind, then within the kind. Strings sort by their
// Unicode scalars, which is the order of their UTF-8. No encoding is the beginning of another one, so several can follow
// each other, and inverted bytes sort in descending order.
//
//   01 null · 02 bool (1) · 03 uuid (16) · 04 number (8) [rest (2)] · 05 date: seconds (8) nanoseconds (4)
//   06 string 00 end · 07 bytes 00 end · 08 array · 09 object · 0a decimal: 02 zero, or 03 exponent (2) digits 00, or the
//   same with 01 and inverted if it is negative · 0b what does not fit the type, as in a column without one
//
// A decimal has two digits in a byte, and 1 more.
// Within strings and bytes, a zero is written 00 ff. The end is 00, or 01 if the rest was cut off. A number is the
// largest double that is not greater; from 2^53 on, the rest is what a 64-bit integer has above it. From 2^63 on there
// are few such integers, and a number that no double holds has the rest ffff, then its exponent (4) and its digits 00,
// inverted if it is negative.

import SynclineGround

enum SortTag {
    static let null: UInt8 = 1
    static let bool: UInt8 = 2
    static let uuid: UInt8 = 3
    static let number: UInt8 = 4
    static let date: UInt8 = 5
    static let string: UInt8 = 6
    static let bytes: UInt8 = 7
    static let array: UInt8 = 8
    static let object: UInt8 = 9
    static let decimal: UInt8 = 10
    static let unfit: UInt8 = 11
    /// Follows the zero after a string: it is whole, or it was cut off.
    static let whole: UInt8 = 0
    static let cut: UInt8 = 1
}

extension ByteWriter {
    /// Appends a value's place in the order of a column without a type.
    mutating func append(sortOf value: Value, limit: Int) {
        switch value {
        case .null: append(SortTag.null)
        case .bool(let flag): append(sortOf: flag)
        case .integer(let number): append(sortOf: number)
        case .double(let number): append(sortOf: number)
        case .number(let number): append(sortOf: number)
        case .date(let date): append(sortOf: date.instant)
        case .string(var text):
            text.withUTF8 { append(sortOf: SortTag.string, UnsafeRawBufferPointer($0), limit: limit) }
        case .bytes(let content): content.withUnsafeBytes { append(sortOf: SortTag.bytes, $0, limit: limit) }
        case .array: append(SortTag.array)
        case .object: append(SortTag.object)
        }
    }

    mutating func append(sortOfEncoded value: UnsafeRawBufferPointer, limit: Int) throws(MalformedBytes) {
        var reader = ByteReader(value)
        guard let tag = value.first else { throw MalformedBytes() }
        if tag & 0xc0 == ValueTag.smallInteger { return append(sortOf: Int64(tag & 0x3f)) }
        switch tag {
        case ValueTag.null: append(SortTag.null)
        case ValueTag.no, ValueTag.yes: append(sortOf: tag == ValueTag.yes)
        case ValueTag.array: append(SortTag.array)
        case ValueTag.object: append(SortTag.object)
        case ValueTag.integer:
            try reader.skip(1)
            append(sortOf: try reader.zigzag())
        default:
            // Copies write into the same memory.
            var writer = self
            let isText: Void? = try reader.withText { writer.append(sortOf: SortTag.string, $0, limit: limit) }
            if isText == nil { append(sortOf: try reader.value(), limit: limit) }
        }
    }

    mutating func append(sortOf flag: Bool) {
        append(SortTag.bool)
        append(flag ? 1 : 0)
    }

    mutating func append(sortOf number: Int64) {
        var floor = Double(number)
        // Rounding to the nearest double may have gone up.
        if floor >= 0x1p63 || Int64(floor) > number { floor = floor.nextDown }
        append(sortOf: floor, rest: UInt16(truncatingIfNeeded: number &- Int64(floor)))
    }

    mutating func append(sortOf number: Double) { append(sortOf: number, rest: 0) }

    private mutating func append(sortOf number: SpelledNumber) {
        guard case .digits(let digits) = number.meaning else { return append(sortOf: number.rounded) }
        var floor = number.rounded
        if NumberDigits(whole: floor).map({ digits < $0 }) ?? (floor > 0) { floor = floor.nextDown }
        if NumberDigits(whole: floor) == digits { return append(sortOf: floor) }
        append(sortOf: floor, rest: SortEncoding.restOfDigits)
        let start = count
        let exponent = UInt32(bitPattern: Int32(clamping: digits.exponent)) ^ 1 << 31
        for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: exponent >> shift)) }
        for digit in digits.digits { append(digit + 1) }
        append(0)
        if digits.isNegative { invert(from: start) }
    }

    package mutating func append(sortOf decimal: NumberDigits) {
        append(SortTag.decimal)
        if decimal.digits.isEmpty { return append(2) }
        append(decimal.isNegative ? 1 : 3)
        let start = count
        let exponent = UInt16(bitPattern: Int16(clamping: decimal.exponent)) ^ 1 << 15
        append(UInt8(exponent >> 8))
        append(UInt8(truncatingIfNeeded: exponent))
        var digits = decimal.digits[...]
        while let digit = digits.popFirst() { append(digit * 10 + (digits.popFirst() ?? 0) + 1) }
        append(0)
        if decimal.isNegative { invert(from: start) }
    }

    private mutating func append(sortOf floor: Double, rest: UInt16) {
        append(SortTag.number)
        // Zero has two bit patterns.
        let bits = (floor == 0 ? 0 : floor).bitPattern
        append(ordered: bits >> 63 == 1 ? ~bits : bits | 1 << 63)
        guard floor.magnitude >= SortEncoding.firstWithRest else { return }
        append(UInt8(rest >> 8))
        append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func append(sortOf instant: Timestamp.Instant) {
        append(SortTag.date)
        append(ordered: UInt64(bitPattern: instant.seconds) ^ 1 << 63)
        append(UInt8(truncatingIfNeeded: instant.nanoseconds >> 24))
        append(UInt8(truncatingIfNeeded: instant.nanoseconds >> 16))
        append(UInt8(truncatingIfNeeded: instant.nanoseconds >> 8))
        append(UInt8(truncatingIfNeeded: instant.nanoseconds))
    }

    mutating func append(sortOf tag: UInt8, _ content: UnsafeRawBufferPointer, limit: Int) {
        append(tag)
        append(escaped: UnsafeRawBufferPointer(rebasing: content.prefix(limit)))
        append(0)
        append(content.count > limit ? SortTag.cut : SortTag.whole)
    }

    /// Appends bytes so that a zero among them sorts after the end.
    mutating func append(escaped content: UnsafeRawBufferPointer) {
        guard content.hasZero else { return append(content) }
        for byte in content {
            append(byte)
            if byte == 0 { append(0xff) }
        }
    }

    /// Inverts the bytes from an offset on.
    mutating func invert(from start: Int) {
        withView { bytes in
            let memory = UnsafeMutableRawBufferPointer(mutating: bytes)
            for place in start..<memory.count { memory[place] = ~memory[place] }
        }
    }
}

enum SortEncoding {
    /// Not every whole number from here on is a double.
    fileprivate static let firstWithRest = 0x1p53
    /// From here on, integers of 64 bits have small rests, if any.
    fileprivate static let firstWithDigits = 0x1p63
    fileprivate static let restOfDigits: UInt16 = 0xffff
}

extension ByteReader {
    /// Reads a number's place in an order, after its tag; nil if it is not a whole number, or too large to be sure.
    mutating func sortedInteger() throws(MalformedBytes) -> Int64? {
        let (number, _) = try sortedNumber()
        return number.magnitude < SortEncoding.firstWithRest ? Int64(exactly: number) : nil
    }

    /// Reads a number's place in an order, after its tag: the largest double that is not greater, and what an integer has
    /// above it.
    mutating func sortedNumber() throws(MalformedBytes) -> (floor: Double, rest: UInt16) {
        let bits = try ordered()
        let floor = Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
        guard floor.magnitude >= SortEncoding.firstWithRest else { return (floor, 0) }
        return (floor, UInt16(try byte()) << 8 | UInt16(try byte()))
    }

    /// Reads a date's place in an order, after its tag.
    mutating func sortedInstant() throws(MalformedBytes) -> Timestamp.Instant {
        let seconds = Int64(bitPattern: try ordered() ^ 1 << 63)
        let nanoseconds = try take(4).reduce(0) { $0 << 8 | UInt32($1) }
        return Timestamp.Instant(seconds: seconds, nanoseconds: nanoseconds)
    }

    /// Steps over an encoded place in an order. Returns how many of its bytes the whole value's encoding begins with,
    /// if it was cut off.
    mutating func skipSortValue() throws(MalformedBytes) -> Int? {
        let start = offset
        switch try byte() {
        case SortTag.null, SortTag.array, SortTag.object: return nil
        case SortTag.bool: try skip(1)
        case SortTag.uuid: try skip(16)
        case SortTag.unfit: return try skipSortValue().map { $0 + 1 }
        case SortTag.decimal:
            let sign = try byte()
            if sign == 2 { return nil }
            try skip(2)
            while try byte() != (sign == 1 ? 0xff : 0) {}
        case SortTag.number:
            let (floor, rest) = try sortedNumber()
            guard floor.magnitude >= SortEncoding.firstWithDigits, rest == SortEncoding.restOfDigits else { return nil }
            try skip(4)
            while try byte() != (floor < 0 ? 0xff : 0) {}
        case SortTag.date: try skip(12)
        case SortTag.string, SortTag.bytes:
            while true {
                guard try byte() == 0 else { continue }
                switch try byte() {
                case SortTag.whole: return nil
                case SortTag.cut: return offset - 2 - start
                default: continue
                }
            }
        default: throw MalformedBytes()
        }
        return nil
    }
}
