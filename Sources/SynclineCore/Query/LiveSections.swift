// The rows of a query, and how many of all rows have each value of a column, kept up to date together: both always describe
// the same state.

package struct LiveSections: LiveContent {
    /// The rows of the query, and the number of rows of each section.
    package struct Rows: Hashable, Sendable {
        package var page: QueryResult
        package var counts: [RowGroup]
    }

    private var page: LiveWindow
    private var counts: LiveAggregate

    /// - Parameter column: Rows with the same value there are a section. The window of the query does not change counts.
    package init(_ query: RowQuery, by column: String) {
        page = LiveWindow(query)
        counts = LiveAggregate(
            RowAggregate(table: query.table, filter: query.filter, groups: [column], functions: [.count]))
    }

    package var tables: [String]? { page.tables }

    package var result: Rows { Rows(page: page.result, counts: counts.result) }

    package mutating func load(_ reader: StateReader) throws(SyncError) {
        try page.load(reader)
        try counts.load(reader)
    }

    package mutating func update(_ changes: TableChanges) throws(SyncError) -> Bool {
        let (isPageChanged, areCountsChanged) = (try page.update(changes), try counts.update(changes))
        return isPageChanged || areCountsChanged
    }
}
