// Models in a transaction. They are passed with their table, so that a transaction can't use the wrong one.

public import SynclineCore
import SynclineGround
import SynclineWire

extension SyncTransaction {
    /// Inserts a model and returns it as stored. If the stored row can't be decoded, the whole transaction is
    /// refused.
    @discardableResult
    public func insert<Model>(_ model: Model, into table: SyncTable<Model>) throws(SyncError) -> Model {
        try change(.insert, try table.members(of: model), table)
    }

    /// Stores the columns that differ from the current row. If the model has a property `version` and the row has
    /// another version, throws `stale-item`.
    @discardableResult
    public func update<Model>(_ model: Model, in table: SyncTable<Model>) throws(SyncError) -> Model {
        var members = try table.members(of: model)
        let current = try get(table.name, id: model.id)
        let version = members[member: "version"]?.versionText
        if let version, version != (current?.columns["version"] ?? .null).versionText {
            try refuseStale(model.id, in: table.name, isThere: current != nil)
        }
        if let current, let seen = try? table.members(of: table.decode(current)) {
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
        let (before, after) = (try table.members(of: original), try table.members(of: edited))
        return try change(.update, try difference(in: table.name, from: before, to: after), table)
    }

    /// Reads a model, changes it and stores the columns that differ.
    @discardableResult
    public func update<Model>(
        id: String, in table: SyncTable<Model>, _ change: (inout Model) throws -> Void
    ) throws -> Model {
        let original = try table.decode(try present(table.name, id))
        var edited = original
        try change(&edited)
        return try update(edited, from: original, in: table)
    }

    /// Deletes a model's row.
    public func delete<Model>(_ model: Model, from table: SyncTable<Model>) throws(SyncError) {
        try delete(table.name, id: model.id)
    }

    /// Deletes a row.
    public func delete<Model>(id: String, from table: SyncTable<Model>) throws(SyncError) {
        try delete(table.name, id: id)
    }

    /// Returns the model with an id, or nil if there is none, including the transaction's own changes.
    public func get<Model>(id: String, from table: SyncTable<Model>) throws(SyncError) -> Model? {
        guard let row = try get(table.name, id: id) else { return nil }
        return try table.decode(row)
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

extension Value {
    /// The version as rows store it, also if the model has it as data.
    fileprivate var versionText: Value {
        if case .bytes(let bytes) = self { return .string(Base64.encode(bytes)) }
        return self
    }
}
