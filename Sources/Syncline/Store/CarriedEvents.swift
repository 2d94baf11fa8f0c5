// The events that say again what removed or lost events said: for a compaction, and for a rescue.

import SynclineCore

extension StateReader {
    /// Calls `body` with the events that say again what no server has of the events through `last`: the settings, the
    /// unconfirmed changes, and the rows of tables that never leave the device, as they are now.
    func forEachCarriedEvent(
        through last: UInt64, _ body: (Event.Body) throws(SyncError) -> Void
    ) throws(SyncError) {
        for event in try settingEvents() { try body(event) }
        for part in CarriedRow.parts(try carriedRows(through: last)) { try body(.carried(through: last, part)) }
        for table in try types.localTables { try forEachEvent(ofLocal: table, body) }
    }

    private func forEachEvent(
        ofLocal table: String, _ body: (Event.Body) throws(SyncError) -> Void
    ) throws(SyncError) {
        var transaction = LocalTransaction([], isGrouped: true)
        var size = 0
        try forEachEntry(of: table) { id, entry throws(SyncError) in
            guard let row = entry.base else { return }
            // An update makes a row that is missing, and is valid where it is not.
            transaction.changes.append(LocalChange(kind: .update, table: table, id: id, columns: row))
            size += 64 + row.bytes.count
            if size <= CarriedRow.eventSize { return }
            try body(.local(transaction))
            (transaction.changes, size) = ([], 0)
        }
        if !transaction.changes.isEmpty { try body(.local(transaction)) }
    }
}

extension CarriedRow {
    /// The approximate maximum size of an event of carried rows, in bytes.
    fileprivate static let eventSize = 1 << 20

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
