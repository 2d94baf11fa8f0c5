// Queries on the state.

/// The result of a query.
public struct QueryResult: Hashable, Sendable {
    /// The rows, in order.
    public var rows: [StoredRow]
    /// The number of matching rows, ignoring the window, if the query asked for it.
    public var count: Int?
    /// The order of the rows.
    private let order: [RowQuery.Key]
    /// The place of the last row, if the rows lack columns of the order.
    private let knownEnd: RowQuery.Place?

    init(rows: [StoredRow], count: Int?, order: [RowQuery.Key] = [], end: RowQuery.Place? = nil) {
        (self.rows, self.count, self.order, knownEnd) = (rows, count, order, end)
    }

    /// The place of the last row: a query that continues after it gets the next page. Nil if there are no rows.
    public var end: RowQuery.Place? { knownEnd ?? rows.last.map { RowQuery.Place(of: $0, in: order) } }

    public static func == (left: QueryResult, right: QueryResult) -> Bool {
        left.rows == right.rows && left.count == right.count && left.end == right.end
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(rows)
        hasher.combine(count)
    }
}

extension StateReader {
    package func run(_ query: RowQuery) throws(SyncError) -> QueryResult {
        try QueryRun(self, query).rows()
    }

    /// Runs a query, and tells how it was carried out.
    package func explain(_ query: RowQuery) throws(SyncError) -> (result: QueryResult, plan: QueryPlan) {
        let run = try QueryRun(self, query)
        return (try run.rows(), run.plan)
    }

    /// Returns the number of rows that a query shows.
    package func count(_ query: RowQuery) throws(SyncError) -> Int { try explainCount(query).count }

    /// Counts the rows that a query shows, and tells how that was done.
    package func explainCount(_ query: RowQuery) throws(SyncError) -> (count: Int, plan: QueryPlan) {
        let run = try QueryRun(self, query)
        return (min(max(0, try run.count() - query.skip), query.top ?? .max), run.plan)
    }

    /// Calls the body with every row of a table that an app sees and whose id has one form, in order.
    package func forEachRow(
        of table: String, form: UInt8, _ body: (EncodedRowView) throws(SyncError) -> Bool
    ) throws(SyncError) {
        try RowVisitor(self, table).forEachRow(form: form) { row throws(SyncError) in try body(row.sight) }
    }
}

extension EncodedRowView {
    /// The row with all its columns.
    package var stored: StoredRow {
        get throws(SyncError) { StoredRow(compactID, columns: try row) }
    }
}
