// Conflicts in the app's own words: three models in place of three rows.

public import SynclineCore

/// A conflict about a row of a model, or an operation on one that the server refused.
public struct TypedConflict<Model: SyncModel>: Sendable where Model.ID == String {
    /// All that is known of it.
    public let conflict: Conflict
    /// The model the operation was made on; nil for an insert.
    public let base: Model?
    /// That model with the operation; nil for a delete.
    public let mine: Model?
    /// The server's; nil if it is gone, or was not told.
    public let server: Model?

    /// The row's id.
    public var id: String { conflict.id }
}

extension TypedTable {
    /// Operations on the table that wait for a decision, in the order of the plan.
    public func conflicts() async throws(SyncError) -> [TypedConflict<Model>] {
        try typed(try await untyped.database.conflicts().filter { $0.table == untyped.name })
    }

    /// Conflicts about rows of the table, with their models.
    func typed(_ conflicts: [Conflict]) throws(SyncError) -> [TypedConflict<Model>] {
        var all: [TypedConflict<Model>] = []
        for conflict in conflicts {
            if let typed = try reporting({ () throws(SyncError) in try typed(conflict) }) { all.append(typed) }
        }
        return all
    }

    private func typed(_ conflict: Conflict) throws(SyncError) -> TypedConflict<Model> {
        TypedConflict(
            conflict: conflict, base: try model(conflict.id, conflict.base),
            mine: try model(conflict.id, conflict.mine), server: try model(conflict.id, conflict.server))
    }

    private func model(_ id: String, _ row: Row?) throws(SyncError) -> Model? {
        guard var row else { return nil }
        if let defaults = untyped.database.declaration?.defaults(of: untyped.name) { row = defaults.merged(with: row) }
        return try decode(StoredRow(id: id, columns: row))
    }

    /// Decides a conflict, or an operation that the server refused.
    public func resolve(_ conflict: TypedConflict<Model>, _ decision: ConflictDecision) async throws(SyncError) {
        try await untyped.database.resolve(table: name, id: conflict.id, decision)
    }

    /// Decides one with a model of the app's choosing. The columns in which it differs from the server's row are set and
    /// sent, or all of them if the server has no row. Local columns stay as they are unless the model sets them.
    public func resolve(_ conflict: TypedConflict<Model>, with model: Model) async throws(SyncError) {
        guard model.id == conflict.id else {
            throw SyncError(.invalidID, "the model is about another row than the conflict", hint: "Keep its id.")
        }
        let chosen = try members(of: model)
        // A refused operation changes nothing on the server: its base is what the server has.
        if let known = conflict.server ?? (conflict.conflict.state == .parked ? conflict.base : nil) {
            let changes = try members(of: known).changes(to: chosen)
            try await resolve(conflict, changes.isEmpty ? .takeServer : .row(try Item(changes).columns))
        } else {
            try await resolve(conflict, .row(try Item(try await keepingLocal(chosen, of: model.id)).columns))
        }
    }

    /// A whole row with the local columns that it does not set.
    private func keepingLocal(_ members: [Value.Member], of id: String) async throws(SyncError) -> [Value.Member] {
        guard let local = untyped.database.writer.current.declaration?.localColumns(of: name),
            let current = try await untyped.get(id: id)?.columns
        else { return members }
        let kept = current.members.filter { local.contains($0.name) }
        return kept + members.filter { !(local.contains($0.name) && $0.value.isNull) }
    }
}
