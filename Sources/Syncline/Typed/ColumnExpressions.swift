// Filters as Swift expressions: `{ !$0.complete && $0.priority > 2 }`. Columns have the names of the model's coding
// keys. The result is an ordinary filter, which a server can also evaluate.

public import SynclineCore

/// The columns of a model, by name.
@dynamicMemberLookup
public struct Columns<Model>: Sendable {
    init() {}

    /// Returns the column with the model's name for it.
    public subscript(dynamicMember name: String) -> ColumnExpression {
        ColumnExpression(.column(name))
    }

    /// Returns a column whose name is not a Swift identifier.
    public subscript(_ name: String) -> ColumnExpression {
        ColumnExpression(.column(name))
    }
}

/// A value of a row, or an expression of such values.
public struct ColumnExpression: Sendable {
    /// The expression tree.
    public let expression: FilterExpression

    init(_ expression: FilterExpression) {
        self.expression = expression
    }

    /// Whether the string contains another.
    public func contains(_ text: String) -> Filter { call(.contains, [.string(text)]) }
    /// Whether the string begins with another.
    public func hasPrefix(_ text: String) -> Filter { call(.startswith, [.string(text)]) }
    /// Whether the string ends with another.
    public func hasSuffix(_ text: String) -> Filter { call(.endswith, [.string(text)]) }
    /// The string in lower case.
    public var lowercased: ColumnExpression { ColumnExpression(.call(.tolower, [expression])) }
    /// The string in upper case.
    public var uppercased: ColumnExpression { ColumnExpression(.call(.toupper, [expression])) }
    /// The length of the string.
    public var length: ColumnExpression { ColumnExpression(.call(.length, [expression])) }

    /// Whether the value equals one of several values.
    public func isOne(of values: [any FilterValue]) -> Filter {
        Filter(.oneOf(expression, values.map { .literal($0.filterValue) }))
    }

    private func call(_ function: FilterExpression.Function, _ values: [Value]) -> Filter {
        Filter(.call(function, [expression] + values.map { .literal($0) }))
    }
}

/// A condition.
public struct Filter: Sendable {
    /// The expression tree.
    public let expression: FilterExpression

    /// Creates a condition from an expression tree.
    public init(_ expression: FilterExpression) {
        self.expression = expression
    }
}

/// A Swift value that a column can be compared with.
public protocol FilterValue: Sendable {
    /// The equivalent value of a row.
    var filterValue: Value { get }
}

extension Bool: FilterValue { public var filterValue: Value { .bool(self) } }
extension Int: FilterValue { public var filterValue: Value { .integer(Int64(self)) } }
extension Int64: FilterValue { public var filterValue: Value { .integer(self) } }
extension Double: FilterValue { public var filterValue: Value { .double(self) } }
extension String: FilterValue { public var filterValue: Value { .string(self) } }
extension Timestamp: FilterValue { public var filterValue: Value { .date(self) } }
extension Optional: FilterValue where Wrapped: FilterValue {
    public var filterValue: Value { self?.filterValue ?? .null }
}

/// An enum of strings or numbers can be compared if it conforms: `enum Colour: String, Codable, FilterValue`.
extension FilterValue where Self: RawRepresentable, RawValue: FilterValue {
    public var filterValue: Value { rawValue.filterValue }
}

extension ColumnExpression {
    private func compare(_ comparison: FilterExpression.Comparison, _ other: FilterExpression) -> Filter {
        Filter(.compare(comparison, expression, other))
    }

    /// Whether both are equal.
    public static func == (column: Self, value: some FilterValue) -> Filter {
        column.compare(.equal, .literal(value.filterValue))
    }

    /// Whether both differ.
    public static func != (column: Self, value: some FilterValue) -> Filter {
        column.compare(.notEqual, .literal(value.filterValue))
    }

    /// Whether the left is less.
    public static func < (column: Self, value: some FilterValue) -> Filter {
        column.compare(.less, .literal(value.filterValue))
    }

    /// Whether the left is less or equal.
    public static func <= (column: Self, value: some FilterValue) -> Filter {
        column.compare(.lessOrEqual, .literal(value.filterValue))
    }

    /// Whether the left is greater.
    public static func > (column: Self, value: some FilterValue) -> Filter {
        column.compare(.greater, .literal(value.filterValue))
    }

    /// Whether the left is greater or equal.
    public static func >= (column: Self, value: some FilterValue) -> Filter {
        column.compare(.greaterOrEqual, .literal(value.filterValue))
    }

    /// Whether both are equal.
    public static func == (left: Self, right: Self) -> Filter { left.compare(.equal, right.expression) }
    /// Whether both differ.
    public static func != (left: Self, right: Self) -> Filter { left.compare(.notEqual, right.expression) }
    /// Whether the left is less.
    public static func < (left: Self, right: Self) -> Filter { left.compare(.less, right.expression) }
    /// Whether the left is greater.
    public static func > (left: Self, right: Self) -> Filter { left.compare(.greater, right.expression) }

    /// A sum.
    public static func + (column: Self, value: some FilterValue) -> ColumnExpression {
        ColumnExpression(.arithmetic(.add, column.expression, .literal(value.filterValue)))
    }

    /// A difference.
    public static func - (column: Self, value: some FilterValue) -> ColumnExpression {
        ColumnExpression(.arithmetic(.sub, column.expression, .literal(value.filterValue)))
    }

    /// Whether the column is not true.
    public static prefix func ! (column: Self) -> Filter { Filter(.not(column.expression)) }
    /// Whether both conditions hold.
    public static func && (left: Self, right: Filter) -> Filter {
        Filter(left.expression) && right
    }
    /// Whether at least one condition holds.
    public static func || (left: Self, right: Filter) -> Filter {
        Filter(left.expression) || right
    }
}

extension Filter {
    /// Whether the condition does not hold.
    public static prefix func ! (filter: Self) -> Filter { Filter(.not(filter.expression)) }

    /// Whether both conditions hold.
    public static func && (left: Self, right: Filter) -> Filter {
        Filter(.and(left.expression, right.expression))
    }

    /// Whether at least one condition holds.
    public static func || (left: Self, right: Filter) -> Filter {
        Filter(.or(left.expression, right.expression))
    }

    /// Whether both conditions hold.
    public static func && (left: Self, right: ColumnExpression) -> Filter {
        left && Filter(right.expression)
    }

    /// Whether at least one condition holds.
    public static func || (left: Self, right: ColumnExpression) -> Filter {
        left || Filter(right.expression)
    }
}
