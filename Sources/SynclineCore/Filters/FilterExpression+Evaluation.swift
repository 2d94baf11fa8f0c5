// Decides whether a row matches a filter. A condition is true, false, or unknown: any comparison with null or
// between different kinds of values is unknown, and so is its `not`. Only `eq null`, `ne null` and `ne` with a null
// operand are never unknown. A value beside a column with a type is read by that type: see `FilterOperand`.

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
            return .joined(left.truth(of: row, work), right.truth(of: row, work), decidedBy: false)
        case .or(let left, let right):
            return .joined(left.truth(of: row, work), right.truth(of: row, work), decidedBy: true)
        case .not(let inner):
            return inner.truth(of: row, work).map { !$0 }
        case .compare(let comparison, let left, let right):
            return FilterExpression.compare(comparison, (left, left.operand(in: row, work)), right, row, work)
        case .oneOf(let inner, let choices):
            let value = (inner, inner.operand(in: row, work))
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
        _ comparison: Comparison, _ left: (FilterExpression, operand: FilterOperand), _ right: FilterExpression,
        _ row: some FilterSubject, _ work: FilterWork?
    ) -> Bool? {
        let other = right.operand(in: row, work)
        let areNull = (left.operand.value.isNull, other.value.isNull)
        if left.0.isNullLiteral || right.isNullLiteral, comparison == .equal || comparison == .notEqual {
            return (areNull.0 && areNull.1) == (comparison == .equal)
        }
        if areNull.0 || areNull.1 { return comparison == .notEqual && areNull.0 != areNull.1 ? true : nil }
        return FilterOperand.holds(comparison, left.operand, other)
    }

    // MARK: Values

    private func value(in row: some FilterSubject, _ work: FilterWork?) -> Value { operand(in: row, work).value }

    func operand(in row: some FilterSubject, _ work: FilterWork?) -> FilterOperand {
        switch self {
        case .column(let path):
            let value = row.value(at: path)
            return FilterOperand(value, path.count == 1 ? work?.type(of: value, in: path[0]) ?? .any : .any)
        case .literal(let value, let form):
            return FilterOperand(value, work?.type(of: value, in: nil, form) ?? .any)
        case .arithmetic(let arithmetic, let left, let right):
            return FilterArithmetic.apply(arithmetic, left.operand(in: row, work), right.operand(in: row, work))
        case .negate(let inner):
            let operand = inner.operand(in: row, work)
            return FilterOperand(FilterArithmetic.negate(operand.settled), operand.type)
        case .call(let function, let arguments):
            if let work, !work.mayGoOn { return FilterOperand(.null) }
            let operands = arguments.map { $0.operand(in: row, work) }
            if function.rounds, operands[0].type.isDecimal {
                return FilterFunctions.rounded(function, decimal: operands[0].value)
            }
            return FilterOperand(FilterFunctions.apply(function, operands.map(\.value), work))
        case .local(let date, let zone, let part):
            let shown = date.operand(in: row, work).value.instant.map { part.shown(at: $0, zone) }
            return FilterOperand(shown ?? .null, .date)
        // It is resolved before rows are looked at.
        case .related: return FilterOperand(.null)
        case .compare, .and, .or, .not, .oneOf:
            return FilterOperand(truth(of: row, work).map { .bool($0) } ?? .null)
        }
    }
}

extension Bool? {
    /// The `and` of two conditions, which false decides, or their `or`, which true decides.
    @inline(__always)
    static func joined(_ first: Bool?, _ second: @autoclosure () -> Bool?, decidedBy decisive: Bool) -> Bool? {
        if first == decisive { return decisive }
        let second = second()
        return second == decisive ? decisive : first == nil || second == nil ? nil : !decisive
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
