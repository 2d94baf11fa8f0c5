// Keeps the declared indexes in step with the rows: when a row's entry changes, its visible values before and after
// decide.

import SynclineGround

extension FoldState {
    /// Updates the indexes when a row's entry changes from `old` to `new`.
    func reindex(_ key: [UInt8], from old: RowEntry?, to new: RowEntry?) throws(SyncError) {
        let row = try RowKey(malformed: key)
        let id = key.dropFirst(RowKey.prefixLength(row.table))
        for index in indexes.indexes(of: row.table) {
            let (before, after) = id.withUnsafeBytes { id in
                (
                    old.flatMap { indexEntry(row.table, index, $0, id) },
                    new.flatMap { indexEntry(row.table, index, $0, id) }
                )
            }
            if before == after { continue }
            let stored = try before.flatMap { before throws(SyncError) in try value(before.key) }
            if let before, let stored, before.key != after?.key { remove(before.key, old: stored) }
            if let after { put(after.key, after.value, old: before?.key == after.key ? stored : nil) }
        }
    }

    /// A row's entry in an index; nil for a row that an app does not see.
    func indexEntry(_ table: String, _ index: TableIndex, _ entry: RowEntry, _ id: Bytes) -> IndexEntry? {
        guard let row = entry.visible else { return nil }
        var key = ByteWriter(capacity: 128)
        key.append(index.prefix(table))
        var mark = EntryMark()
        for (place, column) in index.columns.enumerated() {
            let (value, type) = (row[column] ?? .null, index.types[place])
            key.append(placeOf: value, as: type)
            if index.hasMarks { mark.add(value, as: type, at: place) }
        }
        key.append(id)
        if index.including.isEmpty { return IndexEntry(key: key.bytes, value: mark.bytes) }
        var value = ByteWriter()
        value.append(row: row.filter { index.keeps($0.name) }, self)
        return IndexEntry(key: key.bytes, value: value.bytes)
    }
}

/// An entry of an index.
struct IndexEntry: Hashable {
    var key: [UInt8]
    var value: [UInt8]
}
