// Keeps the declared indexes in step with the rows: when a row's entry changes, the visible value of each indexed
// column before and after the change decides what is written.

import SynclineGround

extension Projector {
    /// Declares or drops an index.
    func apply(indexOf table: String, _ column: String, isOn: Bool) throws(StateError) {
        guard isOn ? indexes.add(table, column) : indexes.remove(table, column) else { return }
        try put(setting: SettingName.index(table, column), isOn ? .bool(true) : nil)
        if isOn { try fill(table, column) } else { try clear(table, column) }
    }

    func fill(_ table: String, _ column: String) throws(StateError) {
        var entries: [[UInt8]] = []
        var prefix = ByteWriter()
        prefix.append(tablePrefix: table)
        let length = prefix.count
        try store.snapshot.forEach(prefix: prefix.bytes) { key, value throws(StateError) in
            let entry = try RowEntry(value, shapes)
            if let found = Projector.indexKey(table, column, entry, Bytes(rebasing: key[length...])) {
                entries.append(found)
            }
            return true
        }
        for key in entries { put(key, [], old: nil) }
    }

    private func clear(_ table: String, _ column: String) throws(StateError) {
        var keys: [[UInt8]] = []
        try store.snapshot.forEach(prefix: IndexKey.prefix(table, column).bytes) { key, _ throws(StateError) in
            keys.append([UInt8](key))
            return true
        }
        for key in keys {
            if let old = try value(key) { remove(key, old: old) }
        }
    }

    /// Updates the indexes when a row's entry changes from `old` to `new`.
    func reindex(_ key: [UInt8], from old: RowEntry?, to new: RowEntry?) throws(StateError) {
        let row = try RowKey(malformed: key)
        let columns = indexes.columns(of: row.table)
        let id = key.dropFirst(2 + row.table.utf8.count)
        for column in columns {
            let (before, after) = id.withUnsafeBytes { id in
                (
                    old.flatMap { Projector.indexKey(row.table, column, $0, id) },
                    new.flatMap { Projector.indexKey(row.table, column, $0, id) }
                )
            }
            if before == after { continue }
            if let before, let stored = try value(before) { remove(before, old: stored) }
            if let after { put(after, [], old: nil) }
        }
    }

    private static func indexKey(_ table: String, _ column: String, _ entry: RowEntry, _ id: Bytes) -> [UInt8]? {
        guard let value = entry.visible?[column] else { return nil }
        var writer = IndexKey.prefix(table, column)
        guard writer.append(indexValue: value) else { return nil }
        writer.append(id)
        return writer.bytes
    }
}
