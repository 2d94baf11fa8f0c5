// Finds the transactions that undos take back: the newest whose changes are all in the outbox, none of them sent or
// replaced by a resolution, and each the last of its row.

package enum UndoSearch {
    package static func newest(_ reader: StateReader, through last: UInt64) throws(SyncError) -> UInt64? {
        try events(reader, through: last, limit: 1).first
    }

    /// The events that undos take back one after the other, the newest first.
    package static func events(
        _ reader: StateReader, through last: UInt64, limit: Int
    ) throws(SyncError) -> [UInt64] {
        // A branch undoes its own changes, not those it began with: landing would take an undo for a change.
        let first = try reader.branchPoint.map { $0.event + 1 } ?? 0
        var found: [UInt64] = []
        var end = last + 1
        var span: UInt64 = 64
        // Looks backwards in growing steps, because usually the newest event qualifies.
        while end > first {
            let start = max(first, end > span ? end - span : 0)
            var events: [(event: UInt64, count: Int, isGrouped: Bool)] = []
            try reader.forEachChange(from: start) { position, change throws(SyncError) in
                if position.event >= end { return false }
                if events.last?.event == position.event {
                    events[events.count - 1].count += 1
                } else {
                    events.append((position.event, 1, change.isGrouped))
                }
                return true
            }
            for (event, count, isGrouped) in events.reversed() {
                if found.count >= limit { return found }
                guard try count == (isGrouped ? reader.groupCount(event) : 1) else { continue }
                if try qualifies(event, without: found, reader) { found.append(event) }
            }
            end = start
            span *= 2
        }
        return found
    }

    /// Whether all changes of an event can be undone after some newer events were. They may be a million, so none is kept.
    private static func qualifies(
        _ event: UInt64, without undone: [UInt64], _ reader: StateReader
    ) throws(SyncError) -> Bool {
        var qualifies = true
        try reader.forEachChange(from: event) { position, change throws(SyncError) in
            if position.event > event { return false }
            qualifies = !change.isFrozen && !change.isResolution
            if qualifies, var last = try reader.entry(key: change.rowKey)?.pending?.last {
                while undone.contains(last.event), let earlier = try reader.change(at: last).previous(before: last) {
                    last = earlier
                }
                qualifies = last.event == event
            } else {
                qualifies = false
            }
            return qualifies
        }
        return qualifies
    }
}
