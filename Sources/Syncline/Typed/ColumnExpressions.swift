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
    public let expression: Expression

    init(_ expression: Expression) {
        self.expression = expression
    }

    /// Whether the string contains another.
    public func contains(_ text: String) -> FilterExpression { call(.contains, [.string(text)]) }
    /// Whether the string begins with another.
    public func hasPrefix(_ text: String) -> FilterExpression { call(.startswith, [.string(text)]) }
    /// Whether the string ends with another.
    public func hasSuffix(_ text: String) -> FilterExpression { call(.endswith, [.string(text)]) }
    /// The string in lower case.
    public var lowercased: ColumnExpression { ColumnExpression(.call(.tolower, [expression])) }
    /// The string in upper case.
    public var uppercased: ColumnExpression { ColumnExpression(.call(.toupper, [expression])) }
    /// The length of the string.
    public var length: ColumnExpression { ColumnExpression(.call(.length, [expression])) }

    /// Whether the value equals one of several values.
    public func isOne(of values: [any FilterValue]) -> FilterExpression {
        FilterExpression(.oneOf(expression, values.map { .literal($0.filterValue) }))
    }

    private func call(_ function: Expression.Function, _ values: [Value]) -> FilterExpression {
        FilterExpression(.call(function, [expression] + values.map { .literal($0) }))
    }
}

/// A condition.
public struct FilterExpression: Sendable {
    /// The expression tree.
    public let expression: Expression

    /// Creates a condition from an expression tree.
    public init(_ expression: Expression) {
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
    private func compare(_ comparison: Expression.Comparison, _ other: Expression) -> FilterExpression {
        FilterExpression(.compare(comparison, expression, other))
    }

    /// Whether both are equal.
    public static func == (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.equal, .literal(value.filterValue))
    }

    /// Whether both differ.
    public static func != (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.notEqual, .literal(value.filterValue))
    }

    /// Whether the left is less.
    public static func < (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.less, .literal(value.filterValue))
    }

    /// Whether the left is less or equal.
    public static func <= (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.lessOrEqual, .literal(value.filterValue))
    }

    /// Whether the left is greater.
    public static func > (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.greater, .literal(value.filterValue))
    }

    /// Whether the left is greater or equal.
    public static func >= (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.greaterOrEqual, .literal(value.filterValue))
    }

    /// Whether both are equal.
    public static func == (left: Self, right: Self) -> FilterExpression { left.compare(.equal, right.expression) }
    /// Whether both differ.
    public static func != (left: Self, right: Self) -> FilterExpression { left.compare(.notEqual, right.expression) }
    /// Whether the left is less.
    public static func < (left: Self, right: Self) -> FilterExpression { left.compare(.less, right.expression) }
    /// Whether the left is greater.
    public static func > (left: Self, right: Self) -> FilterExpression { left.compare(.greater, right.expression) }

    /// A sum.
    public static func + (column: Self, value: some FilterValue) -> ColumnExpression {
        ColumnExpression(.arithmetic(.add, column.expression, .literal(value.filterValue)))
    }

    /// A difference.
    public static func - (column: Self, value: some FilterValue) -> ColumnExpression {
        ColumnExpression(.arithmetic(.sub, column.expression, .literal(value.filterValue)))
    }

    /// Whether the column is not true.
    public static prefix func ! (column: Self) -> FilterExpression { FilterExpression(.not(column.expression)) }
    /// Whether both conditions hold.
    public static func && (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(left.expression) && right
    }
    /// Whether at least one condition holds.
    public static func || (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(left.expression) || right
    }
}

extension FilterExpression {
    /// Whether the condition does not hold.
    public static prefix func ! (filter: Self) -> FilterExpression { FilterExpression(.not(filter.expression)) }

    /// Whether both conditions hold.
    public static func && (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(.and(left.expression, right.expression))
    }

    /// Whether at least one condition holds.
    public static func || (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(.or(left.expression, right.expression))
    }

    /// Whether both conditions hold.
    public static func && (left: Self, right: ColumnExpression) -> FilterExpression {
        left && FilterExpression(right.expression)
    }

    /// Whether at least one condition holds.
    public static func || (left: Self, right: ColumnExpression) -> FilterExpression {
        left || FilterExpression(right.expression)
    }
}
