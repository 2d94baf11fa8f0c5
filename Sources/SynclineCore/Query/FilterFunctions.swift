// The functions and the arithmetic of filters. Anything that makes no sense (a null, a value of the wrong kind, a division by
// zero, an overflow) gives null, which no comparison holds for.

enum FilterArithmetic {
    static func apply(_ arithmetic: Expression.Arithmetic, _ left: Value, _ right: Value) -> Value {
        if case .integer(let left) = left, case .integer(let right) = right {
            return integer(arithmetic, left, right)
        }
        guard let left = left.number, let right = right.number else { return .null }
        switch arithmetic {
        case .add: return finite(left + right)
        case .sub: return finite(left - right)
        case .mul: return finite(left * right)
        case .div: return finite(left / right)
        case .mod: return finite(left.truncatingRemainder(dividingBy: right))
        }
    }

    /// Division of integers cuts towards zero, as both protocols' servers do.
    private static func integer(_ arithmetic: Expression.Arithmetic, _ left: Int64, _ right: Int64) -> Value {
        let (result, overflow) =
            switch arithmetic {
            case .add: left.addingReportingOverflow(right)
            case .sub: left.subtractingReportingOverflow(right)
            case .mul: left.multipliedReportingOverflow(by: right)
            case .div: left.dividedReportingOverflow(by: right)
            case .mod: left.remainderReportingOverflow(dividingBy: right)
            }
        return overflow ? .null : .integer(result)
    }

    static func negate(_ value: Value) -> Value {
        switch value {
        case .integer(let number): number == .min ? .null : .integer(-number)
        case .double(let number): .double(-number)
        default: .null
        }
    }

    private static func finite(_ number: Double) -> Value {
        number.isFinite ? .double(number) : .null
    }
}

enum FilterFunctions {
    static func apply(_ function: Expression.Function, _ arguments: [Value]) -> Value {
        switch function {
        case .contains, .startswith, .endswith, .indexof, .concat:
            guard case .string(let text) = arguments[0], case .string(let part) = arguments[1] else { return .null }
            return ofTwoTexts(function, Array(text.unicodeScalars), Array(part.unicodeScalars))
        case .toupper, .tolower, .trim, .length:
            guard case .string(let text) = arguments[0] else { return .null }
            return ofText(function, text)
        case .substring:
            return substring(arguments)
        case .replace:
            guard case .string(let text) = arguments[0], case .string(let old) = arguments[1],
                case .string(let new) = arguments[2]
            else { return .null }
            return .string(replace(Array(text.unicodeScalars), Array(old.unicodeScalars), new))
        case .year, .month, .day, .hour, .minute, .second:
            return ofDate(function, arguments[0])
        case .floor, .ceiling, .round:
            return rounded(function, arguments[0])
        }
    }

    // MARK: Texts

    private static func ofTwoTexts(
        _ function: Expression.Function, _ text: [Unicode.Scalar], _ part: [Unicode.Scalar]
    ) -> Value {
        switch function {
        case .contains: .bool(index(of: part, in: text) != nil)
        case .startswith: .bool(text.starts(with: part))
        case .endswith: .bool(text.reversed().starts(with: part.reversed()))
        case .indexof: .integer(Int64(index(of: part, in: text) ?? -1))
        default: .string(string(text + part))
        }
    }

    private static func ofText(_ function: Expression.Function, _ text: String) -> Value {
        switch function {
        case .toupper: return .string(text.uppercased())
        case .tolower: return .string(text.lowercased())
        case .length: return .integer(Int64(text.unicodeScalars.count))
        default:
            let scalars = Array(text.unicodeScalars)
            let isSpace: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
            guard let first = scalars.firstIndex(where: { !isSpace($0) }),
                let last = scalars.lastIndex(where: { !isSpace($0) })
            else { return .string("") }
            return .string(string(scalars[first...last]))
        }
    }

    private static func substring(_ arguments: [Value]) -> Value {
        guard case .string(let text) = arguments[0], case .integer(let start) = arguments[1], start >= 0 else {
            return .null
        }
        let rest = text.unicodeScalars.dropFirst(Int(clamping: start))
        guard arguments.count == 3 else { return .string(string(rest)) }
        guard case .integer(let length) = arguments[2], length >= 0 else { return .null }
        return .string(string(rest.prefix(Int(clamping: length))))
    }

    private static func replace(_ text: [Unicode.Scalar], _ old: [Unicode.Scalar], _ new: String) -> String {
        guard !old.isEmpty else { return string(text) }
        var result = String.UnicodeScalarView()
        var rest = text[...]
        while let place = index(of: old, in: Array(rest)) {
            result.append(contentsOf: rest.prefix(place))
            result.append(contentsOf: new.unicodeScalars)
            rest = rest.dropFirst(place + old.count)
        }
        result.append(contentsOf: rest)
        return String(result)
    }

    private static func index(of part: [Unicode.Scalar], in text: [Unicode.Scalar]) -> Int? {
        guard part.count <= text.count else { return nil }
        return (0...text.count - part.count).first { text[$0..<$0 + part.count].elementsEqual(part) }
    }

    private static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    // MARK: Dates and numbers

    private static func ofDate(_ function: Expression.Function, _ value: Value) -> Value {
        let instant: Timestamp.Instant
        switch value {
        case .date(let date): instant = date.instant
        case .string(let text):
            guard let date = Timestamp(text) else { return .null }
            instant = date.instant
        default: return .null
        }
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

    private static func rounded(_ function: Expression.Function, _ value: Value) -> Value {
        if case .integer = value { return value }
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
        default: nil
        }
    }
}
