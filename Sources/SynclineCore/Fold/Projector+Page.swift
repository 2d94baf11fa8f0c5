// Folds what the server sent: a row becomes the base, also under pending changes; where both sides changed a column to
// different values, or one side removed the row, the pending operation is in conflict at once.

extension Projector {
    func apply(_ page: PulledPage, number: UInt64) throws(StateError) {
        for row in page.rows { try apply(row, in: page.table) }
        if let queryID = page.queryID, let cursor = page.cursor { try putCursor(page.table, queryID, cursor) }
    }

    private func apply(_ pulled: PulledRow, in table: String) throws(StateError) {
        let key = rowKey(table, pulled.id)
        let (found, old) = try entry(key)
        var entry = found ?? RowEntry()
        if let row = pulled.row {
            // The server's spelling wins once it has answered.
            if ids == .ignoreCase { entry.spelling = pulled.id }
            if entry.base?.isSameState(as: row) == true { return }
            try rebase(&entry, onto: row)
        } else {
            if found == nil { return }
            try removeBase(&entry)
        }
        try write(entry, key, old: old)
    }

    private func rebase(_ entry: inout RowEntry, onto row: Row) throws(StateError) {
        let ancestor = entry.base
        entry.base = row
        guard var pending = entry.pending else { return }
        if pending.frozen?.status == .conflict {
            pending.frozen?.server = row
            pending.frozen?.code = "conflict"
        } else if pending.frozen == nil, let operation = pending.operation,
            PullConflict.arises(operation.kind, pending.overlay, from: ancestor, onto: row)
        {
            try freeze(&pending, asConflictWith: row, ancestor, code: "conflict")
        }
        entry.pending = pending
    }

    private func removeBase(_ entry: inout RowEntry) throws(StateError) {
        let ancestor = entry.base
        entry.base = nil
        guard var pending = entry.pending else { return }
        if pending.frozen?.status == .conflict {
            pending.frozen?.server = nil
            pending.frozen?.code = "row-gone"
        } else if pending.frozen == nil {
            switch pending.operation?.kind {
            case .delete:
                // Both sides deleted it: agreement.
                try settle(pending)
                entry.pending = nil
                return
            case .insert, .update:
                try freeze(&pending, asConflictWith: nil, ancestor, code: "row-gone")
            case nil: break
            }
        }
        entry.pending = pending
    }

    private func freeze(
        _ pending: inout PendingRow, asConflictWith server: Row?, _ ancestor: Row?, code: String
    ) throws(StateError) {
        guard let operation = pending.operation else { return }
        var frozen = FrozenOperation(
            kind: operation.kind, status: .conflict, maybeSent: false, position: operation.first,
            through: pending.last, operationID: "", columns: pending.overlay, ancestor: ancestor)
        frozen.server = server
        frozen.code = code
        pending.frozen = frozen
        pending.operation = nil
        try forEachChange(of: pending) { change in change.isFrozen = true }
    }

    /// Every change of a row, newest first, rewritten.
    func forEachChange(of pending: PendingRow, _ rewrite: (inout JournalEntry) -> Void) throws(StateError) {
        var next: Position? = pending.last
        while let position = next {
            var (change, old) = try journal(position)
            rewrite(&change)
            write(change, at: position, old: old)
            next = change.previous
        }
    }

    /// The changes of a row leave the outbox: the last as done, the others as part of it.
    func settle(_ pending: PendingRow) throws(StateError) {
        var next: Position? = pending.last
        while let position = next {
            let (change, old) = try journal(position)
            remove(journalKey(position), old: old)
            try dropGroup(of: change, position.event)
            next = change.previous
        }
        totals.done += 1
        totals.superseded += UInt64(pending.count - 1)
    }

    // MARK: Purge

    func apply(_ purge: Purge) throws(StateError) {
        var keys: [[UInt8]] = []
        if let ids = purge.ids {
            keys = ids.map { rowKey(purge.table, $0) }
        } else {
            var prefix = ByteWriter()
            prefix.append(tablePrefix: purge.table)
            try store.snapshot.forEach(prefix: prefix.bytes) { key, _ throws(StateError) in
                keys.append([UInt8](key))
                return true
            }
        }
        for key in keys {
            let (entry, old) = try entry(key)
            if let pending = entry?.pending { try drop(pending) }
            if let old {
                if !indexes.isEmpty { try reindex(key, from: entry, to: nil) }
                remove(key, old: old)
            }
        }
        for cursor in try StateReader(store.snapshot, shapes).cursors() where cursor.table == purge.table {
            try putCursor(cursor.table, cursor.queryID, nil)
        }
    }

    private func drop(_ pending: PendingRow) throws(StateError) {
        try settle(pending)
        totals.done -= 1
        totals.superseded -= UInt64(pending.count - 1)
        totals.cancelled += UInt64(pending.count)
    }
}

/// Whether a row from the server and a pending operation are in conflict at once.
package enum PullConflict {
    package static func arises(_ kind: OperationKind, _ overlay: Row, from ancestor: Row?, onto row: Row) -> Bool {
        switch kind {
        // The server will say, when it is pushed.
        case .insert: return false
        case .delete: return true
        case .update:
            return overlay.members.contains { mine in
                let theirs = row[mine.name] ?? .null
                let before = ancestor?[mine.name] ?? .null
                return !theirs.means(before) && !theirs.means(mine.value)
            }
        }
    }
}

extension Row {
    /// Whether the server means the same state of the row: the same version or, without versions, the same content.
    package func isSameState(as other: Row) -> Bool {
        if let version = self["version"], !version.isNull { return version == other["version"] }
        return self == other
    }
}
