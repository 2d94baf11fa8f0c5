// The values that a column holds, by its type, and the form in which they are stored. A number keeps its digits, a date
// its instant and a UUID its spelling. What can't be held is refused, and never becomes another value.

package import SynclineCore
import SynclineWire

extension ColumnType {
    /// The types that a column of a server can have.
    package static let served: [ColumnType] = [
        .string, .number, .decimal, .decimalString, .boolean, .date, .uuid, .json,
    ]

    /// The ways in which values are stored and compared.
    package enum Form: Hashable {
        case string, number, decimal, boolean, date, uuid, json
    }

    package var form: Form {
        switch self {
        case .string, .bytes: .string
        case .integer, .number: .number
        case .decimal, .decimalString: .decimal
        case .boolean: .boolean
        case .date: .date
        case .uuid, .guid: .uuid
        case .any, .json: .json
        }
    }

    /// The type of a new column with this first value; nil for null, which has none.
    package init?(of value: Value) {
        switch value {
        case .null: return nil
        case .bool: self = .boolean
        case .integer, .double, .number: self = .number
        case .string, .bytes: self = .string
        case .date: self = .date
        case .array, .object: self = .json
        }
    }
}

/// The numbers that a database's column keeps as they are.
package enum NumberPrecision: Hashable, Sendable {
    /// Integers of 64 bits, doubles, and decimals.
    case decimals
    /// Integers of 64 bits, and doubles.
    case integers
    case doubles
}

/// What a database adds to a column's type.
package struct ColumnLimits: Hashable, Sendable {
    package var precision = NumberPrecision.decimals
    /// The decimals of a second that a date can have.
    package var decimals: UInt8 = 9
}

extension Column {
    /// Whether its values are compared by a meaning that several spellings can have.
    package var isMeant: Bool { [.decimal, .date, .uuid].contains(type.form) }

    /// The stored form of a value.
    package func stored(_ value: Value, _ limits: ColumnLimits) throws(Refusal) -> Value {
        if value.isNull { return value }
        if type.form == .string || type.form == .json { try check(value) }
        if let held = held(value, limits) { return held }
        let isNumber = [.number, .decimal].contains(type.form) && NumberDigits(number: value) != nil
        throw Refusal(
            400, "invalid-value",
            "Column \(name) holds \(plural), but the value \(isNumber ? "has other digits" : "is \(value.kindName)")")
    }

    /// Nil if the column can't hold the value.
    private func held(_ value: Value, _ limits: ColumnLimits) -> Value? {
        switch (type.form, value) {
        case (.string, .string), (.boolean, .bool), (.json, _): value
        case (.number, .integer), (.number, .double), (.number, .number): value.number(limits.precision)
        case (.decimal, _): value.decimalText.flatMap { decimal($0, limits) }
        case (.uuid, .string): type.fits(value) ? value : nil
        case (.date, .string(let text)): Timestamp(anyForm: text).flatMap { Column.date($0, limits) }
        case (.date, .date(let date)): Column.date(date, limits)
        default: nil
        }
    }

    private func decimal(_ text: String, _ limits: ColumnLimits) -> Value? {
        let number = Value(number: text)
        if number?.number(limits.precision) == nil { return nil }
        return type == .decimalString ? .string(text) : number
    }

    /// Databases support years from 1, and the protocols up to 9999, in UTC.
    private static func date(_ date: Timestamp, _ limits: ColumnLimits) -> Value? {
        guard (-62_135_596_800...253_402_300_799).contains(date.instant.seconds) else { return nil }
        return .date(Timestamp(kept: date.instant, decimals: limits.decimals))
    }

    private var plural: String {
        switch type.form {
        case .string: "strings"
        case .number: "doubles and numbers of at most 38 digits"
        case .decimal: "numbers of at most 38 digits"
        case .boolean: "true or false"
        case .date: "dates such as 2026-05-19T21:30:00.000Z"
        case .uuid: "UUIDs such as 6F9619FF-8B86-D011-B42D-00C04FC964FF"
        case .json: "any JSON"
        }
    }

    // MARK: Strings

    /// PostgreSQL's strings can't hold U+0000, so neither database receives it.
    package var zero: Refusal { Refusal(400, "invalid-value", "A string in column \(name) contains U+0000") }

    private func check(_ value: Value) throws(Refusal) {
        switch value {
        case .string(let text): if text.utf8.contains(0) { throw zero }
        case .array(let elements): for element in elements { try check(element) }
        case .object(let members):
            for member in members {
                try check(.string(member.name))
                try check(member.value)
            }
        default: break
        }
    }
}

extension Value {
    /// A number in the form of a column of numbers: an integer of 64 bits, a double, or a decimal for which none of them
    /// can stand. Nil for one that the precision does not keep, and for other values. There is one zero.
    package func number(_ precision: NumberPrecision = .decimals) -> Value? {
        switch self {
        case .integer(let number): return precision != .doubles || Int64(exactly: Double(number)) == number ? self : nil
        case .double(let number): return .double(number == 0 ? 0 : number)
        case .number(let number):
            guard let digits = NumberDigits(number: self) else { return nil }
            if number.isExact, precision == .decimals { return Value(number: digits.plain()) }
            let double = number.rounded
            return NumberDigits(shortest: double) == digits ? .double(double == 0 ? 0 : double) : nil
        default: return nil
        }
    }

    /// A decimal with all its digits, those after the point as many as it was spelled with; nil for anything else.
    package var decimalText: String? {
        guard let digits = NumberDigits(decimal: self) else { return nil }
        let spelling = if case .string(let text) = self { text } else { json }
        let parts = spelling.lowercased().split(separator: "e")
        let sides = (parts.first ?? "").split(separator: ".")
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let places = (sides.count > 1 ? sides[1].count : 0) - exponent
        return digits.plain(places: min(128, places))
    }
}

extension Timestamp {
    /// A moment in UTC, cut off after some decimals. It is written with three, or with as many as it needs.
    package init(kept instant: Instant, decimals limit: UInt8 = 9) {
        var instant = instant
        var (unit, shown) = (UInt32(1), UInt8(9))
        for _ in limit..<9 { unit *= 10 }
        instant.nanoseconds = instant.nanoseconds / unit * unit
        unit = 10
        while shown > 3, instant.nanoseconds % unit == 0 { (unit, shown) = (unit &* 10, shown - 1) }
        self.init(instant, decimals: shown)
    }
}
