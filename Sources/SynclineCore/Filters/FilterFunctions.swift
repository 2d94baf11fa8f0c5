// The functions and arithmetic of filters. Invalid operands (a null, a value of the wrong kind, a division by zero,
// an overflow) give null, which matches no comparison.

import SynclineGround

enum FilterArithmetic {
    static func apply(
        _ arithmetic: FilterExpression.Arithmetic, _ left: FilterOperand, _ right: FilterOperand
    ) -> FilterOperand {
        let values = (left.settled, right.settled)
        if isExact(left, right) || isExact(right, left) {
            guard let one = NumberDigits(number: values.0), let other = NumberDigits(number: values.1) else {
                return FilterOperand(.null)
            }
            return FilterOperand(apply(arithmetic, one, other)?.value ?? .null, .decimal)
        }
        if case .integer(let one) = values.0, case .integer(let other) = values.1 {
            return FilterOperand(integer(arithmetic, one, other))
        }
        guard let one = values.0.number, let other = values.1.number else { return FilterOperand(.null) }
        return FilterOperand(apply(arithmetic, one, other))
    }

    /// Whether a calculation is one of decimals: there is one, or an integer beside a literal with a fraction.
    private static func isExact(_ one: FilterOperand, _ other: FilterOperand) -> Bool {
        if one.type.isDecimal { return true }
        guard one.type == .integer, other.type == .any else { return false }
        if case .integer = other.value { return false }
        return true
    }

    private static func apply(
        _ arithmetic: FilterExpression.Arithmetic, _ left: NumberDigits, _ right: NumberDigits
    ) -> NumberDigits? {
        switch arithmetic {
        case .add: left + right
        case .sub: left - right
        case .mul: left * right
        case .div: left.divided(by: right)
        case .mod: left.remainder(dividingBy: right)
        }
    }

    private static func apply(_ arithmetic: FilterExpression.Arithmetic, _ left: Double, _ right: Double) -> Value {
        switch arithmetic {
        case .add: finite(left + right)
        case .sub: finite(left - right)
        case .mul: finite(left * right)
        case .div: finite(left / right)
        case .mod: finite(left.truncatingRemainder(dividingBy: right))
        }
    }

    /// Division of integers truncates towards zero, as on servers of the newer protocol. A result of more than 64 bits has
    /// all its digits.
    private static func integer(_ arithmetic: FilterExpression.Arithmetic, _ left: Int64, _ right: Int64) -> Value {
        let (result, overflow) =
            switch arithmetic {
            case .add: left.addingReportingOverflow(right)
            case .sub: left.subtractingReportingOverflow(right)
            case .mul: left.multipliedReportingOverflow(by: right)
            case .div: left.dividedReportingOverflow(by: right)
            case .mod: left.remainderReportingOverflow(dividingBy: right)
            }
        if !overflow { return .integer(result) }
        return right == 0 ? .null : apply(arithmetic, NumberDigits(left), NumberDigits(right))?.value ?? .null
    }

    static func negate(_ value: Value) -> Value {
        switch value {
        case .integer(let number): number == .min ? .null : .integer(-number)
        case .double(let number): .double(-number)
        case .number(let number): number.negated
        default: .null
        }
    }

    private static func finite(_ number: Double) -> Value {
        number.isFinite ? .double(number) : .null
    }
}

enum FilterFunctions {
    static func apply(_ function: FilterExpression.Function, _ arguments: [Value], _ work: FilterWork?) -> Value {
        switch function {
        case .contains, .startswith, .endswith, .indexof:
            guard case .string(let text) = arguments[0], case .string(let part) = arguments[1] else { return .null }
            return ofTwoTexts(function, text, part)
        case .concat:
            guard case .string(let text) = arguments[0], case .string(let part) = arguments[1],
                work?.mayMake(text.utf8.count + part.utf8.count) ?? true
            else { return .null }
            return .string(text + part)
        case .length:
            guard case .string(let text) = arguments[0] else { return .null }
            return .integer(Int64(text.unicodeScalars.count))
        case .toupper, .tolower, .trim:
            guard case .string(let text) = arguments[0] else { return .null }
            return made(ofText(function, text), work)
        case .substring:
            return made(substring(arguments), work)
        case .replace:
            guard case .string(let text) = arguments[0], case .string(let old) = arguments[1],
                case .string(let new) = arguments[2]
            else { return .null }
            return replace(text, old, new, work)
        case .year, .month, .day, .hour, .minute, .second:
            return ofDate(function, arguments[0])
        case .floor, .ceiling, .round:
            return rounded(function, arguments[0])
        case .element:
            guard case .array(let elements) = arguments[0] else { return .null }
            let wanted = FilterOperand(arguments[1])
            return .bool(elements.contains { FilterOperand.holds(.equal, FilterOperand($0), wanted) == true })
        }
    }

    // MARK: Texts

    /// Returns a string that is at most a few times larger than its operands.
    private static func made(_ text: String?, _ work: FilterWork?) -> Value {
        guard let text, work?.mayMake(text.utf8.count) ?? true else { return .null }
        return .string(text)
    }

    private static func ofTwoTexts(_ function: FilterExpression.Function, _ text: String, _ part: String) -> Value {
        switch function {
        case .startswith: return .bool(text.utf8.starts(with: part.utf8))
        case .endswith: return .bool(text.utf8.suffix(part.utf8.count).elementsEqual(part.utf8))
        default: break
        }
        var text = text
        return text.withUTF8 { text in
            let place = TextSearch(part).first(in: text)
            if function == .contains { return .bool(place != nil) }
            // Counted in letters: UTF-8 continuation bytes begin with the bits 10.
            return .integer(place.map { place in text[..<place].count { $0 & 0xc0 != 0x80 } }.map(Int64.init) ?? -1)
        }
    }

    private static func ofText(_ function: FilterExpression.Function, _ text: String) -> String {
        switch function {
        case .toupper: return text.uppercased()
        case .tolower: return text.lowercased()
        default:
            let isSpace: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
            guard let first = text.unicodeScalars.firstIndex(where: { !isSpace($0) }),
                let last = text.unicodeScalars.lastIndex(where: { !isSpace($0) })
            else { return "" }
            return String(text.unicodeScalars[first...last])
        }
    }

    private static func substring(_ arguments: [Value]) -> String? {
        guard case .string(let text) = arguments[0], case .integer(let start) = arguments[1], start >= 0 else {
            return nil
        }
        let rest = text.unicodeScalars.dropFirst(Int(clamping: start))
        guard arguments.count == 3 else { return String(rest) }
        guard case .integer(let length) = arguments[2], length >= 0 else { return nil }
        return String(rest.prefix(Int(clamping: length)))
    }

    /// The size is computed before the string is made. The text is searched twice, because a list of the occurrences
    /// would be eight times as large as a string of them.
    private static func replace(_ text: String, _ old: String, _ new: String, _ work: FilterWork?) -> Value {
        var (text, new) = (text, new)
        return text.withUTF8 { text in
            new.withUTF8 { new in
                let search = TextSearch(old)
                var count = 0
                search.forEach(in: text) { _ in count += 1 }
                let (more, isHuge) = count.multipliedReportingOverflow(by: new.count - old.utf8.count)
                if isHuge || work?.mayMake(text.count + more) == false { return .null }
                let replaced = String(unsafeUninitializedCapacity: text.count + more) { memory in
                    var (from, to) = (0, 0)
                    func copy(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
                        to = memory[to...].update(fromContentsOf: bytes[range])
                    }
                    search.forEach(in: text) { place in
                        copy(text, from..<place)
                        copy(new, 0..<new.count)
                        from = place + old.utf8.count
                    }
                    copy(text, from..<text.count)
                    return to
                }
                return .string(replaced)
            }
        }
    }

    // MARK: Dates and numbers

    private static func ofDate(_ function: FilterExpression.Function, _ value: Value) -> Value {
        guard let instant = value.instant else { return .null }
        let (days, second) = floorDivide(instant.seconds, by: 86_400)
        let date = CivilDate(daysSince1970: days)
        switch function {
        case .year: return .integer(date.year)
        case .month: return .integer(date.month)
        case .day: return .integer(date.day)
        case .hour: return .integer(second / 3600)
        case .minute: return .integer(second / 60 % 60)
        default: return .integer(second % 60)
        }
    }

    static func rounded(_ function: FilterExpression.Function, decimal value: Value) -> FilterOperand {
        guard let number = NumberDigits(number: value) else { return FilterOperand(.null) }
        let whole = number.truncated
        let rest = number - whole
        if rest.digits.isEmpty { return FilterOperand(value, .decimal) }
        let isAway =
            switch function {
            case .floor: number.isNegative
            case .ceiling: !number.isNegative
            default: rest.exponent == 0 && rest.digits[0] >= 5
            }
        let step = NumberDigits(number.isNegative ? -1 : 1)
        return FilterOperand((isAway ? whole + step : whole).value, .decimal)
    }

    private static func rounded(_ function: FilterExpression.Function, _ value: Value) -> Value {
        if case .integer = value { return value }
        if case .number(let number) = value {
            return number.isDouble ? rounded(function, .double(number.rounded)) : value
        }
        guard case .double(let number) = value else { return .null }
        switch function {
        case .floor: return .double(number.rounded(.down))
        case .ceiling: return .double(number.rounded(.up))
        default: return .double(number.rounded(.toNearestOrAwayFromZero))
        }
    }
}

extension Value {
    var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .number(let number): number.rounded.isFinite ? number.rounded : nil
        default: nil
        }
    }
}
