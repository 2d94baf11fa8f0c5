// Models in a transaction. They are passed with their table, so that a transaction can't use the wrong one.

public import SynclineCore

extension SyncTransaction {
    // MARK: Storing models

    /// Inserts a model and returns it as stored. If the stored row can't be decoded, the whole transaction is
    /// refused.
    @discardableResult
    public func insert<Model>(_ model: Model, in table: SyncTable<Model>) throws(SyncError) -> Model {
        try change(.insert, try members(of: model, table), table)
    }

    /// Inserts models and returns them as stored.
    @discardableResult
    public func insert<Model>(
        _ models: some Sequence<Model>, in table: SyncTable<Model>
    ) throws(SyncError) -> [Model] {
        var stored: [Model] = []
        for model in models { stored.append(try insert(model, in: table)) }
        return stored
    }

    /// Stores the columns that differ from the current row. Throws `row-absent` if there is no row, and `stale-item` if
    /// it has another version than the model.
    @discardableResult
    public func update<Model: VersionedModel>(
        _ model: Model, in table: SyncTable<Model>
    ) throws(SyncError) -> Model {
        let rowID = try rowID(of: model.id, in: table.name)
        try checkVersion(of: model, try present(table.name, rowID), table.name)
        return try set(model, rowID, table)
    }

    /// Inserts a model, or stores the columns that differ from its row. Throws `stale-item` if the row has another
    /// version than the model, or is gone.
    @discardableResult
    public func save<Model: VersionedModel>(
        _ model: Model, in table: SyncTable<Model>
    ) throws(SyncError) -> Model {
        let rowID = try rowID(of: model.id, in: table.name)
        if let row = try get(table.name, id: rowID) {
            try checkVersion(of: model, row, table.name)
        } else if model.version != nil {
            throw try isDeleted(table.name, rowID)
                ? LocalDecision.rowDeleted(table.name, rowID) : SyncTransaction.stale(table.name, rowID)
        }
        return try set(model, rowID, table)
    }

    /// Inserts a model, or sets the columns that differ from its row, whatever has changed since the model was read.
    @discardableResult
    public func overwrite<Model>(_ model: Model, in table: SyncTable<Model>) throws(SyncError) -> Model {
        try set(model, try rowID(of: model.id, in: table.name), table)
    }

    // MARK: Changing rows

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

    /// Changes the models that a query shows, and stores the columns that differ. Returns how many rows differ.
    @discardableResult
    public func update<Model>(
        _ query: SyncQuery<Model>, _ change: (inout Model) throws -> Void
    ) throws -> Int {
        let before = writer.count
        for original in try get(query) {
            var edited = original
            try change(&edited)
            try update(edited, from: original, in: query.table)
        }
        return writer.count - before
    }

    /// Deletes a model's row. Throws `row-absent` if there is none.
    public func delete<Model>(_ model: Model, in table: SyncTable<Model>) throws(SyncError) {
        try delete(id: model.id, in: table)
    }

    /// Deletes a row. Throws `row-absent` if there is none.
    public func delete<Model>(id: Model.ID, in table: SyncTable<Model>) throws(SyncError) {
        let rowID = try rowID(of: id, in: table.name)
        _ = try present(table.name, rowID)
        try delete(table.name, id: rowID)
    }

    /// Deletes rows. Throws `row-absent` if there is none for one of the ids.
    public func delete<Model>(
        ids: some Sequence<Model.ID>, in table: SyncTable<Model>
    ) throws(SyncError) {
        for id in ids { try delete(id: id, in: table) }
    }

    /// Deletes the rows that a query shows, also those that the model can't decode. Returns how many there were.
    @discardableResult
    public func delete<Model>(_ query: SyncQuery<Model>) throws(SyncError) -> Int {
        let rows = try self.query(try query.rowQuery()).rows
        for row in rows { try delete(query.table.name, id: row.id) }
        return rows.count
    }

    // MARK: Reading

    /// Returns the model with an id, or nil if there is none, including the transaction's own changes.
    public func get<Model>(id: Model.ID, in table: SyncTable<Model>) throws(SyncError) -> Model? {
        guard let row = try get(table.name, id: try rowID(of: id, in: table.name)) else { return nil }
        return try table.decode(row)
    }

    /// Returns the models of a query, including the transaction's own changes.
    public func get<Model>(_ query: SyncQuery<Model>) throws(SyncError) -> [Model] {
        try query.table.decode(try self.query(try query.rowQuery()).rows)
    }

    // MARK: Rows and models

    /// Returns the id of the row that a model's id means: one that the store knows, or else the one of a new row.
    private func rowID(of id: some RowIdentifier, in table: String) throws(SyncError) -> String {
        guard id.rowIDs.count > 1 else { return id.newRowID }
        for rowID in id.rowIDs where try knows(table, rowID) { return rowID }
        return id.newRowID
    }

    private func members<Model>(of model: Model, _ table: SyncTable<Model>) throws(SyncError) -> [Value.Member] {
        try ModelCoding.members(of: model, rowID: try rowID(of: model.id, in: table.name))
    }

    private func checkVersion(
        of model: some VersionedModel, _ row: StoredRow, _ table: String
    ) throws(SyncError) {
        let known: String? = if case .string(let version)? = row.columns["version"] { version } else { nil }
        if model.version != known { throw SyncTransaction.stale(table, row.id) }
    }

    private static func stale(_ table: String, _ id: String) -> SyncError {
        SyncError(
            .staleItem, "the row has changed since this model was read",
            hint: "Read it again, or change it with `update(id:)` or `update(_:from:)`.", address: "\(table)/\(id)")
    }

    /// Inserts a row for a model, or sets the columns that differ from its row.
    private func set<Model>(
        _ model: Model, _ rowID: String, _ table: SyncTable<Model>
    ) throws(SyncError) -> Model {
        var members = try ModelCoding.members(of: model, rowID: rowID)
        guard let current = try get(table.name, id: rowID) else { return try change(.insert, members, table) }
        if let seen = try? ModelCoding.members(of: table.decode(current), rowID: rowID) {
            // A column that decodes to the same value is left alone, even if the row has more in it than the model.
            members.removeAll { $0.name != "id" && current.columns[$0.name] != nil && seen.contains($0) }
        }
        return try change(.update, members, table)
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
