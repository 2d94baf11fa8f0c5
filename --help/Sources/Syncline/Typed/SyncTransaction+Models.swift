// Models in a transaction. They are passed with their table, so that a transaction can't use the wrong one.

public import SynclineCore

extension SyncTransaction {
    /// Inserts a model and returns it as stored. If the stored row can't be decoded, the whole transaction is
    /// refused.
    @discardableResult
    public func insert<Model>(_ model: Model, into table: SyncTable<Model>) throws(SyncError) -> Model {
        try change(.insert, try members(of: model, table), table)
    }

    /// Stores the columns that differ from the current row. If the model has a property `version` and the row has
    /// another version, throws `stale-item`.
    @discardableResult
    public func update<Model>(_ model: Model, in table: SyncTable<Model>) throws(SyncError) -> Model {
        let rowID = try rowID(of: model.id, in: table.name)
        var members = try ModelCoding.members(of: model, rowID: rowID)
        let current = try get(table.name, id: rowID)
        let version = ModelCoding<Model>.version(in: members)
        let hasVersion = members.contains { $0.name == "version" }
        if hasVersion, version != ModelCoding<Model>.version(in: current?.columns.members ?? []) {
            try refuseStale(rowID, in: table.name, isThere: current != nil)
        }
        if let current, let seen = try? ModelCoding.members(of: table.decode(current), rowID: rowID) {
            // A column that decodes to the same value is left alone, even if the row has more in it than the model.
            members.removeAll { $0.name != "id" && current.columns[$0.name] != nil && seen.contains($0) }
        }
        return try change(.update, members, table)
    }

    /// Stores the columns that differ between two versions of a model. Changes made to other columns since the
    /// original was read are kept.
    @discardableResult
    public func update<Model>(
        _ edited: Model, from original: Model, in table: SyncTable<Model>
    ) throws(SyncError) -> Model {
        let (before, after) = (try members(of: original, table), try members(of: edited, table))
        return try change(.update, try difference(in: table.name, from: before, to: after), table)
    }

    /// Reads a model, changes it and stores the columns that differ.
    @discardableResult
    public func update<Model>(
        id: Model.ID, in table: SyncTable<Model>, _ change: (inout Model) throws -> Void
    ) throws -> Model {
        let original = try table.decode(try present(table.name, try rowID(of: id, in: table.name)))
        var edited = original
        try change(&edited)
        return try update(edited, from: original, in: table)
    }

    /// Deletes a model's row.
    public func delete<Model>(_ model: Model, from table: SyncTable<Model>) throws(SyncError) {
        try delete(id: model.id, from: table)
    }

    /// Deletes a row.
    public func delete<Model>(id: Model.ID, from table: SyncTable<Model>) throws(SyncError) {
        try delete(table.name, id: try rowID(of: id, in: table.name))
    }

    /// Returns the model with an id, or nil if there is none, including the transaction's own changes.
    public func get<Model>(id: Model.ID, from table: SyncTable<Model>) throws(SyncError) -> Model? {
        guard let row = try get(table.name, id: try rowID(of: id, in: table.name)) else { return nil }
        return try table.decode(row)
    }

    /// Returns the models of a query, including the transaction's own changes.
    public func get<Model>(_ query: SyncQuery<Model>) throws(SyncError) -> [Model] {
        try query.table.decode(try self.query(try query.rowQuery()).rows)
    }

    /// Returns the id of the row that a model's id means: one that the store knows, or else the one of a new row.
    private func rowID(of id: some RowIdentifier, in table: String) throws(SyncError) -> String {
        guard id.rowIDs.count > 1 else { return id.newRowID }
        for rowID in id.rowIDs where try knows(table, rowID) { return rowID }
        return id.newRowID
    }

    private func members<Model>(of model: Model, _ table: SyncTable<Model>) throws(SyncError) -> [Value.Member] {
        try ModelCoding.members(of: model, rowID: try rowID(of: model.id, in: table.name))
    }

    private func refuseStale(_ id: String, in table: String, isThere: Bool) throws(SyncError) {
        // A row whose delete is pending already has this state.
        if !isThere, try isDeleted(table, id) { return }
        throw SyncError(
            .staleItem, "the row has changed since this model was read",
            hint: "Read it again, or change it with `update(id:)` or `update(_:from:)`.", address: "\(table)/\(id)")
    }

    private func change<Model>(
        _ kind: OperationKind, _ members: [Value.Member], _ table: SyncTable<Model>
    ) throws(SyncError) -> Model {
        let row = try change(kind, table.name, .object(members))
        do throws(SyncError) {
            return try table.decode(row)
        } catch {
            refuse(error)
            throw error
        }
    }
}
