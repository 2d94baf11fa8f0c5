// Models of a past state: `try moment.table(TodoItem.self).where { $0.complete }.get()`.

public import SynclineCore

/// A table of models as of an event, or a query on it.
public struct SnapshotTable<Model: SyncModel>: Sendable {
    let state: StoreSnapshot
    /// The table's name.
    public let name: String
    /// The condition, order and range of the query.
    public private(set) var query = ModelQuery<Model>()

    /// Returns the model with an id, or nil if there was none.
    @concurrent
    public func get(id: Model.ID) async throws(SyncError) -> Model? {
        for rowID in id.rowIDs {
            if let row = try await state.get(name, id: rowID) { return try ModelCoding.decode(row, table: name) }
        }
        return nil
    }

    /// Returns the models of the query; without conditions, all of them, sorted by id.
    @concurrent
    public func get() async throws(SyncError) -> [Model] {
        var decoder = RowDecoder()
        return try await state.query(try query.rowQuery(table: name)).rows.map { row throws(SyncError) in
            try ModelCoding<Model>.decode(row, table: name, with: &decoder)
        }
    }

    /// Returns the changes that would put the rows of the query back as they were; without conditions, all rows.
    @concurrent
    public func restoration() async throws(SyncError) -> Restoration {
        try await state.restoration(of: .rows(try query.rowQuery(table: name)))
    }
}

extension SnapshotTable: ModelSource {
    public func refined(_ change: (inout ModelQuery<Model>) -> Void) -> SnapshotTable<Model> {
        var copy = self
        change(&copy.query)
        return copy
    }
}

extension StoreSnapshot {
    /// Returns the table of a model as of this event.
    public func table<Model: SyncModel>(_ type: Model.Type, named name: String? = nil) -> SnapshotTable<Model> {
        SnapshotTable(state: self, name: name ?? Model.table)
    }
}
