// Decides how the rows of a table are found for the conditions that SQLite offers. The code is pure. SQLite checks
// every condition again, so a plan may return too many rows, but never too few.

/// What SQLite asks of a table.
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

    /// The first key of the wanted order.
    struct Order: Hashable {
        var column: Int
        var isDescending = false
        /// Whether there is no second key.
        var isOnly = true
    }

    /// What can't be used is nil.
    var conditions: [Condition?]
    /// Whether there are conditions that can't be used.
    var hasOthers = false
    var order: Order?
    /// Whether only the first rows are wanted.
    var hasLimit = false
    /// The columns that are read, as bits; the last one stands for all from 63 on.
    var read: UInt64 = .max

    /// Whether nothing but the id and a column is read.
    func readsOnly(_ column: Int) -> Bool { column < 63 && read & ~(1 | 1 << UInt64(column)) == 0 }
}

/// How a table's rows are found.
struct ScanPlan: Hashable {
    enum Access: Hashable {
        /// All rows.
        case all
        /// The row with an id, or the rows whose ids are a number in SQL.
        case id
        /// The rows whose ids are in a range.
        case idRange(Ends)
        /// The rows that an index finds by a range of values. For one value, both ends are the same.
        case index(column: Int, Ends)
        /// Rows in the order of an index, for a caller that wants the first few.
        case walk(column: Int, isBackward: Bool, Ends)
        /// The entries of an index, for a caller that reads only its column and the id.
        case entries(column: Int)
        /// The rows with a value in a column without an index. If they are asked for repeatedly, an index is made for
        /// the time of the statement.
        case made(column: Int)
    }

    /// Which ends of a range a scan is given.
    enum Ends: Hashable {
        case none, lower, upper, both
        /// One value, which is both ends.
        case same
    }

    var access: Access
    /// The conditions whose values the scan is given, by their position in the request: the lower end first.
    var used: [Int] = []
    /// Whether the one value that the scan is given is a list.
    var isList = false
    /// Whether rows come in the wanted order.
    var isOrdered = false
    var cost: Double
    var rows: Double
}

/// What is known of a table.
struct ScanFacts: Hashable {
    var count: Int
    /// The positions of columns with an index.
    var indexed: Set<Int> = []
    /// Whether rows can be read in the order of their ids.
    var sortsIDs = true
    /// The columns with an index whose order is that of SQL.
    var walkable: Set<Int> = []
    /// The columns with an index that have only strings and null.
    var text: Set<Int> = []

    /// The cheapest plan.
    func plan(_ request: PlanRequest) -> ScanPlan {
        var plans = [ScanPlan(access: .all, cost: size, rows: size)]
        for (place, condition) in request.conditions.enumerated() {
            guard let condition else { continue }
            guard var found = plan(condition, place, request) else { continue }
            if condition.isList { found.takeList(of: size) }
            plans.append(found)
        }
        plans += [walk(request), entries(request)].compactMap { $0 }
        var best = plans.min { $0.cost < $1.cost } ?? plans[0]
        guard let order = request.order, order.column == 0, !order.isDescending, !best.isList else { return best }
        // The id is unique, so keys after it do not matter.
        switch best.access {
        case .all, .id, .idRange: best.isOrdered = sortsIDs
        default: break
        }
        return best
    }

    private var size: Double { Double(max(count, 1)) }

    private func plan(_ condition: PlanRequest.Condition, _ place: Int, _ request: PlanRequest) -> ScanPlan? {
        let column = condition.column
        if condition.comparison == .equal {
            if column == 0 { return ScanPlan(access: .id, used: [place], cost: 3, rows: 1) }
            if indexed.contains(column) {
                // How often a value occurs is not known: in a large table more often than in a small one.
                let rows = size.squareRoot()
                return ScanPlan(access: .index(column: column, .same), used: [place], cost: 1 + 2 * rows, rows: rows)
            }
            // One value finds a part of the rows, and no index is made for it.
            if condition.isConstant {
                return ScanPlan(access: .made(column: column), used: [place], cost: size * 0.99, rows: size / 8)
            }
            // Making the index is paid for once by all scans of the statement.
            return ScanPlan(
                access: .made(column: column), used: [place], cost: min(size * 0.99, 50 + size / 50),
                rows: min(size, 10))
        }
        let (ends, used) = range(column, request)
        let rows = ends == .both ? size / 16 : size / 4
        if column == 0 {
            return sortsIDs ? ScanPlan(access: .idRange(ends), used: used, cost: rows, rows: rows) : nil
        }
        // Above every number there are strings, so the lower end alone leaves too much.
        guard indexed.contains(column), ends != .lower else { return nil }
        return ScanPlan(access: .index(column: column, ends), used: used, cost: 2 * rows, rows: rows)
    }

    /// A plan for the first rows in the order of an index, if no other column has a condition.
    private func walk(_ request: PlanRequest) -> ScanPlan? {
        guard request.hasLimit, !request.hasOthers, let order = request.order, order.isOnly,
            walkable.contains(order.column),
            request.conditions.allSatisfy({ $0.map { $0.column == order.column && $0.comparison != .equal } ?? true })
        else { return nil }
        let (ends, used) = range(order.column, request)
        return ScanPlan(
            access: .walk(column: order.column, isBackward: order.isDescending, ends), used: used, isOrdered: true,
            cost: min(size * 0.9, 50), rows: min(size, 25))
    }

    /// A plan for all values of a column in their order.
    private func entries(_ request: PlanRequest) -> ScanPlan? {
        guard let order = request.order, order.isOnly, !order.isDescending, text.contains(order.column),
            request.readsOnly(order.column)
        else { return nil }
        return ScanPlan(access: .entries(column: order.column), isOrdered: true, cost: size * 0.8, rows: size)
    }

    /// The ends of a column's range, and the conditions that say them.
    private func range(_ column: Int, _ request: PlanRequest) -> (ScanPlan.Ends, used: [Int]) {
        let lower = request.conditions.firstIndex { $0?.column == column && $0?.comparison.isLower == true }
        let upper = request.conditions.firstIndex { $0?.column == column && $0?.comparison.isUpper == true }
        let used = [lower, upper].compactMap { $0 }
        switch (lower, upper) {
        case (nil, nil): return (.none, used)
        case (_, nil): return (.lower, used)
        case (nil, _): return (.upper, used)
        default: return (.both, used)
        }
    }
}

extension ScanPlan {
    /// Makes the plan one for a list of values. How many they are is not known.
    fileprivate mutating func takeList(of size: Double) {
        isList = true
        (cost, rows) = (min(cost * 4, size * 0.99), min(rows * 4, size))
    }
}

extension ScanPlan.Ends {
    /// The lower and the upper one of the values that a scan is given.
    func of<Element>(_ values: [Element]) -> (lower: Element?, upper: Element?) {
        switch self {
        case .none: (nil, nil)
        case .lower: (values.first, nil)
        case .upper: (nil, values.first)
        case .both: (values.first, values.last)
        case .same: (values.first, values.first)
        }
    }
}
