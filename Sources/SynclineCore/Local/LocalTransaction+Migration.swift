// Changes that were made before a migration, rewritten by its steps as if they had been in the outbox.

import SynclineGround

extension LocalTransaction {
    /// Returns the transaction in the schema that the steps lead to. Throws if a change can't be expressed in it.
    package func migrated(by steps: [Migration.Step]) throws(SyncError) -> LocalTransaction {
        var copy = self
        for step in steps {
            for index in copy.changes.indices where copy.changes[index].table.isSpelled(as: step.table) {
                try copy.changes[index].migrate(by: step)
            }
        }
        // An update that only set dropped columns changes nothing.
        copy.changes.removeAll { $0.kind == .update && $0.columns.isEmpty }
        return copy
    }
}

extension LocalChange {
    fileprivate mutating func migrate(by step: Migration.Step) throws(SyncError) {
        if case .dropTable = step {
            throw SyncError(
                .unknownTable, "a change of another process waits for a table that the app's schema dropped",
                hint: "`pending` lists it. Drop it, or open the store with a schema that has the table.",
                address: "\(table)/\(id)")
        }
        columns = try step.migrated(columns)
        if let row = seen { seen = try step.migrated(row) }
    }
}

extension Migration.Step {
    fileprivate func migrated(_ row: Row) throws(SyncError) -> Row {
        switch self {
        case .renameColumn(_, let from, let to): return row.renaming(from, to: to)
        case .dropColumn(_, let column): return row.without([ExactString(column)])
        case .transform(_, let column, let transform), .setType(_, let column, _, let transform?):
            guard let old = row[column] else { return row }
            // Throws if a row can't hold the value.
            return row.merged(with: try Item([Value.Member(column, transform(old))]).columns)
        case .addColumn, .setType, .dropTable: return row
        }
    }
}
