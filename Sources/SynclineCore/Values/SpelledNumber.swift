// A number that keeps its spelling. JSON has many spellings of one number, and numbers that no integer and no double
// holds; what comes from a server goes back as it came. A number that is spelled as its integer or double would be is
// never one of these, so that equal numbers have one representation unless their spellings differ.

import SynclineGround

/// A number that is spelled otherwise than the integer or the double that it means, such as `1.50` or `1e3`, or that
/// neither can hold, such as `18446744073709551615`.
public struct SpelledNumber: Hashable, Sendable {
    /// The number as JSON.
    public let spelling: String
    /// What it is compared by.
    package let meaning: Meaning

    package enum Meaning: Hashable, Sendable {
        /// The nearest double, of a number with a point or an exponent.
        case double(Double)
        /// Its digits: an integer beyond 64 bits, or a number beyond the largest double.
        case digits(NumberDigits)
    }

    public static func == (left: Self, right: Self) -> Bool { left.spelling.hasSameBytes(as: right.spelling) }

    public func hash(into hasher: inout Hasher) { hasher.combine(ExactString(spelling)) }
}

extension SpelledNumber {
    /// Whether it is compared as the nearest double.
    package var isDouble: Bool { if case .double = meaning { true } else { false } }

    /// The same number with the other sign.
    package var negated: Value {
        let other = spelling.hasPrefix("-") ? String(spelling.dropFirst()) : "-" + spelling
        return Value(number: other) ?? .null
    }

    /// The nearest double; infinite if it is beyond the largest.
    package var rounded: Double {
        switch meaning {
        case .double(let number): number
        case .digits: Double(spelling) ?? .nan
        }
    }
}

extension Value {
    /// Creates the value of a number in JSON's form; nil if its exponent is beyond what can be compared.
    /// - Parameter isInteger: Whether it has neither a point nor an exponent.
    package init?(number text: UnsafeRawBufferPointer, isInteger: Bool) {
        let spelling = String(decoding: text, as: UTF8.self)
        if isInteger {
            if let integer = Int64(spelling), spelling != "-0" {
                self = .integer(integer)
                return
            }
        } else if let number = Double(spelling), number.isFinite {
            let isPlain = Value.isPlain(text) || "\(number)" == spelling
            self = isPlain ? .double(number) : .number(SpelledNumber(spelling: spelling, meaning: .double(number)))
            return
        }
        if spelling == "-0" {
            self = .number(SpelledNumber(spelling: spelling, meaning: .double(-0.0)))
            return
        }
        guard let digits = NumberDigits(text) else { return nil }
        self = .number(SpelledNumber(spelling: spelling, meaning: .digits(digits)))
    }

    /// Creates the value of a number in JSON's form; nil for anything else.
    package init?(number spelling: String) {
        var spelling = spelling
        guard
            let value = spelling.withUTF8({ text -> Value? in
                guard let isInteger = NumberDigits.isInteger(text) else { return nil }
                return Value(number: UnsafeRawBufferPointer(text), isInteger: isInteger)
            })
        else { return nil }
        self = value
    }

    /// Whether a number with a point is certainly spelled as its double is: at most 15 digits, none of them needless.
    private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
        let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        guard digits.count <= 16, let last = digits.last, let point = digits.firstIndex(of: UInt8(ascii: ".")) else {
            return false
        }
        let isFraction = digits.allSatisfy { $0 == UInt8(ascii: ".") || $0 &- 0x30 < 10 }
        let isShort = last != UInt8(ascii: "0") || point == digits.endIndex - 2
        // Smaller numbers are written with an exponent.
        let isLarge = digits.first != UInt8(ascii: "0") || digits.dropFirst(2).prefix(3).contains { $0 != 0x30 }
        return isFraction && isShort && isLarge
    }

    /// The same number as an integer or a double, for what can't keep a spelling: the nearest double, or null for a
    /// number beyond the largest. Any other value is itself.
    package var unspelled: Value {
        guard case .number(let number) = self else { return self }
        return number.rounded.isFinite ? .double(number.rounded) : .null
    }
}

/// The digits of a number: the fraction of which they are the decimals, times a power of ten. None begins or ends with
/// a zero, so equal numbers have equal digits.
package struct NumberDigits: Hashable, Sendable {
    package let isNegative: Bool
    package let exponent: Int
    /// Each from 0 to 9.
    package let digits: [UInt8]

    /// The largest exponent, of either sign, that a number in JSON's form may have.
    private static let exponentLimit = 999_999_999

    private init(isNegative: Bool, exponent: Int, digits: some Collection<UInt8>) {
        let whole = digits.drop { $0 == 0 }
        var kept = Array(whole)
        while kept.last == 0 { kept.removeLast() }
        self.isNegative = isNegative && !kept.isEmpty
        self.exponent = kept.isEmpty ? 0 : exponent - (digits.count - whole.count)
        self.digits = kept
    }

    /// Reads a number in JSON's form; nil if its exponent is too large.
    init?(_ text: UnsafeRawBufferPointer) {
        let isNegative = text.first == UInt8(ascii: "-")
        var digits: [UInt8] = []
        var (exponent, isWhole) = (0, true)
        for (place, byte) in text.enumerated().dropFirst(isNegative ? 1 : 0) {
            if byte == UInt8(ascii: ".") {
                isWhole = false
            } else if byte | 0x20 == UInt8(ascii: "e") {
                let written = String(decoding: text[(place + 1)...], as: UTF8.self)
                guard let more = Int(written), abs(more) <= NumberDigits.exponentLimit else { return nil }
                exponent += more
                break
            } else {
                digits.append(byte & 15)
                if isWhole { exponent += 1 }
            }
        }
        self.init(isNegative: isNegative, exponent: exponent, digits: digits)
    }

    /// The digits of a double, all of them, if it is a whole number.
    init?(whole number: Double) {
        guard number.isFinite, number == number.rounded() else { return nil }
        // Groups of nine digits, the lowest first.
        var groups = [UInt64(number.magnitude < 0x1p53 ? number.magnitude : number.significand * 0x1p52)]
        for _ in 0..<(number.magnitude < 0x1p53 ? 0 : Int(number.exponent) - 52) {
            var carry: UInt64 = 0
            for index in groups.indices {
                let doubled = groups[index] * 2 + carry
                groups[index] = doubled % 1_000_000_000_000_000_000
                carry = doubled / 1_000_000_000_000_000_000
            }
            if carry > 0 { groups.append(carry) }
        }
        var digits: [UInt8] = []
        for var group in groups {
            for _ in 0..<18 {
                digits.append(UInt8(group % 10))
                group /= 10
            }
        }
        self.init(isNegative: number < 0, exponent: digits.count, digits: digits.reversed())
    }

    init(_ number: Int64) {
        let digits = String(number.magnitude).utf8.map { $0 & 15 }
        self.init(isNegative: number < 0, exponent: digits.count, digits: digits)
    }

    /// Whether UTF-8 in JSON's form of numbers has neither a point nor an exponent; nil if it has another form.
    fileprivate static func isInteger(_ text: UnsafeBufferPointer<UInt8>) -> Bool? {
        var rest = text[...]
        func skipDigits() -> Int {
            let count = rest.prefix { $0 &- 0x30 < 10 }.count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let hasZero = rest.first == UInt8(ascii: "0")
        let count = skipDigits()
        guard count > 0, !hasZero || count == 1 else { return nil }
        var isInteger = true
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            isInteger = false
            guard skipDigits() > 0 else { return nil }
        }
        if let sign = rest.first, sign | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            isInteger = false
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard skipDigits() > 0 else { return nil }
        }
        return rest.isEmpty ? isInteger : nil
    }
}

extension NumberDigits: Comparable {
    package static func < (left: NumberDigits, right: NumberDigits) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.isNearer(than: left) : left.isNearer(than: right)
    }

    /// Whether it is nearer to zero.
    private func isNearer(than other: NumberDigits) -> Bool {
        if digits.isEmpty || other.digits.isEmpty { return !other.digits.isEmpty && digits.isEmpty }
        if exponent != other.exponent { return exponent < other.exponent }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}
