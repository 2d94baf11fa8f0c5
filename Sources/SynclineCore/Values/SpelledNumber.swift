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

    /// Whether it is compared as the nearest double.
    package var isDouble: Bool { if case .double = meaning { true } else { false } }

    /// Whether it is a decimal for which no double can stand: it has more digits than the nearest one, or it is an integer
    /// beyond 64 bits.
    package var isExact: Bool {
        guard let digits = NumberDigits(spelling), digits.isDecimal else { return false }
        return !isDouble || NumberDigits(shortest: rounded) != digits
    }

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
