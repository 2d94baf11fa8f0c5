// Keeps the declared indexes in step with the rows: when a row's entry changes, its visible values before and after
// decide.

import SynclineGround

extension Projector {
    /// Declares or drops an index. An index replaces another one that is sorted by the same columns.
    func apply(_ change: IndexChange) throws(StateError) {
        let table = change.table
        let same = indexes.indexes(of: table).filter { $0.isSorted(by: change.columns) }
        if change.isOlderForm {
            guard same.contains(where: { $0.number == nil }) != change.isOn else { return }
            let index = TableIndex(columns: change.columns, including: [], number: nil)
            return change.isOn ? try add(table, index) : try drop(table, index)
        }
        if change.isOn, same.contains(where: { $0.isCurrent(change) }) { return }
        for index in same { try drop(table, index) }
        guard change.isOn, let number = indexes.freeNumber(for: table) else { return }
        try add(table, TableIndex(columns: change.columns, including: change.including, number: number))
    }

    func add(_ table: String, _ index: TableIndex) throws(StateError) {
        guard !indexes.indexes(of: table).contains(index) else { return }
        indexes.add(table, index)
        try put(setting: SettingName.index(table, index), index.number == nil ? .bool(true) : index.value)
        try fill(table, index)
    }

    func drop(_ table: String, _ index: TableIndex) throws(StateError) {
        indexes.remove(table, index)
        try put(setting: SettingName.index(table, index), nil)
        try clear(table, index)
    }

    func fill(_ table: String, _ index: TableIndex) throws(StateError) {
        var entries: [IndexEntry] = []
        var prefix = ByteWriter()
        prefix.append(tablePrefix: table)
        let length = prefix.count
        try store.snapshot.forEach(prefix: prefix.bytes) { key, value throws(StateError) in
            let entry = try RowEntry(value, shapes)
            if let found = self.entry(table, index, entry, Bytes(rebasing: key[length...])) { entries.append(found) }
            return true
        }
        for entry in entries { put(entry.key, entry.value, old: nil) }
    }

    private func clear(_ table: String, _ index: TableIndex) throws(StateError) {
        var keys: [[UInt8]] = []
        try store.snapshot.forEach(prefix: index.prefix(table)) { key, _ throws(StateError) in
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
        let id = key.dropFirst(RowKey.prefixLength(row.table))
        for index in indexes.indexes(of: row.table) {
            let (before, after) = id.withUnsafeBytes { id in
                (
                    old.flatMap { entry(row.table, index, $0, id) }, new.flatMap { entry(row.table, index, $0, id) }
                )
            }
            if before == after { continue }
            let stored = try before.flatMap { before throws(StateError) in try value(before.key) }
            if let before, let stored, before.key != after?.key { remove(before.key, old: stored) }
            if let after { put(after.key, after.value, old: before?.key == after.key ? stored : nil) }
        }
    }

    /// A row's entry in an index.
    private struct IndexEntry: Hashable {
        var key: [UInt8]
        var value: [UInt8]
    }

    /// Nil for a row that an app does not see, or that an index of the older form leaves out.
    private func entry(_ table: String, _ index: TableIndex, _ entry: RowEntry, _ id: Bytes) -> IndexEntry? {
        guard let row = entry.visible else { return nil }
        var key = ByteWriter(capacity: 128)
        key.append(index.prefix(table))
        for column in index.columns {
            guard key.append(placeOf: row[column] ?? .null, in: index) else { return nil }
        }
        key.append(id)
        if index.including.isEmpty { return IndexEntry(key: key.bytes, value: []) }
        var value = ByteWriter()
        value.append(row: row.filter { index.keeps($0.name) }, self)
        return IndexEntry(key: key.bytes, value: value.bytes)
    }
}
