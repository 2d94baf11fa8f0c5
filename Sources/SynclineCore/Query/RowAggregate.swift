// An aggregate query: count, sum, average, minimum or maximum, of all matching rows together or by group.

import SynclineGround

/// What is computed from the rows that match a filter.
public struct RowAggregate: Hashable, Sendable {
    /// A value that is computed from several rows. Nulls are left out.
    public enum Function: Hashable, Sendable {
        /// The number of rows.
        case count
        /// The sum of a column's numbers: 0 if there are none. That of integers and of a decimal column is exact, with all
        /// digits. Otherwise it is the double that is nearest to the exact sum, whatever the order of the rows.
        case sum(String)
        /// The average of a column's numbers; null if there are none. That of integers and decimals is exact if it ends, and
        /// has 38 digits otherwise.
        case average(String)
        /// The value of a column that comes first in the order of a query; null if there is none.
        case min(String)
        /// The value of a column that comes last in the order of a query; null if there is none.
        case max(String)

        /// The column; nil for the number of rows.
        var column: String? {
            switch self {
            case .count: nil
            case .sum(let column), .average(let column), .min(let column), .max(let column): column
            }
        }
    }

    /// The table.
    public var table: String
    /// The condition; nil for all rows.
    public var filter: FilterExpression?
    /// The order, if only the first rows of it are asked about.
    public var order: [RowQuery.Key] = []
    /// How many rows are asked about; nil for all.
    public var top: Int?
    /// How many rows are skipped before them.
    public var skip = 0
    /// Rows with equal values of these expressions are a group; without any, all rows are one.
    public var groups: [FilterExpression]
    /// What is computed for each group.
    public var functions: [Function]

    /// Creates an aggregate with groups by columns.
    public init(
        table: String, filter: FilterExpression? = nil, groups: [String] = [], functions: [Function] = [.count]
    ) {
        self.table = table
        self.filter = filter
        self.groups = groups.map { .column($0) }
        self.functions = functions
    }

    /// The columns that it needs of a row that matches.
    var columns: Set<ExactString> {
        var columns = functions.compactMap(\.column).exact
        for group in groups { group.forEachColumn { columns.insert(ExactString($0)) } }
        return columns
    }
}

/// A group of rows, and what was computed from them.
public struct RowGroup: Hashable, Sendable {
    /// The values that the group's rows have in common, one for each expression of the groups, spelled as in the row with the
    /// lowest id.
    public var key: [Value]
    /// What was computed, one value for each function.
    public var values: [Value]

    package init(key: [Value], values: [Value]) {
        self.key = key
        self.values = values
    }
}

extension StateReader {
    /// Returns the groups in the order of their keys.
    package func run(_ aggregate: RowAggregate) throws(SyncError) -> [RowGroup] {
        try explain(aggregate).groups
    }

    /// Computes the groups, and tells how their rows were found.
    package func explain(_ aggregate: RowAggregate) throws(SyncError) -> (groups: [RowGroup], plan: QueryPlan) {
        var groups = RowGroups(aggregate, try types(of: aggregate.table))
        let plan = try add(to: &groups)
        return (groups.result, plan)
    }

    /// Adds all rows that match.
    @discardableResult
    func add(to groups: inout RowGroups) throws(SyncError) -> QueryPlan {
        let aggregate = groups.aggregate
        if aggregate.hasWindow { return try addWindow(to: &groups) }
        let run = try QueryRun(self, RowQuery(table: aggregate.table, filter: aggregate.filter))
        try withUnsafeMutablePointer(to: &groups) { groups throws(SyncError) in
            let wanted = try run.blockFilter(BlockGroups(groups, run.visitor.shapes))
            try run.forEachMatch(using: aggregate.columns.map(\.text), wanted) { row throws(SyncError) in
                _ = try groups.pointee.change(row.sight, isAdded: true)
            }
        }
        return run.plan
    }

    /// Adds the rows that a query with a window shows.
    private func addWindow(to groups: inout RowGroups) throws(SyncError) -> QueryPlan {
        let aggregate = groups.aggregate
        let run = try QueryRun(
            self,
            RowQuery(
                table: aggregate.table, filter: aggregate.filter, order: aggregate.order, top: aggregate.top,
                skip: aggregate.skip))
        for row in try run.rows().rows {
            let owned = OwnedRow(id: row.id, row: row.columns)
            _ = try groups.change(owned.sight, isAdded: true)
            extendLifetime(owned)
        }
        return run.plan
    }
}

extension RowAggregate {
    /// Whether only some rows of an order are asked about.
    var hasWindow: Bool { top != nil || skip > 0 }
}
