// A way to use an index for a question about a table, and its price. Queries of the library and SQL choose among the
// indexes of a table by it. The code is pure.

/// A way to use an index.
package struct IndexChoice: Hashable, Sendable {
    /// What a question says of a column.
    package enum Condition: Hashable, Sendable {
        /// It equals a value.
        case value
        /// It equals one of several values.
        case list
        case range(Ends)
    }

    /// Which ends a range has.
    package enum Ends: Hashable, Sendable {
        case none, lower, upper, both
    }

    /// How many of its first columns equal a value, or one of a list.
    package private(set) var equal = 0
    /// The one of them that equals one of a list.
    package private(set) var list: Int?
    /// The range of the column after those.
    package private(set) var ends = Ends.none
    /// Whether its entries have all that is read, so that no rows are looked up.
    package var isCovering = false
    /// Whether another column must equal a value or one of a list, so that few of its rows are wanted.
    package var isFiltered = false
    /// Whether its entries are read in the wanted order.
    package private(set) var isOrdered = false
    /// Whether they are read from the last one on.
    package private(set) var isBackward = false
    /// Whether only the first of them are read.
    package private(set) var readsFirst = false
    /// Whether conditions on other columns may exclude most of those.
    private var skips = false

    package init() {}

    /// Takes a condition on the next column into account. Returns whether one on the column after it counts, too.
    package mutating func add(_ condition: Condition) -> Bool {
        switch condition {
        case .value: equal += 1
        // Each value has a part of its own, and those of two lists would be too many.
        case .list where list != nil: return false
        case .list:
            list = equal
            equal += 1
        case .range(let ends):
            self.ends = ends
            return false
        }
        return true
    }

    /// Whether it is better than the whole table in any way.
    package var isOfUse: Bool { isNarrowed || isCovering || isOrdered }

    /// Whether the conditions leave a part of it.
    package var isNarrowed: Bool { equal > 0 || ends != .none }

    /// Takes a wanted order into account that the columns after the equal ones have.
    /// - Parameters:
    ///   - hasLimit: Whether only the first rows are wanted.
    ///   - hasOthers: Whether there are conditions that it does not take into account.
    package mutating func setOrder(isBackward: Bool, hasLimit: Bool, hasOthers: Bool) {
        // Many rows are looked up faster in their own order, and then sorted.
        guard list == nil, hasLimit || equal > 0 || isCovering else { return }
        (isOrdered, self.isBackward) = (true, isBackward)
        readsFirst = hasLimit
        skips = hasOthers && equal == 0
    }

    /// Takes back that its entries have the wanted order.
    package mutating func dropOrder() {
        (isOrdered, isBackward, readsFirst, skips) = (false, false, false, false)
    }

    // MARK: The price

    /// The number of rows that are expected of a table. How often a value occurs is not known: in a large table more
    /// often than in a small one.
    package func rows(of size: Double) -> Double {
        let rows = IndexChoice.rows(of: allRows(of: size), isFiltered: isFiltered)
        return readsFirst && !skips ? min(rows, 25) : rows
    }

    private func allRows(of size: Double) -> Double {
        let equal = (0..<equal).reduce(size) { rows, _ in rows.squareRoot() }
        // How many values a list has is not known.
        return min(size, equal * (list == nil ? 1 : 4)) * ends.share
    }

    /// The time that it takes, where a row of the whole table takes 1.
    package func cost(of size: Double) -> Double {
        let rows = allRows(of: size)
        let all = isCovering ? 1 + rows * 0.9 : min(1 + rows * 2, size * 0.99)
        guard readsFirst else { return all }
        // Few of the rows that come first may satisfy another condition.
        return min(all, skips ? size * 0.9 : 50)
    }

    /// The price among the ways to find the rows of a table.
    /// - Parameter sorts: Whether the rows are sorted unless they come in order.
    package func price(sorts: Bool) -> Double {
        cost(of: IndexChoice.size) + (sorts && !isOrdered ? rows(of: IndexChoice.size) / 2 : 0)
    }

    /// The price of reading the whole table.
    package static func tablePrice(sorts: Bool, isFiltered: Bool) -> Double {
        size + (sorts ? rows(of: size, isFiltered: isFiltered) / 2 : 0)
    }

    /// The rows that are expected of those that are read.
    /// - Parameter isFiltered: Whether another column must equal a value, or one of a list.
    package static func rows(of size: Double, isFiltered: Bool) -> Double { isFiltered ? size / 8 : size }

    /// The choice must not depend on what only SQL knows, the number of rows.
    private static let size = 100_000.0
}

extension IndexChoice.Ends {
    /// The share of rows that is expected in a range.
    fileprivate var share: Double {
        switch self {
        case .none: 1
        // Above every number there are strings.
        case .lower: 1 / 3
        case .upper: 1 / 4
        case .both: 1 / 16
        }
    }
}
