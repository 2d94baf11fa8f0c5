// The events that say again what removed or lost events said: for a compaction, and for a rescue.

import SynclineCore

extension StateReader {
    /// Returns the events that say again what no server has of the events through `last`: the settings, and the
    /// unconfirmed changes.
    func carriedEvents(through last: UInt64) throws(SyncError) -> [Event.Body] {
        let parts = CarriedRow.parts(try carriedRows(through: last))
        return try settingEvents() + parts.map { .carried(through: last, $0) }
    }
}

extension CarriedRow {
    /// The approximate maximum size of an event of carried rows, in bytes.
    private static let eventSize = 1 << 20

    /// Splits rows into one list per event. Returns at least one list, which may be empty.
    static func parts(_ rows: [CarriedRow]) -> [[CarriedRow]] {
        var parts: [[CarriedRow]] = [[]]
        var size = 0
        for row in rows {
            if size > eventSize {
                parts.append([])
                size = 0
            }
            parts[parts.count - 1].append(row)
            size += row.changes.reduce(64) { $0 + 16 + $1.columns.bytes.count }
            if let frozen = row.frozen {
                size +=
                    frozen.columns.bytes.count + (frozen.ancestor?.bytes.count ?? 0)
                    + (frozen.server?.bytes.count ?? 0)
            }
        }
        return parts
    }
}
