// Finds the transaction that an undo takes back: the newest whose changes are all in the outbox, none of them sent or
// replaced by a resolution, and each the last of its row.

package enum UndoSearch {
    package static func newest(_ reader: StateReader, through last: UInt64) throws(StateError) -> UInt64? {
        // A branch undoes its own changes, not those it began with: landing would take an undo for a change.
        let first = try reader.branchPoint.map { $0.event + 1 } ?? 0
        var end = last + 1
        var span: UInt64 = 64
        // Looks backwards in growing steps, because usually the newest event qualifies.
        while end > first {
            let start = max(first, end > span ? end - span : 0)
            var events: [(event: UInt64, changes: [JournalEntry])] = []
            try reader.forEachChange(from: start) { position, change throws(StateError) in
                if position.event >= end { return false }
                if events.last?.event == position.event {
                    events[events.count - 1].changes.append(change)
                } else {
                    events.append((position.event, [change]))
                }
                return true
            }
            for (event, changes) in events.reversed() where try qualifies(event, changes, reader) { return event }
            end = start
            span *= 2
        }
        return nil
    }

    private static func qualifies(
        _ event: UInt64, _ changes: [JournalEntry], _ reader: StateReader
    ) throws(StateError) -> Bool {
        let made = changes[0].isGrouped ? try reader.groupCount(event) : 1
        guard made == changes.count else { return false }
        for change in changes {
            if change.isFrozen || change.isResolution { return false }
            guard let pending = try reader.entry(key: change.rowKey)?.pending, pending.last.event == event else {
                return false
            }
        }
        return true
    }
}
