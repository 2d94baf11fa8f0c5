// The unconfirmed changes of a row, recorded again, so that the events that made them may be removed while the log
// still has what no server has. Folding this event changes nothing: it must match the outbox.

/// The changes of one row that are in the outbox, and the operation that was sent, if there is one.
package struct CarriedRow: Hashable, Sendable {
    /// A change with its position in the order of the outbox.
    package struct Change: Hashable, Sendable {
        package var position: Position
        package var kind: OperationKind
        /// The columns it set.
        package var columns: Row
        package var replaces = false
        package var cancels = false
        package var revives = false
        package var isGrouped = false
        package var isResolution = false
    }

    package var table: String
    package var id: String
    /// Oldest first.
    package var changes: [Change]
    /// The operation that may have reached the server, is in conflict, or is parked.
    package var frozen: FrozenOperation?
}

extension StateReader {
    /// Returns the rows with a change in the outbox that was made by an event through `last`, in the order of those
    /// changes, each with all its changes.
    package func carriedRows(through last: UInt64) throws(SyncError) -> [CarriedRow] {
        var keys: [[UInt8]] = []
        var known: Set<[UInt8]> = []
        try forEachChange { position, change throws(SyncError) in
            if position.event > last { return false }
            if known.insert(change.rowKey).inserted { keys.append(change.rowKey) }
            return true
        }
        return try keys.map { key throws(SyncError) -> CarriedRow in
            guard let row = try carriedRow(key: key) else {
                throw .malformed("an outbox entry without changes")
            }
            return row
        }
    }

    /// Returns what a row has in the outbox, or nil if that is nothing.
    func carriedRow(key: [UInt8]) throws(SyncError) -> CarriedRow? {
        guard let entry = try entry(key: key), let pending = entry.pending else { return nil }
        var changes: [CarriedRow.Change] = []
        var next: Position? = pending.last
        while let position = next {
            let change = try change(at: position)
            changes.append(CarriedRow.Change(change, at: position, in: pending))
            next = try change.previous(before: position)
        }
        let row = try RowKey(malformed: key)
        return CarriedRow(
            table: row.table, id: entry.spelling ?? row.id, changes: changes.reversed(), frozen: pending.frozen)
    }
}

extension CarriedRow.Change {
    fileprivate init(_ change: JournalEntry, at position: Position, in pending: PendingRow) {
        self.init(
            position: position, kind: change.kind, columns: change.content ?? pending.overlay,
            replaces: change.replaces, cancels: change.cancels, revives: change.revives, isGrouped: change.isGrouped,
            isResolution: change.isResolution)
    }
}
