// A value in a filter, and the type that it has from its column. Beside a column with a type, a value without one takes
// that type: a string beside a date is read as a date.

/// A value and its type.
struct FilterOperand {
    var value: Value
    /// `any` for a literal, and for a column without a type.
    var type: ColumnType

    init(_ value: Value, _ type: ColumnType = .any) {
        self.value = value
        self.type = type
    }

    /// The value as calculations and other types meet it: a number as the integer or the double that it means.
    var settled: Value {
        switch (type, Meaning(value, as: type)) {
        case (.integer, .integer(let number)): .integer(number)
        case (.number, .number(let number)): .double(number)
        default: value
        }
    }

    /// Returns whether a comparison holds for two values, neither of them null; nil for unknown.
    static func holds(
        _ comparison: FilterExpression.Comparison, _ left: FilterOperand, _ right: FilterOperand
    ) -> Bool? {
        if left.type.isPlain, right.type.isPlain { return holds(comparison, left.value, right.value) }
        if left.type.isNumeric, right.type.isNumeric, left.type != right.type {
            let type: ColumnType = left.type.isDecimal || right.type.isDecimal ? .decimal : .any
            let (left, right) = (FilterOperand(left.settled), FilterOperand(right.settled))
            return type == .any
                ? holds(comparison, left.value, right.value) : holds(comparison, left, right, as: type)
        }
        guard let type = commonType(left.type, right.type) else { return nil }
        return holds(comparison, left, right, as: type)
    }

    /// The type by which values of two types are compared; nil if they are not.
    private static func commonType(_ left: ColumnType, _ right: ColumnType) -> ColumnType? {
        if left == right || right.isPlain { return left }
        if left.isPlain { return right }
        if left.isUUID, right.isUUID { return left }
        // A string is read as the other type.
        if left == .string, right != .boolean { return right }
        return right == .string && left != .boolean ? left : nil
    }

    private static func holds(
        _ comparison: FilterExpression.Comparison, _ left: FilterOperand, _ right: FilterOperand, as type: ColumnType
    ) -> Bool? {
        let meanings = (Meaning(left.value, as: type), Meaning(right.value, as: type))
        var order = Meaning.compare(meanings.0, meanings.1)
        switch (meanings.0.fits, meanings.1.fits) {
        case (true, false) where right.type.isPlain: order = numberOrder(meanings.0, right.value)
        case (false, true) where left.type.isPlain: order = numberOrder(meanings.1, left.value).reversed
        default: break
        }
        if order != .none { return comparison.holds(order) }
        switch comparison {
        case .equal, .notEqual:
            return Meaning.areSame(meanings.0, meanings.1) == (comparison == .equal)
        default: return nil
        }
    }

    /// The order of a number of a column and another one that its type can't hold.
    private static func numberOrder(_ meaning: Meaning, _ other: Value) -> Value.Order {
        switch meaning {
        case .integer(let number): Value.compare(.integer(number), other)
        case .number(let number): Value.compare(.double(number), other)
        case .decimal(let number): NumberDigits(number: other).map { Value.order(number, $0) } ?? .none
        default: .none
        }
    }

    private static func holds(_ comparison: FilterExpression.Comparison, _ left: Value, _ right: Value) -> Bool? {
        let order = Value.compare(left, right)
        if order == .none { return left.isSame(as: right) && comparison == .equal ? true : nil }
        return comparison.holds(order)
    }
}
