// Rows whose operations no push sends until they are released. A hold is a setting and therefore an event: it is
// durable, it has a history, and a reader that does not know holds still reads the log.

import SynclineGround

package enum Hold {
    private static let prefix = "hold/"

    /// The name of the setting that holds a row. Its value is the id as it is spelled.
    package static func setting(_ row: RowKey) -> String { prefix + row.table + "/" + row.id }

    /// The row that a setting holds, by its key; nil if the setting is not a hold.
    package static func row(_ setting: String) -> RowKey? {
        guard setting.hasPrefix(prefix) else { return nil }
        let rest = setting.dropFirst(prefix.count)
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        return RowKey(table: String(rest[..<slash]), id: String(rest[rest.index(after: slash)...]))
    }

    /// The row that an entry of the state holds, by its key; nil if the entry is not a hold.
    static func row(setting key: UnsafeRawBufferPointer) -> RowKey? {
        key.starts(with: Hold.key) ? row(String(decoding: key.dropFirst(), as: UTF8.self)) : nil
    }

    /// The prefix of the keys of all holds.
    fileprivate static var key: [UInt8] { StateReader.settingKey(prefix) }
}

extension StateReader {
    /// Whether a row is held, by its key.
    package func isHeld(_ key: [UInt8]) throws(SyncError) -> Bool {
        try setting(Hold.setting(RowKey(malformed: key))) != nil
    }

    /// Whether any row is held.
    package var hasHolds: Bool {
        get throws(SyncError) { try snapshot.firstKey(from: Hold.key)?.starts(with: Hold.key) ?? false }
    }

    /// The rows that are held, by table and id.
    package func heldRows() throws(SyncError) -> [RowKey] {
        var rows: [RowKey] = []
        try snapshot.forEach(prefix: Hold.key) { key, value throws(SyncError) in
            // A setting of the app may have the same prefix.
            guard var row = Hold.row(String(decoding: key.dropFirst(), as: UTF8.self)) else { return true }
            var reader = ByteReader(value)
            if case .string(let id)? = try? reader.value() { row.id = id }
            rows.append(row)
            return true
        }
        return rows
    }

    /// The keys of the rows that are held.
    package func heldKeys() throws(SyncError) -> Set<[UInt8]> {
        let ids = try idComparison
        return Set(try heldRows().map { RowKey.bytes($0.table, $0.id, ids) })
    }
}
