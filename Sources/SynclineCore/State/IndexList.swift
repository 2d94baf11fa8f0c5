// The list of indexed columns, stored among the settings.

/// The indexed columns by table. Names are compared by their bytes, as in the state: Swift treats two spellings of
/// an accented letter as equal.
package struct IndexList: Hashable, Sendable {
    private var columns: [[UInt8]: [String]] = [:]

    var isEmpty: Bool { columns.isEmpty }

    func columns(of table: String) -> [String] {
        columns[Array(table.utf8)] ?? []
    }

    /// All indexes, each with its table and column.
    var all: [(table: String, column: String)] {
        columns.flatMap { table, columns in columns.map { (String(decoding: table, as: UTF8.self), $0) } }
    }

    /// Returns false if it already exists.
    mutating func add(_ table: String, _ column: String) -> Bool {
        guard !IndexList.contains(columns(of: table), column) else { return false }
        columns[Array(table.utf8), default: []].append(column)
        return true
    }

    /// Returns false if it does not exist.
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

extension SettingName {
    static let indexes = "index\0"

    static func index(_ table: String, _ column: String) -> String { "\(indexes)\(table)\0\(column)" }
}
