// A server's table of an app's own type, used without the local store.

public import SynclineCore

/// A table of models on a server, or a query on it.
public struct OnlineModels<Model: SyncModel>: Sendable {
    /// The same table without a model.
    public let untyped: OnlineTable
    /// The condition, order and range of the query.
    public private(set) var query = ModelQuery<Model>()

    /// One page of models.
    public struct Page: Sendable {
        /// The models, in the server's order.
        public var models: [Model]
        let rows: OnlineTable.Page

        /// Whether the server has more models.
        public var hasMore: Bool { rows.hasMore }
    }

    // MARK: Reading

    /// Returns a model, or nil if the server has none with this id.
    @concurrent
    public func get(id: Model.ID) async throws(SyncError) -> Model? {
        for rowID in id.rowIDs {
            if let row = try await untyped.get(id: rowID) { return try decode(row) }
        }
        return nil
    }

    /// Returns the models of the query, page by page until the server has no more.
    @concurrent
    public func get() async throws(SyncError) -> [Model] {
        var page: Page? = try await self.page()
        var models: [Model] = []
        while let current = page {
            models += current.models
            page = try await self.page(after: current)
        }
        return models
    }

    /// Returns the first page of the query; the server decides its size.
    @concurrent
    public func page() async throws(SyncError) -> Page {
        try page(try await untyped.query(try query.rowQuery(table: untyped.name)))
    }

    /// Returns the page after another, or nil after the last.
    @concurrent
    public func page(after page: Page) async throws(SyncError) -> Page? {
        guard let next = try await untyped.page(after: page.rows) else { return nil }
        return try self.page(next)
    }

    // MARK: Writing

    /// Inserts a model and returns the server's.
    @discardableResult
    @concurrent
    public func insert(_ model: Model) async throws(SyncError) -> Model {
        try decode(try await untyped.insert(.object(try ModelCoding.members(of: model))))
    }

    /// Updates a row; if the model has a property `version` with a value, only if it is still the server's version.
    @discardableResult
    @concurrent
    public func update(_ model: Model) async throws(SyncError) -> Model {
        try decode(
            try await trying(model) { id, version throws(SyncError) in
                let members = try ModelCoding.members(of: model, rowID: id)
                return try await untyped.update(.object(members), version: version)
            })
    }

    /// Deletes a row; if the model has a property `version` with a value, only if it is still the server's version.
    @concurrent
    public func delete(_ model: Model) async throws(SyncError) {
        try await trying(model) { id, version throws(SyncError) in try await untyped.delete(id: id, version: version) }
    }

    /// Sends a request for each id that the row can have, until the server has such a row.
    private func trying<Answer>(
        _ model: Model, _ send: (_ id: String, _ version: String?) async throws(SyncError) -> Answer
    ) async throws(SyncError) -> Answer {
        let version = ModelCoding<Model>.version(in: try ModelCoding.members(of: model))
        for id in model.id.rowIDs.dropLast() {
            do throws(SyncError) {
                return try await send(id, version)
            } catch {
                guard error.code == .rowGone else { throw error }
            }
        }
        return try await send(model.id.rowIDs.last ?? "", version)
    }

    private func page(_ rows: OnlineTable.Page) throws(SyncError) -> Page {
        Page(models: try rows.rows.map { row throws(SyncError) in try decode(row) }, rows: rows)
    }

    private func decode(_ row: StoredRow) throws(SyncError) -> Model {
        try ModelCoding.decode(row, table: untyped.name)
    }
}

extension OnlineModels: ModelSource {
    public func refined(_ change: (inout ModelQuery<Model>) -> Void) -> OnlineModels<Model> {
        var copy = self
        change(&copy.query)
        return copy
    }
}

extension Backend {
    /// Returns the server's table of a model: the one that ``SyncModel/table`` names, or another.
    public func table<Model: SyncModel>(_ type: Model.Type, named name: String? = nil) -> OnlineModels<Model> {
        OnlineModels(untyped: rows(of: name ?? Model.table))
    }
}
