// Comparisons, with a Swift value on either side or with another column. Rows are compared by what they store: a string
// by its Unicode scalars, a date to the millisecond, two columns of an enum by their raw values.

import SynclineCore

extension ColumnExpression {
    private func compare(_ comparison: FilterExpression.Comparison, _ other: Self) -> Filter<Model> {
        joined(with: other) { .compare(comparison, $0, $1) }
    }
}

// MARK: Equality

extension ColumnExpression where Value: Encodable & Equatable {
    /// Whether the value equals a Swift value; nil tests for a missing value.
    public static func == (column: Self, value: Value?) -> Filter<Model> { column.equals(value) }
    /// Whether the value equals a Swift value; nil tests for a missing value.
    public static func == (value: Value?, column: Self) -> Filter<Model> { column.equals(value) }
    /// Whether two columns are equal.
    public static func == (left: Self, right: Self) -> Filter<Model> { left.compare(.equal, right) }

    /// Whether the value differs from a Swift value. A missing value differs from every other.
    public static func != (column: Self, value: Value?) -> Filter<Model> { column.differs(from: value) }
    /// Whether the value differs from a Swift value. A missing value differs from every other.
    public static func != (value: Value?, column: Self) -> Filter<Model> { column.differs(from: value) }
    /// Whether two columns differ.
    public static func != (left: Self, right: Self) -> Filter<Model> { left.compare(.notEqual, right) }

    /// Whether the value equals one of several.
    public func isOne(of values: some Sequence<Value>) -> Filter<Model> {
        equalsOne(of: values.flatMap { literals(of: $0) })
    }

    private func equals(_ value: Value?) -> Filter<Model> {
        let literals = literals(of: value)
        return literals.count == 1 ? compare(.equal, literals[0]) : equalsOne(of: literals)
    }

    private func equalsOne(of literals: [Self]) -> Filter<Model> {
        // Servers can't be asked about an empty list; no row lacks an id.
        guard !literals.isEmpty else { return Filter(.compare(.equal, .column("id"), .literal(.null))) }
        return Filter<Model>(
            Result { () throws(SyncError) in
                let choices = try literals.map { literal throws(SyncError) in try literal.expression }
                return .oneOf(try expression, choices)
            })
    }

    private func differs(from value: Value?) -> Filter<Model> {
        let literals = literals(of: value)
        return literals.dropFirst().reduce(compare(.notEqual, literals[0])) { $0 && compare(.notEqual, $1) }
    }

    /// Returns the forms in which rows may have a value, at least one. Servers write UUIDs in upper or in lower case,
    /// and an id is a string whatever its type.
    private func literals(of value: Value?) -> [Self] {
        guard let value else { return [ColumnExpression(.literal(.null))] }
        let ids = (value as? any RowIdentifier).flatMap { isID ? $0.rowIDs : $0.columnTexts } ?? []
        return ids.isEmpty ? [.literal(value)] : ids.map { ColumnExpression(.literal(.string($0))) }
    }
}

// MARK: Order

extension ColumnExpression where Value: Encodable & Comparable {
    /// Whether the left is less. False if a value is missing, as in all comparisons by order.
    public static func < (column: Self, value: Value) -> Filter<Model> { column.compare(.less, value) { $0 < value } }
    /// Whether the left is less.
    public static func < (value: Value, column: Self) -> Filter<Model> { column > value }
    /// Whether the left is less.
    public static func < (left: Self, right: Self) -> Filter<Model> { left.compare(.less, right) }

    /// Whether the left is less or equal.
    public static func <= (column: Self, value: Value) -> Filter<Model> {
        column.compare(.lessOrEqual, value) { $0 <= value }
    }
    /// Whether the left is less or equal.
    public static func <= (value: Value, column: Self) -> Filter<Model> { column >= value }
    /// Whether the left is less or equal.
    public static func <= (left: Self, right: Self) -> Filter<Model> { left.compare(.lessOrEqual, right) }

    /// Whether the left is greater.
    public static func > (column: Self, value: Value) -> Filter<Model> {
        column.compare(.greater, value) { $0 > value }
    }
    /// Whether the left is greater.
    public static func > (value: Value, column: Self) -> Filter<Model> { column < value }
    /// Whether the left is greater.
    public static func > (left: Self, right: Self) -> Filter<Model> { left.compare(.greater, right) }

    /// Whether the left is greater or equal.
    public static func >= (column: Self, value: Value) -> Filter<Model> {
        column.compare(.greaterOrEqual, value) { $0 >= value }
    }
    /// Whether the left is greater or equal.
    public static func >= (value: Value, column: Self) -> Filter<Model> { column <= value }
    /// Whether the left is greater or equal.
    public static func >= (left: Self, right: Self) -> Filter<Model> { left.compare(.greaterOrEqual, right) }

    /// Whether the value is in a range: `$0.priority.isIn(1...3)`.
    public func isIn(_ range: ClosedRange<Value>) -> Filter<Model> {
        self >= range.lowerBound && self <= range.upperBound
    }
    /// Whether the value is in a range: `$0.priority.isIn(1..<3)`.
    public func isIn(_ range: Range<Value>) -> Filter<Model> { self >= range.lowerBound && self < range.upperBound }
    /// Whether the value is in a range: `$0.priority.isIn(1...)`.
    public func isIn(_ range: PartialRangeFrom<Value>) -> Filter<Model> { self >= range.lowerBound }
    /// Whether the value is in a range: `$0.priority.isIn(...3)`.
    public func isIn(_ range: PartialRangeThrough<Value>) -> Filter<Model> { self <= range.upperBound }
    /// Whether the value is in a range: `$0.priority.isIn(..<3)`.
    public func isIn(_ range: PartialRangeUpTo<Value>) -> Filter<Model> { self < range.upperBound }

    /// Compares with a value. An enum's cases are compared by its own `<`, which may differ from the order of their
    /// raw values: the filter lists the cases for which the comparison holds.
    private func compare(
        _ comparison: FilterExpression.Comparison, _ value: Value, _ holds: (Value) -> Bool
    ) -> Filter<Model> {
        if let cases = (Value.self as? any CaseIterable.Type)?.cases as? [Value] {
            return isOne(of: cases.filter(holds))
        }
        return compare(comparison, sortable(value))
    }

    /// Returns a value as a literal, or an error if rows that store it have another order.
    private func sortable(_ value: Value) -> Self {
        let literal = ColumnExpression.literal(value)
        switch literal.tree {
        case .success(.literal(.string, _)) where Value.self is any RawRepresentable.Type:
            return ColumnExpression(
                .unsupportedPredicate, "rows store \(Value.self) as a string, which may have another order",
                hint: "Make the type CaseIterable, or compare strings: `$0.named(\"column\", as: String.self)`.")
        case .success(.literal(.integer, _)) where isID:
            return ColumnExpression(
                .unsupportedPredicate, "the id of a row is a string, which has another order than integers",
                hint: "Compare ids with `==`, or keep the number in another column, too.")
        default: return literal
        }
    }
}

extension CaseIterable {
    fileprivate static var cases: [Any] { Array(allCases) }
}
