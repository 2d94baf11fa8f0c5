// Keeps the list of rows that can't be read.

import SynclineGround

extension FoldState {
    /// Lists a row; returns false if it is listed already.
    func list(_ row: UnreadableRow) throws(SyncError) -> Bool {
        let key = row.key(ids)
        let old = try value(key)
        // Its place differs from page to page, so it says nothing new.
        if let old {
            let known = try reason(old)
            if row.id == nil || known == row.reason { return false }
        }
        var writer = ByteWriter()
        writer.append(unreadable: row)
        put(key, writer.bytes, old: old)
        hasUnreadableRows = true
        return true
    }

    private func reason(_ value: StateValue) throws(SyncError) -> String {
        try value.withBytes { bytes throws(SyncError) in
            try bytes.decoded(as: "an unreadable row") { reader throws(MalformedBytes) in
                try reader.unreadable("").reason
            }
        }
    }

    /// Takes a row from the list; returns whether it was there.
    func unlist(_ rowKey: [UInt8]) throws(SyncError) -> Bool {
        guard hasUnreadableRows else { return false }
        return try unlist(at: Keyspace.unreadable(rowKey))
    }

    /// The same for a row without an id.
    func unlist(_ digest: UInt64, of table: String) throws(SyncError) -> Bool {
        try unlist(at: UnreadableRow.key(of: table, digest: digest))
    }

    private func unlist(at key: [UInt8]) throws(SyncError) -> Bool {
        guard let old = try value(key) else { return false }
        remove(key, old: old)
        return true
    }

    /// Takes all rows of a table from the list.
    func unlistAll(of table: String) throws(SyncError) {
        guard hasUnreadableRows else { return }
        for key in try keys(prefix: UnreadableRow.keys(of: table)) { try set(key, nil) }
    }
}
