// Conflicts with typed models in place of rows.

public import SynclineCore
import SynclineGround

/// A conflict about a row of a model, or an operation that the server refused.
public struct SyncConflict<Model: SyncModel>: Identifiable, Sendable {
    /// The conflict without models.
    public let conflict: Conflict
    /// The model before the local operation; nil for an insert.
    public let base: Model?
    /// The model after the local operation; nil for a delete.
    public let mine: Model?
    /// The server's model; nil if the row is gone or not known.
    public let server: Model?

    /// The row's id.
    public var id: String { conflict.id }
}

extension SyncTable {
    /// Returns the operations on this table that await a decision, in plan order.
    @concurrent
    public func conflicts() async throws(SyncError) -> [SyncConflict<Model>] {
        try typed(try await untyped.database.conflicts().filter { $0.table == untyped.name })
    }

    /// Decodes conflicts about rows of this table.
    func typed(_ conflicts: [Conflict]) throws(SyncError) -> [SyncConflict<Model>] {
        var all: [SyncConflict<Model>] = []
        for conflict in conflicts {
            if let typed = try reporting({ () throws(SyncError) in try typed(conflict) }) { all.append(typed) }
        }
        return all
    }

    private func typed(_ conflict: Conflict) throws(SyncError) -> SyncConflict<Model> {
        SyncConflict(
            conflict: conflict, base: try model(conflict.id, conflict.base),
            mine: try model(conflict.id, conflict.mine), server: try model(conflict.id, conflict.server))
    }

    private func model(_ id: String, _ row: Row?) throws(SyncError) -> Model? {
        guard var row else { return nil }
        if let defaults = untyped.database.declaration?.defaults(of: untyped.name) { row = defaults.merged(with: row) }
        return try decode(StoredRow(id: id, columns: row))
    }

    /// Decides a conflict, or an operation that the server refused.
    @concurrent
    public func resolve(_ conflict: SyncConflict<Model>, _ decision: ConflictDecision) async throws(SyncError) {
        try await untyped.database.resolve(table: name, id: conflict.id, decision)
    }

    /// Decides a conflict with the given model. The columns that differ from the server's row are set and sent; all
    /// of them if the server has no row. Local columns keep their values unless the model sets them.
    @concurrent
    public func resolve(_ conflict: SyncConflict<Model>, with model: Model) async throws(SyncError) {
        guard model.id.rowIDs.contains(conflict.id) else {
            throw SyncError(.invalidID, "the model belongs to another row than the conflict", hint: "Keep its id.")
        }
        let chosen = try ModelCoding.members(of: model, rowID: conflict.id)
        // A refused operation has changed nothing on the server, so its base is the server's row.
        if let known = conflict.server ?? (conflict.conflict.state == .parked ? conflict.base : nil) {
            let changes = try ModelCoding.members(of: known, rowID: conflict.id).changes(to: chosen)
            try await resolve(conflict, changes.isEmpty ? .takeServer : .row(try Item(changes).columns))
        } else {
            try await resolve(conflict, .row(try Item(try await keepingLocal(chosen, of: conflict.id)).columns))
        }
    }

    /// Returns a whole row, with the local columns that it does not set.
    private func keepingLocal(_ members: [Value.Member], of id: String) async throws(SyncError) -> [Value.Member] {
        guard let local = untyped.database.writer.current.declaration?.localColumns(of: name),
            let current = try await untyped.get(id: id)?.columns
        else { return members }
        let kept = current.members.filter { local.contains($0.name) }
        return kept + members.filter { !(local.contains($0.name) && $0.value.isNull) }
    }
}
