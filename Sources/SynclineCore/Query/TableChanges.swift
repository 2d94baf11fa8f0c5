// The rows of a table that changed between two states, read when they are first asked for, once for all observers.

import SynclineGround

package final class TableChanges: Sendable {
    struct ChangedRow: Sendable {
        let key: [UInt8]
        /// What the states hold of it; nil if nothing.
        let before: [UInt8]?
        let after: [UInt8]?
    }

    let table: String
    let before: StateReader
    let after: StateReader
    private let keys: [[UInt8]]
    private let read = Mutex<[ChangedRow]?>(nil)

    /// - Parameter keys: The keys of the rows, each once.
    package init(of table: String, _ keys: [[UInt8]], from before: StateReader, to after: StateReader) {
        self.table = table
        self.before = before
        self.after = after
        self.keys = keys
    }

    var count: Int { keys.count }

    var rows: [ChangedRow] {
        get throws(SyncError) {
            try read.withLock { read in
                Result { () throws(SyncError) in
                    if let read { return read }
                    var rows: [ChangedRow] = []
                    for key in keys {
                        let (old, new) = (try before.value(key)?.copy, try after.value(key)?.copy)
                        rows.append(ChangedRow(key: key, before: old, after: new))
                    }
                    read = rows
                    return rows
                }
            }.get()
        }
    }
}

extension StateStore {
    /// The keys of the rows of which the recorded changes changed anything; nil if columns may have another meaning now.
    package func changedRows() throws(SyncError) -> Set<[UInt8]>? {
        let meanings = [SettingName.types, SettingName.schema].map(StateReader.settingKey)
        var keys: Set<[UInt8]>? = []
        try forEachChange { key, _ in
            key.withBytes { bytes in
                if bytes.first == Keyspace.settings, meanings.contains(where: { bytes.starts(with: $0) }) {
                    keys = nil
                } else if let row = RowKey.ofRow(describedBy: bytes) {
                    keys?.insert(row)
                }
            }
        }
        return keys
    }
}

extension RowKey {
    /// The UTF-8 of the table's name in a row's key.
    package static func table(in key: [UInt8]) -> [UInt8] { Array(key.dropFirst().prefix { $0 != 0 }) }

    /// The key of the row that an entry of the state is about: the row, a hold on it, or a server's row that can't be read;
    /// nil for any other entry. A server's row without an id has a key that no row has.
    package static func ofRow(describedBy key: UnsafeRawBufferPointer) -> [UInt8]? {
        switch key.first {
        case Keyspace.rows: [UInt8](key)
        case Keyspace.unreadable: [UInt8](key.dropFirst())
        case Keyspace.settings: Hold.row(setting: key).map { RowKey.bytes($0.table, $0.id, .exact) }
        default: nil
        }
    }
}
