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
            all.append(
                TypedConflict(
                    conflict: conflict, base: try model(conflict.id, conflict.base),
                    mine: try model(conflict.id, conflict.mine), server: try model(conflict.id, conflict.server)))
        }
        return all
    }

    private func model(_ id: String, _ row: Row?) throws(SyncError) -> Model? {
        guard let row else { return nil }
        return try decode(StoredRow(id: id, columns: row))
    }

    /// Decides a conflict, or an operation that the server refused.
    public func resolve(_ conflict: TypedConflict<Model>, _ decision: ConflictDecision) async throws(SyncError) {
        try await untyped.database.resolve(table: untyped.name, id: conflict.id, decision)
    }

    /// Decides one with a model of the app's choosing, which the next push sends.
    public func resolve(_ conflict: TypedConflict<Model>, with model: Model) async throws(SyncError) {
        let item = try Item(try ValueEncoder.encode(model))
        try await resolve(conflict, .row(item.columns))
    }
}
