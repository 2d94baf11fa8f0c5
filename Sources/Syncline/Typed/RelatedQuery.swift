// Models with those that they refer to, or that refer to them: one query for the models and one for all of the others.

import SynclineCore

/// A query for models, each with the models related to it: see ``ModelSource/with(_:from:)``.
public struct RelatedQuery<Model: SyncModel, Other: SyncModel, Related: Sendable>: Sendable {
    /// A model, and what is related to it.
    public typealias Element = (model: Model, related: Related)

    let query: SyncQuery<Model>
    let others: SyncQuery<Other>
    /// The column of the others by which they are related.
    let column: Result<String, SyncError>
    /// The values in that column of the others that are related to a model.
    let keys: @Sendable (Model) -> [Value]
    let join: @Sendable ([Model], [Other]) -> [Element]

    /// Returns the models, and what is related to them at the same moment.
    @concurrent
    public func get() async throws(SyncError) -> [Element] {
        try element(of: try rows(try query.rowQuery()))
    }

    /// A page of the models of a query with what is related to them, and where it ends.
    public struct Page: Sendable {
        /// The models, and what is related to them.
        public let elements: [Element]
        /// The place of the last row, if there was one.
        fileprivate let end: RowQuery.Place?
    }

    /// Returns the first page: `limit` models, or 100, with what is related to them at the same moment.
    @concurrent
    public func page() async throws(SyncError) -> Page {
        try page(of: try query.rowQuery())
    }

    /// Returns the page after another one of the same query; nil if that was the last: see ``SyncQuery/page(after:)``.
    @concurrent
    public func page(after page: Page) async throws(SyncError) -> Page? {
        guard let end = page.end else { return nil }
        let next = try self.page(of: try query.rowQuery().after(end))
        return next.end == nil ? nil : next
    }

    private func page(of query: RowQuery) throws(SyncError) -> Page {
        let rows = try rows(query.page)
        return Page(elements: try element(of: rows), end: rows.page.end)
    }

    /// Observes the query: yields the current models with what is related to them, and the newest ones after commits
    /// that change them. Both are always of the same moment.
    public func observe() throws(SyncError) -> LiveResults<[Element], SyncError> {
        let pair = try pair(try query.rowQuery())
        return query.table.untyped.observe({ pair() }, check: check).map(element)
    }

    /// Runs a query for models once.
    private func rows(_ page: RowQuery) throws(SyncError) -> LivePair.Rows {
        try check()
        try page.check()
        // Rows beyond the page are of use only while it is followed.
        var pair = try pair(page, spare: 0)()
        let reader = try query.table.untyped.declaredReader
        try pair.load(reader)
        return pair.result
    }

    private func check() throws(SyncError) {
        _ = try others.table.untyped.declaredReader
        if query.table.untyped.database !== others.table.untyped.database {
            throw SyncError(
                .invalidQuery, "\(others.table.name) is a table of another store",
                hint: "A relation is followed within one store.")
        }
    }

    /// Returns what makes live content of a page and what is related to it.
    private func pair(
        _ page: RowQuery, spare: Int? = nil
    ) throws(SyncError) -> @Sendable () -> sending LivePair {
        let (keys, table, column) = (keys, query.table.name, try column.get())
        let query = try others.rowQuery()
        return {
            LivePair(page: page, others: query, column: column, spare: spare) { rows in
                // The error of a row that the model can't decode is thrown when the list is made.
                rows.compactMap { try? ModelCoding<Model>.decode($0, table: table) }.flatMap(keys)
            }
        }
    }

    private func element(of rows: LivePair.Rows) throws(SyncError) -> [Element] {
        join(try query.table.decode(rows.page.rows), try others.table.decode(rows.related))
    }
}
