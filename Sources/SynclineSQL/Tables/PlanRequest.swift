// SQLite's question to a table before it runs a statement.

import SynclineCore

struct PlanRequest: Hashable {
    enum Comparison: Hashable {
        case equal, greater, greaterOrEqual, less, lessOrEqual

        var isLower: Bool { self == .greater || self == .greaterOrEqual }
        var isUpper: Bool { self == .less || self == .lessOrEqual }
    }

    /// A condition on a column, whose value is known when the scan begins. Column 0 is the id.
    struct Condition: Hashable {
        var column: Int
        var comparison: Comparison
        /// Whether the value is a list, one of which the column must equal.
        var isList = false
        /// Whether the value is known before the statement runs, so that it is not one of another table's row.
        var isConstant = false
    }

    /// A key of the wanted order.
    struct Key: Hashable {
        var column: Int
        var isDescending = false
    }

    /// What can't be used is nil.
    var conditions: [Condition?]
    /// Whether there are conditions that can't be used.
    var hasOthers = false
    /// The wanted order; empty if there is none, or one that can't be used.
    var order: [Key] = []
    /// Whether only the first rows are wanted.
    var hasLimit = false
    /// The columns that are read, as bits; the last one stands for all from 63 on.
    var read: UInt64 = .max

    /// Whether a column that is none of these must equal a value which is known before the statement runs, or one of a
    /// list.
    func containsEquality(outside columns: ArraySlice<Int> = []) -> Bool {
        conditions.contains { condition in
            guard let condition, condition.comparison == .equal else { return false }
            return (condition.isConstant || condition.isList) && !columns.contains(condition.column)
        }
    }

    /// What the conditions say of a column, and the positions of those that say it.
    /// - Parameter allowsList: Whether one of a list of values counts.
    func condition(_ column: Int, allowsList: Bool) -> (condition: IndexChoice.Condition, used: [Int])? {
        func equality(isList: Bool) -> Int? {
            conditions.firstIndex {
                $0?.column == column && $0?.comparison == .equal && $0?.isList == isList
            }
        }
        if let place = equality(isList: false) { return (.value, [place]) }
        if allowsList, let place = equality(isList: true) { return (.list, [place]) }
        let (ends, used) = range(column)
        return ends == .none ? nil : (.range(ends), used)
    }

    /// The ends of a column's range, and the positions of the conditions that say them.
    func range(_ column: Int) -> (ends: IndexChoice.Ends, used: [Int]) {
        let lower = conditions.firstIndex { $0?.column == column && $0?.comparison.isLower == true }
        let upper = conditions.firstIndex { $0?.column == column && $0?.comparison.isUpper == true }
        let used = [lower, upper].compactMap { $0 }
        switch (lower, upper) {
        case (nil, nil): return (.none, used)
        case (_, nil): return (.lower, used)
        case (nil, _): return (.upper, used)
        default: return (.both, used)
        }
    }

    /// Whether every condition is one of these.
    func hasOnly(_ used: [Int]) -> Bool { !hasOthers && conditions.lazy.filter { $0 != nil }.count == used.count }
}
