// Decides whether a row matches a filter. A condition is true, false, or unknown: any comparison with null or
// between different kinds of values is unknown, and so is its `not`. Only `eq null`, `ne null` and `ne` with a null
// operand are never unknown.

/// What a filter needs from a row.
package protocol FilterSubject {
    /// Returns the value of a column; null if the row has none.
    func value(ofColumn name: String) -> Value
}

extension FilterExpression {
    /// Returns whether a row matches. Returns false if the evaluation fails; `work` has the reason.
    package func matches(_ row: some FilterSubject, _ work: FilterWork) -> Bool {
        work.beginRow()
        return truth(of: row, work) == true && work.failure == nil
    }

    /// Returns whether a row matches, without limiting the work.
    package func matches(_ row: some FilterSubject) -> Bool {
        truth(of: row, nil) == true
    }

    /// Returns true, false, or nil for unknown.
    func truth(of row: some FilterSubject, _ work: FilterWork?) -> Bool? {
        switch self {
        case .and(let left, let right):
            let first = left.truth(of: row, work)
            if first == false { return false }
            let second = right.truth(of: row, work)
            return second == false ? false : first == nil || second == nil ? nil : true
        case .or(let left, let right):
            let first = left.truth(of: row, work)
            if first == true { return true }
            let second = right.truth(of: row, work)
            return second == true ? true : first == nil || second == nil ? nil : false
        case .not(let inner):
            return inner.truth(of: row, work).map { !$0 }
        case .compare(let comparison, let left, let right):
            return FilterExpression.compare(comparison, (left, left.value(in: row, work)), right, row, work)
        case .oneOf(let inner, let choices):
            let value = (inner, inner.value(in: row, work))
            var result: Bool? = false
            for choice in choices {
                switch FilterExpression.compare(.equal, value, choice, row, work) {
                case true?: return true
                case nil: result = nil
                case false?: break
                }
            }
            return result
        default:
            if case .bool(let flag) = value(in: row, work) { return flag }
            return nil
        }
    }

    private static func compare(
        _ comparison: Comparison, _ left: (FilterExpression, value: Value), _ right: FilterExpression,
        _ row: some FilterSubject,
        _ work: FilterWork?
    ) -> Bool? {
        let rightValue = right.value(in: row, work)
        if left.0.isNullLiteral || right.isNullLiteral, comparison == .equal || comparison == .notEqual {
            return (left.value.isNull && rightValue.isNull) == (comparison == .equal)
        }
        return holds(comparison, left.value, rightValue)
    }

    private static func holds(_ comparison: Comparison, _ left: Value, _ right: Value) -> Bool? {
        if left.isNull || right.isNull {
            return comparison == .notEqual && left.isNull != right.isNull ? true : nil
        }
        let order = Value.compare(left, right)
        if order == .none { return left.isSame(as: right) && comparison == .equal ? true : nil }
        return comparison.holds(order)
    }

    // MARK: Values

    func value(in row: some FilterSubject, _ work: FilterWork?) -> Value {
        switch self {
        case .column(let path):
            var value = row.value(ofColumn: path[0])
            for name in path.dropFirst() {
                value = value[member: name] ?? .null
            }
            return value
        case .literal(let value, _):
            return value
        case .arithmetic(let arithmetic, let left, let right):
            return FilterArithmetic.apply(arithmetic, left.value(in: row, work), right.value(in: row, work))
        case .negate(let inner):
            return FilterArithmetic.negate(inner.value(in: row, work))
        case .call(let function, let arguments):
            if let work, !work.mayGoOn { return .null }
            return FilterFunctions.apply(function, arguments.map { $0.value(in: row, work) }, work)
        case .compare, .and, .or, .not, .oneOf:
            return truth(of: row, work).map { .bool($0) } ?? .null
        }
    }
}

extension FilterExpression.Comparison {
    /// Returns whether it holds for two values with this order.
    func holds(_ order: Value.Order) -> Bool {
        switch self {
        case .equal: order == .equal
        case .notEqual: order != .equal
        case .greater: order == .greater
        case .greaterOrEqual: order != .less
        case .less: order == .less
        case .lessOrEqual: order != .greater
        }
    }
}
