// Finds the rows that a purge removes, and the number of operations that are removed with them.

import SynclineGround

package struct PurgePlan {
    /// The ids of the rows that match, including rows that an app no longer sees.
    package private(set) var ids: [String] = []
    /// The number of operations that are pending on them; in a table that never leaves the device, the number of rows.
    package private(set) var pending = 0
    /// The keys of the rows with these operations.
    package private(set) var pendingKeys: [[UInt8]] = []

    package init(_ reader: StateReader, table: String, filter: FilterExpression?) throws(SyncError) {
        let ids = try reader.idComparison
        let filter = try reader.resolved(filter, in: table)
        let (work, isLocal) = (FilterWork(try reader.types(of: table)), try reader.types.isLocal(table))
        try reader.forEachEntry(of: table) { id, entry throws(SyncError) in
            if let filter {
                // A row whose delete is pending is matched by the server's latest row, or by the row that was sent.
                guard let row = entry.visible ?? entry.base ?? entry.pending?.frozen?.row else { return }
                let matches = row.withView { view in
                    Array(id.utf8).withBytes { filter.matches(EncodedRowView(id: $0, row: view), work) }
                }
                guard matches else { return }
            }
            // The memory of a row that is gone is not a row.
            guard entry.base != nil || entry.pending != nil else { return }
            self.ids.append(id)
            if isLocal { pending += 1 }
            if entry.pending != nil { pendingKeys.append(RowKey.bytes(table, id, ids)) }
            pending += (entry.pending?.frozen == nil ? 0 : 1) + (entry.pending?.operation == nil ? 0 : 1)
        }
    }
}
