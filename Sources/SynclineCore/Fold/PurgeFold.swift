// Folds a purge: rows leave the device, with their pending changes, and cursors of their table begin again.

struct PurgeFold {
    let state: FoldState

    func apply(_ purge: Purge) throws(SyncError) {
        try state.endRedo()
        let keys =
            if let ids = purge.ids {
                ids.map { state.rowKey(purge.table, $0) }
            } else {
                try state.keys(prefix: RowKey.prefix(purge.table))
            }
        if purge.ids == nil { try state.unlistAll(of: purge.table) }
        for key in keys {
            _ = try state.unlist(key)
            let (entry, old) = try state.entry(key)
            if let pending = entry?.pending { try drop(pending) }
            if let old {
                if !state.indexes.isEmpty { try state.reindex(key, from: entry, to: nil) }
                state.remove(key, old: old)
            }
        }
        for cursor in try StateReader(state.store.snapshot, state.shapes).cursors() where cursor.table == purge.table {
            try state.putCursor(cursor.table, cursor.queryID, nil)
        }
    }

    private func drop(_ pending: PendingRow) throws(SyncError) {
        try state.drop(state.chain(of: pending))
        state.totals.cancelled += UInt64(pending.count)
    }
}
