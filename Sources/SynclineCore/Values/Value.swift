// The value of a column. Values are kept exactly: all digits of numbers, the original form of dates, and the order in
// nested arrays and objects.

import SynclineGround

/// A value of a row.
public enum Value: Sendable {
    /// No value.
    case null
    /// A Boolean.
    case bool(Bool)
    /// An integer.
    case integer(Int64)
    /// A floating-point number. Never NaN or infinite: those are refused when rows are stored.
    case double(Double)
    /// A number with another spelling, or with more digits, than integers and doubles have. Never one that is spelled
    /// as its integer or double is.
    case number(SpelledNumber)
    /// A string.
    case string(String)
    /// An instant, with its original form.
    case date(Timestamp)
    /// Bytes; base64 in JSON.
    case bytes([UInt8])
    /// An array.
    case array([Value])
    /// An object, with its members in their original order.
    case object([Member])

    /// One member of a nested object.
    public struct Member: Sendable {
        /// The member's name.
        public var name: String
        /// The member's value.
        public var value: Value

        /// Creates a member.
        public init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// Whether the value is null.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// A member of an object; nil if it has none of that name, or is not an object.
    package subscript(member name: String) -> Value? {
        guard case .object(let members) = self else { return nil }
        return members[member: name]
    }
}

extension [Value.Member] {
    /// The value of a member. Of two with one name the last counts.
    package subscript(member name: String) -> Value? { last { $0.name.hasSameBytes(as: name) }?.value }
}

extension Value {
    /// Returns whether two values are equivalent: numbers are compared as numbers; dates, and a date with a date
    /// string, as instants; objects regardless of the order of their members; everything else exactly.
    public func means(_ other: Value) -> Bool {
        switch (self, other) {
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { $0.means($1) }
        case (.object(let left), .object(let right)):
            return (left + right).allSatisfy { member in
                (left[member: member.name] ?? .null).means(right[member: member.name] ?? .null)
            }
        default:
            let order = Value.compare(self, other)
            return order == .equal || order == .none && self == other
        }
    }

    /// Returns whether to write a value over this one changes nothing: they are equivalent. But an integer and a number
    /// with a point are two values; and a double changes nothing over digits that round to it.
    package func stays(under new: Value) -> Bool {
        switch (self, new) {
        case (.integer, .double), (.double, .integer), (.integer, .number), (.number, .integer): false
        case (.number(let number), .double(let new)): number.rounded == new
        case (.double(let number), .number(let new)): number == new.rounded
        case (.number(let number), .number(let new)):
            number.meaning == new.meaning || new.isDouble && number.rounded == new.rounded
        case (.array(let elements), .array(let new)):
            elements.count == new.count && zip(elements, new).allSatisfy { $0.stays(under: $1) }
        case (.object(let members), .object(let new)):
            (members + new).allSatisfy { member in
                (members[member: member.name] ?? .null).stays(under: new[member: member.name] ?? .null)
            }
        default: means(new)
        }
    }

    /// Returns whether two values are equal, regardless of the order of the members of objects and of the spelling of
    /// numbers.
    package func isSame(as other: Value) -> Bool {
        if self == other { return true }
        switch (self, other) {
        case (.number(let number), .double(let other)), (.double(let other), .number(let number)):
            return number.meaning == .double(other)
        case (.number(let left), .number(let right)): return left.meaning == right.meaning
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)):
            return left.count == right.count
                && zip(left.sorted(by: Value.precedes), right.sorted(by: Value.precedes)).allSatisfy {
                    $0.name.hasSameBytes(as: $1.name) && $0.value.isSame(as: $1.value)
                }
        default: return false
        }
    }

    private static func precedes(_ left: Member, _ right: Member) -> Bool {
        compare(.string(left.name), .string(right.name)) == .less
    }

    /// The result of comparing two values.
    public enum Order: Hashable, Sendable {
        /// The values have an order.
        case less, equal, greater
        /// The values are of different kinds, or of a kind without an order.
        case none
    }

    /// Compares two values of one kind: numbers exactly, whatever their form; strings by their Unicode scalars;
    /// dates as instants, also with date strings.
    public static func compare(_ left: Value, _ right: Value) -> Order {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): order(left, right)
        case (.double(let left), .double(let right)): order(left, right)
        case (.integer(let left), .double(let right)): order(left, right)
        case (.double(let left), .integer(let right)): order(right, left).reversed
        case (.number(let left), _): left.isDouble ? compare(.double(left.rounded), right) : order(left, right)
        case (_, .number(let right)): compare(.number(right), left).reversed
        case (.string(let left), .string(let right)): order(left.unicodeScalars, right.unicodeScalars)
        case (.bool(let left), .bool(let right)): order(left ? 1 : 0, right ? 1 : 0)
        case (.bytes(let left), .bytes(let right)): order(left, right)
        case (.date(let left), .date(let right)): order(left.instant, right.instant)
        case (.date(let left), .string(let right)):
            Timestamp(right).map { order(left.instant, $0.instant) } ?? .none
        case (.string(let left), .date(let right)):
            Timestamp(left).map { order($0.instant, right.instant) } ?? .none
        default: .none
        }
    }

    /// Compares a number that no integer and no double holds with another value.
    private static func order(_ left: SpelledNumber, _ right: Value) -> Order {
        guard case .digits(let digits) = left.meaning else { return .none }
        switch right {
        case .integer(let number): return order(digits, NumberDigits(number))
        case .number(let number):
            if case .digits(let other) = number.meaning { return order(digits, other) }
            return order(left, .double(number.rounded))
        case .double(let number):
            if let other = NumberDigits(whole: number) { return order(digits, other) }
            // Any fraction is nearer to zero.
            return number.isNaN
                ? .none
                : number.isInfinite
                    ? (number > 0 ? .less : .greater)
                    : digits.isNegative ? .less : .greater
        default: return .none
        }
    }

    static func order<Number: Comparable>(_ left: Number, _ right: Number) -> Order {
        left < right ? .less : left == right ? .equal : .greater
    }

    static func order<Elements: Sequence>(_ left: Elements, _ right: Elements) -> Order
    where Elements.Element: Comparable {
        left.elementsEqual(right) ? .equal : left.lexicographicallyPrecedes(right) ? .less : .greater
    }

    /// Compares an integer with a double without rounding either: the double's whole part fits into 64 bits, or its
    /// size decides.
    private static func order(_ left: Int64, _ right: Double) -> Order {
        if right >= 0x1p63 { return .less }
        if right < -0x1p63 { return .greater }
        let whole = Int64(right)
        if left != whole { return left < whole ? .less : .greater }
        let fraction = right - right.rounded(.towardZero)
        return fraction > 0 ? .less : fraction < 0 ? .greater : .equal
    }
}

extension Value.Order {
    var reversed: Value.Order {
        switch self {
        case .less: .greater
        case .greater: .less
        default: self
        }
    }
}
