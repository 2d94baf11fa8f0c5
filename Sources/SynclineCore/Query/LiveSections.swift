// The rows of a query, and how many of all rows have each value of a column or of an expression, kept up to date together:
// both always describe the same state.

package struct LiveSections: LiveContent {
    /// The rows of the query, and the number of rows of each section.
    package struct Rows: Hashable, Sendable {
        package var page: QueryResult
        /// The value of each row of the page.
        package var keys: [Value]
        package var counts: [RowGroup]
    }

    private var page: LiveWindow
    private var counts: LiveAggregate
    private let table: String
    private let key: FilterExpression
    private var types = TableTypes()

    /// - Parameter key: Rows with the same value of it are a section. The window of the query does not change counts.
    package init(_ query: RowQuery, by key: FilterExpression) {
        page = LiveWindow(query)
        var aggregate = RowAggregate(table: query.table, filter: query.filter)
        aggregate.groups = [key]
        counts = LiveAggregate(aggregate)
        (table, self.key) = (query.table, key)
    }

    package var tables: [String]? { page.tables }

    package var result: Rows {
        let (page, work) = (page.result, FilterWork(types))
        let keys = page.rows.map { row in
            let owned = OwnedRow(id: row.id, row: row.columns)
            defer { extendLifetime(owned) }
            work.beginRow()
            return key.operand(in: owned.sight, work).value
        }
        return Rows(page: page, keys: keys, counts: counts.result)
    }

    package mutating func load(_ reader: StateReader) throws(SyncError) {
        types = try reader.types(of: table)
        try page.load(reader)
        try counts.load(reader)
    }

    package mutating func update(_ changes: TableChanges) throws(SyncError) -> Bool {
        types = try changes.after.types(of: table)
        let (isPageChanged, areCountsChanged) = (try page.update(changes), try counts.update(changes))
        return isPageChanged || areCountsChanged
    }
}
