// A range of a column in SQL's order, in the words of the store: SQL has no Booleans, dates, arrays and objects, so a number
// can be a Boolean of the store, and a string can be a date, an array or an object. A number can also be a string, if SQL
// compares them as numbers.

import SynclineCore

struct ColumnRange {
    let column: String
    /// Nil for an open end.
    var lower: Operand?
    var upper: Operand?

    /// Whether strings that look like numbers can be in the range, too. No filter of the range matches them.
    var includesNumericStrings: Bool {
        switch (lower, upper) {
        case (nil, .number), (.number, .number): true
        default: false
        }
    }

    /// A filter that matches every string that looks like a number: it begins with a space, a sign, a point or a digit.
    static func numericStrings(in column: String) -> FilterExpression {
        ColumnRange(column: column).between(.string("\t"), .string(":"))
    }

    /// Filters that together match every row in the range; they may match others. Nil if there are none that an index
    /// could narrow.
    var filters: [FilterExpression]? {
        if lower == .null || upper == .null { return [] }
        switch (lower, upper) {
        case (nil, .number(let upper)): return numbers(nil, upper)
        case (.number(let lower), .number(let upper)): return numbers(lower, upper)
        case (.text(let lower), .text(let upper)): return strings(lower, upper)
        default: return nil
        }
    }

    /// Numbers, and the Booleans, which are 0 and 1.
    private func numbers(_ lower: Operand.Number?, _ upper: Operand.Number) -> [FilterExpression] {
        let flags = [(false, 0.0), (true, 1.0)].filter { _, number in
            number <= upper.rounded && number >= lower?.rounded ?? number
        }
        return [between(lower?.value, upper.value)] + flags.map { flag, _ in between(.bool(flag), .bool(flag)) }
    }

    private func strings(_ lower: String, _ upper: String) -> [FilterExpression]? {
        // JSON begins with one of these. An index does not have it.
        if ColumnRange.has(lower, upper, "[{") { return nil }
        // Dates have three decimals in SQL, and up to nine in the store.
        if let first = lower.sqlMoment, let last = upper.sqlMoment {
            return [between(.string(first.description), .string(last.nextMillisecond.description))]
        }
        if lower != upper, ColumnRange.has(lower, upper, "0123456789") { return nil }
        return [between(.string(lower), .string(upper))]
    }

    /// Whether a string that begins with one of some characters can be in a range.
    private static func has(_ lower: String, _ upper: String, _ beginnings: String) -> Bool {
        beginnings.utf8.contains { beginning in
            lower.utf8.lexicographicallyPrecedes([beginning + 1]) && !upper.utf8.lexicographicallyPrecedes([beginning])
        }
    }

    private func between(_ lower: Value?, _ upper: Value) -> FilterExpression {
        let last = FilterExpression.compare(.lessOrEqual, .column([column]), .literal(upper))
        guard let lower else { return last }
        return .and(.compare(.greaterOrEqual, .column([column]), .literal(lower)), last)
    }
}

extension Operand {
    /// The value at an end of a range of numbers or dates; nil if the end does not narrow the range. SQL rounds dates
    /// down.
    func bound(isUpper: Bool) -> Value? {
        switch self {
        case .number(let number): return number.value
        case .text(let text):
            guard let moment = text.sqlMoment else { return nil }
            return .date(isUpper ? moment.nextMillisecond : moment)
        case .null, .blob, .brokenText: return nil
        }
    }
}

extension Timestamp {
    fileprivate var nextMillisecond: Timestamp { Timestamp(.init(milliseconds: instant.milliseconds &+ 1)) }
}

extension String {
    /// The date that has this string in SQL, if there is one.
    fileprivate var sqlMoment: Timestamp? {
        guard let moment = Timestamp(self), moment.sqlForm.description == self else { return nil }
        return moment
    }
}
