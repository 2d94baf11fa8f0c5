// Keeps the declared indexes in step with the rows: whenever a row's entry changes, what an app sees of the column before
// and after decides.

extension Projector {
    /// An index was declared, or is wanted no longer.
    func apply(indexOf table: String, _ column: String, isOn: Bool) throws(StateError) {
        let isKnown = indexes[table]?.contains(column) ?? false
        guard isOn != isKnown else { return }
        try put(setting: SettingName.index(table, column), isOn ? .bool(true) : nil)
        if isOn {
            indexes[table, default: []].append(column)
            try fill(table, column)
        } else {
            indexes[table]?.removeAll { $0 == column }
            if indexes[table]?.isEmpty == true { indexes[table] = nil }
            try clear(table, column)
        }
    }

    private func fill(_ table: String, _ column: String) throws(StateError) {
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

    /// A row's entry changes from `old` to `new`.
    func reindex(_ key: [UInt8], from old: RowEntry?, to new: RowEntry?) throws(StateError) {
        let row = try RowKey(malformed: key)
        guard let columns = indexes[row.table] else { return }
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

extension StateReader {
    /// The columns of a table that have an index.
    package func indexedColumns(of table: String) throws(StateError) -> [String] {
        var columns: [String] = []
        let prefix = StateReader.settingKey(SettingName.index(table, ""))
        try snapshot.forEach(prefix: prefix) { key, _ throws(StateError) in
            columns.append(String(decoding: key[prefix.count...], as: UTF8.self))
            return true
        }
        return columns
    }

    /// All indexes, by table.
    func allIndexes() throws(StateError) -> [String: [String]] {
        var all: [String: [String]] = [:]
        let prefix = StateReader.settingKey(SettingName.indexes)
        try snapshot.forEach(prefix: prefix) { key, _ throws(StateError) in
            let parts = key[prefix.count...].split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw .malformed("the name of an index") }
            all[String(decoding: parts[0], as: UTF8.self), default: []].append(
                String(decoding: parts[1], as: UTF8.self))
            return true
        }
        return all
    }
}

extension SettingName {
    static let indexes = "index\0"

    static func index(_ table: String, _ column: String) -> String { "\(indexes)\(table)\0\(column)" }
}
