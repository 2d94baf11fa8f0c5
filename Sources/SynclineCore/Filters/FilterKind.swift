// The kinds of a filter's parts, for callers that prefer an error to an empty result.

package enum FilterKind: Hashable, Sendable {
    case text, number, decimal, boolean, date
    /// Strings that may be dates: it is not said what the column holds.
    case anyText

    /// The kind of a value; nil for null, which fits all kinds, and for values without filter literals.
    init?(of value: Value) {
        switch value {
        case .string, .bytes: self = .text
        case .integer, .double, .number: self = .number
        case .bool: self = .boolean
        case .date: self = .date
        case .null, .array, .object: return nil
        }
    }

    var noun: String {
        switch self {
        case .text, .anyText: "a string"
        case .number, .decimal: "a number"
        case .boolean: "true or false"
        case .date: "a date"
        }
    }
}

/// The known kinds of columns: returns a column's kind, or nil if it may hold anything.
package typealias FilterTyping = @Sendable (String) -> FilterKind?

extension FilterExpression.Function {
    /// The kind of an argument; nil for any.
    func kind(ofArgument index: Int) -> FilterKind? {
        switch self {
        case .year, .month, .day, .hour, .minute, .second: .date
        case .floor, .ceiling, .round: .number
        case .substring: index == 0 ? .text : .number
        case .element: nil
        default: .text
        }
    }

    /// The kind of its result.
    var kind: FilterKind {
        switch self {
        case .contains, .startswith, .endswith, .element: .boolean
        case .concat, .substring, .replace, .toupper, .tolower, .trim: .text
        case .indexof, .length, .year, .month, .day, .hour, .minute, .second, .floor, .ceiling, .round: .number
        }
    }
}
