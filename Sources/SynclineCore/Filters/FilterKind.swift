// Of which kind the parts of a filter are, for those who would rather tell of a mistake than find no rows.

package enum FilterKind: Hashable, Sendable {
    case text, number, boolean, date

    /// The kind of a value; nil for null, which goes with all, and for what filters have no literals for.
    init?(of value: Value) {
        switch value {
        case .string, .bytes: self = .text
        case .integer, .double: self = .number
        case .bool: self = .boolean
        case .date: self = .date
        case .null, .array, .object: return nil
        }
    }

    var noun: String {
        switch self {
        case .text: "a text"
        case .number: "a number"
        case .boolean: "true or false"
        case .date: "a date"
        }
    }
}

/// What is known of columns.
package struct FilterTyping: Sendable {
    let kind: @Sendable (String) -> FilterKind?

    /// - Parameter kind: A column's kind; nil where it may hold anything.
    package init(_ kind: @escaping @Sendable (String) -> FilterKind?) {
        self.kind = kind
    }
}

extension Expression.Function {
    func kind(ofArgument index: Int) -> FilterKind {
        switch self {
        case .year, .month, .day, .hour, .minute, .second: .date
        case .floor, .ceiling, .round: .number
        case .substring: index == 0 ? .text : .number
        default: .text
        }
    }

    /// What it gives.
    var kind: FilterKind {
        switch self {
        case .contains, .startswith, .endswith: .boolean
        case .concat, .substring, .replace, .toupper, .tolower, .trim: .text
        case .indexof, .length, .year, .month, .day, .hour, .minute, .second, .floor, .ceiling, .round: .number
        }
    }
}
