// Keeps the declared indexes in step with the rows: whenever a row's entry changes, what an app sees of the column before
// and after decides.

extension Projector {
    /// An index was declared, or is wanted no longer.
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

    /// A row's entry changes from `old` to `new`.
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

extension StateReader {
    /// All indexes, by table.
    func allIndexes() throws(StateError) -> IndexList {
        var all = IndexList()
        let prefix = StateReader.settingKey(SettingName.indexes)
        try snapshot.forEach(prefix: prefix) { key, _ throws(StateError) in
            let parts = key[prefix.count...].split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw .malformed("the name of an index") }
            return all.add(String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self))
        }
        return all
    }
}

/// The columns that have an index, by table. Names are told apart by their bytes, as the state tells them apart: Swift
/// takes two spellings of an accented letter for the same.
package struct IndexList: Hashable, Sendable {
    private var columns: [[UInt8]: [String]] = [:]

    var isEmpty: Bool { columns.isEmpty }

    func columns(of table: String) -> [String] {
        columns[Array(table.utf8)] ?? []
    }

    /// Each index: a table and a column.
    var all: [(table: String, column: String)] {
        columns.flatMap { table, columns in columns.map { (String(decoding: table, as: UTF8.self), $0) } }
    }

    /// False if it is there.
    mutating func add(_ table: String, _ column: String) -> Bool {
        guard !IndexList.contains(columns(of: table), column) else { return false }
        columns[Array(table.utf8), default: []].append(column)
        return true
    }

    /// False if it is not there.
    mutating func remove(_ table: String, _ column: String) -> Bool {
        let left = columns(of: table).filter { !$0.utf8.elementsEqual(column.utf8) }
        guard left.count < columns(of: table).count else { return false }
        columns[Array(table.utf8)] = left.isEmpty ? nil : left
        return true
    }

    private static func contains(_ columns: [String], _ column: String) -> Bool {
        columns.contains { $0.utf8.elementsEqual(column.utf8) }
    }
}

extension SettingName {
    static let indexes = "index\0"

    static func index(_ table: String, _ column: String) -> String { "\(indexes)\(table)\0\(column)" }
}
