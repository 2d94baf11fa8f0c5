// The meaning of a value in a column: what the column's type makes of it. Two spellings of one instant, UUID or number
// have one meaning.

import SynclineGround

/// The meaning of a value in a column of some type.
package enum Meaning: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case decimal(NumberDigits)
    case string(String)
    case date(Timestamp.Instant)
    case uuid(UUIDDigits)
    case bytes([UInt8])
    /// A value of a column without a type.
    case plain(Value)
    /// A value that does not fit the type.
    case unfit(Value)

    package init(_ value: Value, as type: ColumnType) {
        if value.isNull {
            self = .null
            return
        }
        let meaning: Meaning? =
            switch type {
            case .any, .json: .plain(value)
            case .string: if case .string(let text) = value { .string(text) } else { nil }
            case .boolean: if case .bool(let flag) = value { .bool(flag) } else { nil }
            case .integer: value.wholeNumber.map { .integer($0) }
            case .number: value.nearestDouble.map { .number($0) }
            case .decimal, .decimalString: NumberDigits(decimal: value).map { .decimal($0) }
            case .date: value.instant.map { .date($0) }
            case .uuid, .guid: value.uuid.map { .uuid($0) }
            case .bytes: value.byteContent.map { .bytes($0) }
            }
        self = meaning ?? .unfit(value)
    }

    /// Whether the value fits the type.
    package var fits: Bool { if case .unfit = self { false } else { true } }

    /// The order of two meanings of one type, neither of them null. What fits and what does not has no order.
    static func compare(_ left: Meaning, _ right: Meaning) -> Value.Order {
        switch (left, right) {
        case (.bool(let left), .bool(let right)): Value.compare(.bool(left), .bool(right))
        case (.integer(let left), .integer(let right)): Value.order(left, right)
        case (.number(let left), .number(let right)): Value.order(left, right)
        case (.decimal(let left), .decimal(let right)): Value.order(left, right)
        case (.string(let left), .string(let right)): Value.order(left.unicodeScalars, right.unicodeScalars)
        case (.date(let left), .date(let right)): Value.order(left, right)
        case (.uuid(let left), .uuid(let right)): Value.order(left, right)
        case (.bytes(let left), .bytes(let right)): Value.order(left, right)
        case (.plain(let left), .plain(let right)), (.unfit(let left), .unfit(let right)): Value.compare(left, right)
        default: .none
        }
    }

    /// Whether two meanings of one type are the same.
    static func areSame(_ left: Meaning, _ right: Meaning) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.plain(let left), .plain(let right)), (.unfit(let left), .unfit(let right)): left.means(right)
        default: compare(left, right) == .equal
        }
    }
}

extension ColumnType {
    /// Whether a value fits. Null always does.
    package func fits(_ value: Value) -> Bool { Meaning(value, as: self).fits }

    /// Whether two values have one meaning.
    package func areSame(_ left: Value, _ right: Value) -> Bool {
        if isPlain { return left.means(right) }
        return left == right || Meaning.areSame(Meaning(left, as: self), Meaning(right, as: self))
    }

    /// Whether writing a value over another one changes nothing. Without a type, an integer and a number with a point are
    /// two values.
    package func keeps(_ current: Value, under new: Value) -> Bool {
        self == .any ? current.stays(under: new) : areSame(current, new)
    }
}

extension Value {
    /// Whether it is a number.
    var isNumber: Bool {
        switch self {
        case .integer, .double, .number: true
        default: false
        }
    }

    /// The integer that it is, if it is a whole number of 64 bits.
    fileprivate var wholeNumber: Int64? {
        switch self {
        case .integer(let number): number
        case .double(let number): Int64(exactly: number)
        case .number(let number): NumberDigits(number.spelling).flatMap(\.integer)
        default: nil
        }
    }

    /// The nearest double of a number, if it is finite. There is one zero.
    fileprivate var nearestDouble: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number + 0
        case .number(let number): number.rounded.isFinite ? number.rounded + 0 : nil
        default: nil
        }
    }

    /// The instant of a date, or of a string that is one.
    package var instant: Timestamp.Instant? {
        switch self {
        case .date(let date): date.instant
        case .string(let text): Timestamp(text)?.instant
        default: nil
        }
    }

    fileprivate var uuid: UUIDDigits? {
        guard case .string(var text) = self else { return nil }
        let digits = text.withUTF8 { UUIDDigits(anyCase: UnsafeRawBufferPointer($0)) }
        return digits.map { UUIDDigits(first: $0.first, second: $0.second, isUpper: true) }
    }

    fileprivate var byteContent: [UInt8]? {
        switch self {
        case .bytes(let content): content
        case .string(let text): Base64.decode(text)
        default: nil
        }
    }
}
