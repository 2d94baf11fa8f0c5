// Folds a purge: rows leave the device, with their pending changes, and cursors of their table begin again.

struct PurgeFold {
    let state: FoldState

    func apply(_ purge: Purge) throws(StateError) {
        var keys: [[UInt8]] = []
        if let ids = purge.ids {
            keys = ids.map { state.rowKey(purge.table, $0) }
        } else {
            try state.store.snapshot.forEach(prefix: RowKey.prefix(purge.table)) { key, _ throws(StateError) in
                keys.append([UInt8](key))
                return true
            }
        }
        for key in keys {
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

    private func drop(_ pending: PendingRow) throws(StateError) {
        try state.drop(state.chain(of: pending))
        state.totals.cancelled += UInt64(pending.count)
    }
}
