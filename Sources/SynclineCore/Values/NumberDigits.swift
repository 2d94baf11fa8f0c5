// A number by its digits, for comparing and calculating without rounding: decimals, and numbers that neither 64 bits nor
// a double hold.

/// The digits of a number: the fraction of which they are the decimals, times a power of ten. None begins or ends with
/// a zero, so equal numbers have equal digits.
package struct NumberDigits: Hashable, Sendable {
    package let isNegative: Bool
    package let exponent: Int
    /// Each from 0 to 9.
    package let digits: [UInt8]

    /// The largest exponent, of either sign, that a number in JSON's form may have.
    private static let exponentLimit = 999_999_999

    init(isNegative: Bool, exponent: Int, digits: some Collection<UInt8>) {
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

    /// Reads a number in JSON's form; nil for anything else.
    init?(_ text: String) {
        var text = text
        let digits = text.withUTF8 { utf8 -> NumberDigits? in
            NumberDigits.isInteger(utf8) == nil ? nil : NumberDigits(UnsafeRawBufferPointer(utf8))
        }
        guard let digits else { return nil }
        self = digits
    }

    /// The shortest digits that mean a finite double.
    package init?(shortest number: Double) {
        guard number.isFinite else { return nil }
        self.init("\(number)")
    }

    init(_ number: Int64) {
        let digits = String(number.magnitude).utf8.map { $0 & 15 }
        self.init(isNegative: number < 0, exponent: digits.count, digits: digits)
    }

    /// Whether UTF-8 in JSON's form of numbers has neither a point nor an exponent; nil if it has another form.
    static func isInteger(_ text: UnsafeBufferPointer<UInt8>) -> Bool? {
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

extension NumberDigits {
    static let zero = NumberDigits(isNegative: false, exponent: 0, digits: [])

    /// How many digits a decimal may have, and between which places of ten they are.
    private static let decimalDigits = 38
    private static let decimalPlaces = -128...164

    /// The digits of a number, or of a string that is one. Those of a double are the shortest that mean it.
    package init?(number value: Value) {
        let digits: NumberDigits?
        switch value {
        case .integer(let number): digits = NumberDigits(number)
        case .double(let number): digits = NumberDigits(shortest: number)
        case .number(let number): digits = NumberDigits(number.spelling)
        case .string(let text): digits = NumberDigits(text)
        default: digits = nil
        }
        guard let digits else { return nil }
        self = digits
    }

    /// The same if a decimal column holds it.
    package init?(decimal value: Value) {
        self.init(number: value)
        guard isDecimal else { return nil }
    }

    /// Whether a decimal column holds it.
    package var isDecimal: Bool {
        digits.isEmpty
            || digits.count <= NumberDigits.decimalDigits && exponent - 1 <= NumberDigits.decimalPlaces.upperBound
                && exponent - digits.count >= NumberDigits.decimalPlaces.lowerBound
    }

    /// The integer that it is, if it is a whole number of 64 bits.
    var integer: Int64? {
        guard digits.count <= exponent || digits.isEmpty, exponent < 20 else { return nil }
        var number: Int64 = 0
        for place in 0..<exponent {
            let digit = Int64(digits.indices.contains(place) ? digits[place] : 0)
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = tens.addingReportingOverflow(isNegative ? -digit : digit)
            if isTooLarge || overflow { return nil }
            number = sum
        }
        return number
    }

    /// The number as JSON, without an exponent unless there are many zeros.
    package var text: String {
        if digits.isEmpty { return "0" }
        let figures = digits.map { Character(Unicode.Scalar($0 + 0x30)) }
        let sign = isNegative ? "-" : ""
        guard (-20...45).contains(exponent) else {
            let rest = figures.count > 1 ? "." + String(figures.dropFirst()) : ""
            return "\(sign)\(figures[0])\(rest)E\(exponent - 1)"
        }
        if exponent <= 0 { return sign + "0." + String(repeating: "0", count: -exponent) + String(figures) }
        let whole = String(figures.prefix(exponent)) + String(repeating: "0", count: max(0, exponent - figures.count))
        return sign + whole + (figures.count > exponent ? "." + String(figures.dropFirst(exponent)) : "")
    }

    /// The number as JSON without an exponent, with at least this many digits after the point.
    package func plain(places: Int = 0) -> String {
        let whole = digits.prefix(max(0, exponent)) + Array(repeating: 0, count: max(0, exponent - digits.count))
        var fraction = Array(repeating: UInt8(0), count: digits.isEmpty ? 0 : max(0, -exponent))
        fraction += digits.dropFirst(max(0, exponent))
        fraction += Array(repeating: 0, count: max(0, places - fraction.count))
        func text(_ digits: [UInt8]) -> String { String(decoding: digits.map { $0 + 0x30 }, as: UTF8.self) }
        let number = (whole.isEmpty ? "0" : text(Array(whole))) + (fraction.isEmpty ? "" : "." + text(fraction))
        return (isNegative ? "-" : "") + number
    }

    /// The number as a value: an integer or a double if it is spelled as they are.
    package var value: Value { Value(number: text) ?? .null }
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
