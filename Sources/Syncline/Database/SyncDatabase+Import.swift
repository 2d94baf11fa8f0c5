// The import of another client's data into a new store: its rows as the server's, and its unsent changes.

package import SynclineCore

extension SyncDatabase {
    /// Stores rows as the server sent them, each with its version, in one event.
    package func store(known rows: [PulledRow], of table: String) async throws(SyncError) {
        _ = try await perform(.buffered) { engine throws(SyncError) in
            try engine.projector.check(table: table)
            return try engine.record(page: PulledPage(table: table, queryID: nil, rows: rows, cursor: nil))
        }
    }

    /// Stores changes that another client decided, each in an event of its own. All of them are stored, or none.
    package func store(decided changes: [LocalChange]) async throws(SyncError) {
        try await perform(.buffered) { engine throws(SyncError) in
            for change in changes {
                try engine.projector.check(table: change.table)
                try engine.projector.check(columnsOf: change.columns, in: change.table)
                try engine.record(.local(LocalTransaction([change], isGrouped: false)))
            }
        }
    }
}
