// Observes the operations that await the app's decision.

public import SynclineCore

extension SyncDatabase {
    /// Observes the operations that await a decision, in one table or in all.
    public func observeConflicts(table: String? = nil) throws(SyncError) -> LiveResults<[Conflict], SyncError> {
        if let table { try checkDeclared(table) }
        return writer.observe { LiveOutlook(table: table) }.map { $0.conflicts }
    }
}

extension SyncTable {
    /// Observes the operations on this table that await a decision. One that the model can't decode is an error, which
    /// does not end the sequence: see ``LiveResults``.
    public func observeConflicts() throws(SyncError) -> LiveResults<[SyncConflict<Model>], SyncError> {
        try untyped.database.observeConflicts(table: name).map(typed)
    }
}
