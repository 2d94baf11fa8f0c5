// Filters as Swift: `{ !$0.complete && $0.priority > 2 }`. A column is named as the model names it; what it says is a filter
// like any other, so a server can be asked the same.

public import SynclineCore

/// The columns of a model, by name.
@dynamicMemberLookup
public struct Columns<Model>: Sendable {
    init() {}

    public subscript(dynamicMember name: String) -> ColumnExpression {
        ColumnExpression(.column(name))
    }

    /// A column whose name is no Swift identifier.
    public subscript(_ name: String) -> ColumnExpression {
        ColumnExpression(.column(name))
    }
}

/// A value of a row, or something made of it.
public struct ColumnExpression: Sendable {
    public let expression: Expression

    init(_ expression: Expression) {
        self.expression = expression
    }

    public func contains(_ text: String) -> FilterExpression { call(.contains, [.string(text)]) }
    public func hasPrefix(_ text: String) -> FilterExpression { call(.startswith, [.string(text)]) }
    public func hasSuffix(_ text: String) -> FilterExpression { call(.endswith, [.string(text)]) }
    public var lowercased: ColumnExpression { ColumnExpression(.call(.tolower, [expression])) }
    public var uppercased: ColumnExpression { ColumnExpression(.call(.toupper, [expression])) }
    public var length: ColumnExpression { ColumnExpression(.call(.length, [expression])) }

    /// Whether the value is one of several.
    public func isOne(of values: [any FilterValue]) -> FilterExpression {
        FilterExpression(.oneOf(expression, values.map { .literal($0.filterValue) }))
    }

    private func call(_ function: Expression.Function, _ values: [Value]) -> FilterExpression {
        FilterExpression(.call(function, [expression] + values.map { .literal($0) }))
    }
}

/// A condition.
public struct FilterExpression: Sendable {
    public let expression: Expression

    public init(_ expression: Expression) {
        self.expression = expression
    }
}

/// What a column is compared with.
public protocol FilterValue: Sendable {
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

extension ColumnExpression {
    private func compare(_ comparison: Expression.Comparison, _ other: Expression) -> FilterExpression {
        FilterExpression(.compare(comparison, expression, other))
    }

    public static func == (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.equal, .literal(value.filterValue))
    }

    public static func != (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.notEqual, .literal(value.filterValue))
    }

    public static func < (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.less, .literal(value.filterValue))
    }

    public static func <= (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.lessOrEqual, .literal(value.filterValue))
    }

    public static func > (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.greater, .literal(value.filterValue))
    }

    public static func >= (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.greaterOrEqual, .literal(value.filterValue))
    }

    public static func == (left: Self, right: Self) -> FilterExpression { left.compare(.equal, right.expression) }
    public static func != (left: Self, right: Self) -> FilterExpression { left.compare(.notEqual, right.expression) }
    public static func < (left: Self, right: Self) -> FilterExpression { left.compare(.less, right.expression) }
    public static func > (left: Self, right: Self) -> FilterExpression { left.compare(.greater, right.expression) }

    public static func + (column: Self, value: some FilterValue) -> ColumnExpression {
        ColumnExpression(.arithmetic(.add, column.expression, .literal(value.filterValue)))
    }

    public static func - (column: Self, value: some FilterValue) -> ColumnExpression {
        ColumnExpression(.arithmetic(.sub, column.expression, .literal(value.filterValue)))
    }

    /// A column that is true or false, as a condition.
    public static prefix func ! (column: Self) -> FilterExpression { FilterExpression(.not(column.expression)) }
    public static func && (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(left.expression) && right
    }
    public static func || (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(left.expression) || right
    }
}

extension FilterExpression {
    public static prefix func ! (filter: Self) -> FilterExpression { FilterExpression(.not(filter.expression)) }

    public static func && (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(.and(left.expression, right.expression))
    }

    public static func || (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(.or(left.expression, right.expression))
    }

    public static func && (left: Self, right: ColumnExpression) -> FilterExpression {
        left && FilterExpression(right.expression)
    }

    public static func || (left: Self, right: ColumnExpression) -> FilterExpression {
        left || FilterExpression(right.expression)
    }
}
