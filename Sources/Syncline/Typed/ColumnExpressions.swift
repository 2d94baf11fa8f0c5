// Filters as Swift: `{ !$0.complete && $0.priority > 2 }`. A column is named as the model names it; what it says is a filter
// like any other, so a server can be asked the same.

public import SynclineCore

/// The columns of a model, by name.
@dynamicMemberLookup
public struct Columns<Model>: Sendable {
    init() {}

    /// A column by the name the model has for it.
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
    /// Its part of the filter.
    public let expression: Expression

    init(_ expression: Expression) {
        self.expression = expression
    }

    /// Whether the text holds another.
    public func contains(_ text: String) -> FilterExpression { call(.contains, [.string(text)]) }
    /// Whether the text begins with another.
    public func hasPrefix(_ text: String) -> FilterExpression { call(.startswith, [.string(text)]) }
    /// Whether the text ends with another.
    public func hasSuffix(_ text: String) -> FilterExpression { call(.endswith, [.string(text)]) }
    /// The text in lower case.
    public var lowercased: ColumnExpression { ColumnExpression(.call(.tolower, [expression])) }
    /// The text in upper case.
    public var uppercased: ColumnExpression { ColumnExpression(.call(.toupper, [expression])) }
    /// How long the text is.
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
    /// Its part of the filter.
    public let expression: Expression

    /// A condition by its tree.
    public init(_ expression: Expression) {
        self.expression = expression
    }
}

/// What a column is compared with.
public protocol FilterValue: Sendable {
    /// The value of a row that means the same.
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

/// An enum of strings or numbers may be compared if it says so: `enum Colour: String, Codable, FilterValue`.
extension FilterValue where Self: RawRepresentable, RawValue: FilterValue {
    public var filterValue: Value { rawValue.filterValue }
}

extension ColumnExpression {
    private func compare(_ comparison: Expression.Comparison, _ other: Expression) -> FilterExpression {
        FilterExpression(.compare(comparison, expression, other))
    }

    /// Whether both mean the same.
    public static func == (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.equal, .literal(value.filterValue))
    }

    /// Whether they do not mean the same.
    public static func != (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.notEqual, .literal(value.filterValue))
    }

    /// Whether the left is less.
    public static func < (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.less, .literal(value.filterValue))
    }

    /// Whether the column is less, or means the same.
    public static func <= (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.lessOrEqual, .literal(value.filterValue))
    }

    /// Whether the left is greater.
    public static func > (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.greater, .literal(value.filterValue))
    }

    /// Whether the column is greater, or means the same.
    public static func >= (column: Self, value: some FilterValue) -> FilterExpression {
        column.compare(.greaterOrEqual, .literal(value.filterValue))
    }

    /// Whether both mean the same.
    public static func == (left: Self, right: Self) -> FilterExpression { left.compare(.equal, right.expression) }
    /// Whether they do not mean the same.
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

    /// A column that is true or false, as a condition.
    public static prefix func ! (column: Self) -> FilterExpression { FilterExpression(.not(column.expression)) }
    /// Both conditions.
    public static func && (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(left.expression) && right
    }
    /// One condition or the other.
    public static func || (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(left.expression) || right
    }
}

extension FilterExpression {
    /// What holds where the condition does not.
    public static prefix func ! (filter: Self) -> FilterExpression { FilterExpression(.not(filter.expression)) }

    /// Both conditions.
    public static func && (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(.and(left.expression, right.expression))
    }

    /// One condition or the other.
    public static func || (left: Self, right: FilterExpression) -> FilterExpression {
        FilterExpression(.or(left.expression, right.expression))
    }

    /// Both conditions.
    public static func && (left: Self, right: ColumnExpression) -> FilterExpression {
        left && FilterExpression(right.expression)
    }

    /// One condition or the other.
    public static func || (left: Self, right: ColumnExpression) -> FilterExpression {
        left || FilterExpression(right.expression)
    }
}
