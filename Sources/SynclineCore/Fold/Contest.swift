// Folds a change of another process that met a change it had not seen: everything that is pending on the row is in
// conflict from then on, with the row as the app had it in the server's place.

struct Contest {
    private let key: [UInt8]
    private let position: Position
    /// The row as the other process saw it.
    private let ancestor: Row?
    /// The row as the app had it.
    private let server: Row?
    private let rival: Rival?

    /// Call it before the change is added. An earlier change of the same event may have begun the conflict.
    init(_ change: LocalChange, at position: Position, _ state: FoldState) throws(SyncError) {
        key = state.rowKey(change.table, change.id)
        self.position = position
        let (found, old) = try state.entry(key)
        var entry = found ?? RowEntry()
        if let pending = entry.pending, let frozen = pending.frozen, frozen.through.event == position.event {
            (ancestor, server, rival) = (frozen.ancestor, frozen.server, frozen.rival)
            state.rebuild(&entry, from: try state.chain(of: pending), frozen: nil, decidesAgain: false)
            try state.write(entry, key, old: old)
        } else {
            ancestor = state.shared(change.seen, of: change.table)
            server = entry.shared
            rival = entry.pending?.operation.map { [overlay = entry.pending?.overlay ?? .empty, base = entry.base] in
                Rival(kind: $0.kind, columns: overlay, base: base)
            }
        }
    }

    /// Call it after the change was added; returns whether it entered the outbox.
    func decide(_ state: FoldState, isMade: Bool) throws(SyncError) -> Bool {
        let (found, old) = try state.entry(key)
        guard isMade, var entry = found, let pending = entry.pending, pending.frozen == nil else { return isMade }
        // A delete that cancels the app's insert is a delete all the same, until it is decided.
        let operation =
            pending.operation ?? rival.map { _ in PendingRow.Operation(kind: .delete, first: pending.first) }
        guard let operation else { return true }
        let isGone = server == nil && operation.kind != .insert
        try state.freeze(
            &entry, pending, operation, key, asConflictWith: server, ancestor, isGone ? .gone : .changed, rival)
        try state.write(entry, key, old: old)
        return true
    }
}
