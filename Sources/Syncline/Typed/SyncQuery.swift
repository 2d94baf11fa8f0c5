// A query on a table of models in the store.

public import SynclineCore

/// A query on a table of models: `todos.where { !$0.complete }.order(by: \.text)`.
public struct SyncQuery<Model: SyncModel>: Sendable {
    let table: SyncTable<Model>
    /// What is asked of the table.
    public private(set) var query = ModelQuery<Model>()

    init(table: SyncTable<Model>) {
        self.table = table
    }

    func rowQuery() throws(SyncError) -> RowQuery { try query.rowQuery(table: table.name) }

    /// Returns the models.
    @concurrent
    public func get() async throws(SyncError) -> [Model] {
        try table.decode(try await table.untyped.query(try rowQuery()).rows)
    }

    /// Returns the first model, or nil if there is none.
    @concurrent
    public func first() async throws(SyncError) -> Model? {
        try await top(min(query.top ?? 1, 1)).get().first
    }

    /// Returns the number of matching rows, ignoring `top` and `skip`. Counts rows that the model can't decode, too.
    @concurrent
    public func count() async throws(SyncError) -> Int {
        try await table.untyped.count(try query.filter?.expression)
    }

    /// Observes the query: yields its current models, and new ones after each commit that changes them. A row that
    /// the model can't decode is an error, which does not end the sequence: see ``QueryResults``.
    public func observe() throws(SyncError) -> QueryResults<[Model]> {
        let table = table
        return table.untyped.observe(try rowQuery()) { result throws(SyncError) in try table.decode(result.rows) }
    }
}

extension SyncQuery: ModelSource {
    public func narrowed(_ change: (inout ModelQuery<Model>) -> Void) -> SyncQuery<Model> {
        var copy = self
        change(&copy.query)
        return copy
    }
}
