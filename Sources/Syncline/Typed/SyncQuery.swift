// A query on a table of models in the store.

public import SynclineCore

/// A query on a table of models: `todos.where { !$0.complete }.order(by: \.text)`.
public struct SyncQuery<Model: SyncModel>: Sendable {
    let table: SyncTable<Model>
    /// The condition, order and range of the query.
    public private(set) var query = ModelQuery<Model>()

    func rowQuery() throws(SyncError) -> RowQuery { try query.rowQuery(table: table.name) }

    /// Returns the models.
    @concurrent
    public func get() async throws(SyncError) -> [Model] {
        try table.decode(try await table.untyped.query(try rowQuery()).rows)
    }

    /// Returns the first model, or nil if there is none.
    @concurrent
    public func first() async throws(SyncError) -> Model? {
        try await limit(min(query.limit ?? 1, 1)).get().first
    }

    /// A page of the models of a query, and where it ends.
    public struct Page: Sendable {
        /// The models.
        public let models: [Model]
        /// The place of the last row, if there was one.
        fileprivate let end: RowQuery.Place?
    }

    /// Returns the first page: `limit` models, or 100.
    @concurrent
    public func page() async throws(SyncError) -> Page {
        try await page(of: try rowQuery())
    }

    /// Returns the page after another one of the same query; nil if that was the last. Every page costs the same, and rows that
    /// are added or removed meanwhile are neither missed nor repeated. A page has no models if all of its rows are skipped
    /// because the model can't decode them.
    @concurrent
    public func page(after page: Page) async throws(SyncError) -> Page? {
        guard let end = page.end else { return nil }
        let next = try await self.page(of: try rowQuery().after(end))
        return next.end == nil ? nil : next
    }

    private func page(of query: RowQuery) async throws(SyncError) -> Page {
        let result = try await table.untyped.query(query.page)
        return Page(models: try table.decode(result.rows), end: result.end)
    }

    /// Changes the models in one transaction, and stores the columns that differ:
    /// `todos.where { $0.list == list }.update { $0.complete = true }`. Returns how many rows differ.
    @discardableResult
    @concurrent
    public func update(_ change: @escaping @Sendable (inout Model) throws -> Void) async throws -> Int {
        try await table.untyped.database.transaction { transaction in try transaction.update(self, change) }
    }

    /// Deletes the rows in one transaction, also those that the model can't decode. Returns how many there were.
    @discardableResult
    @concurrent
    public func delete() async throws(SyncError) -> Int {
        try await table.untyped.alone(isGrouped: true) { transaction throws(SyncError) in try transaction.delete(self) }
    }

    /// Returns the number of rows that the query shows, including those that the model can't decode.
    @concurrent
    public func count() async throws(SyncError) -> Int {
        try await table.untyped.count(try rowQuery())
    }

    /// Returns how the query finds its rows, and how much it read.
    @concurrent
    public func explain() async throws(SyncError) -> QueryPlan {
        try await table.untyped.explain(try rowQuery())
    }

    /// Counts the rows, and returns how they were found. An index may count them without reading one.
    @concurrent
    public func explainCount() async throws(SyncError) -> QueryPlan {
        try await table.untyped.explainCount(try rowQuery())
    }

    /// Observes the query: yields its current models, and new ones after each commit that changes them. A row that
    /// the model can't decode is an error, which does not end the sequence: see ``LiveResults``.
    public func observe() throws(SyncError) -> LiveResults<[Model], SyncError> {
        let table = table
        return table.untyped.observe(try rowQuery()).mapRows { result throws(SyncError) in
            try table.decode(result.rows)
        }
    }
}

extension SyncQuery: ModelSource {
    public func refined(_ change: (inout ModelQuery<Model>) -> Void) -> SyncQuery<Model> {
        var copy = self
        change(&copy.query)
        return copy
    }
}

extension RowQuery {
    /// The query for a page: at most 100 rows, unless it says how many.
    var page: RowQuery {
        var query = self
        query.top = top ?? 100
        return query
    }

    /// Returns the query for the rows after a place.
    func after(_ place: Place) -> RowQuery {
        var query = self
        query.skip = 0
        query.after = place
        return query
    }
}
