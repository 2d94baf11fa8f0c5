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
    /// The keys of the rows that the recorded changes changed; nil if columns may have another meaning now.
    package func changedRows() throws(SyncError) -> Set<[UInt8]>? {
        let meanings = [SettingName.types, SettingName.schema].map(StateReader.settingKey)
        var keys: Set<[UInt8]>? = []
        try forEachChange { key, _ in
            key.withBytes { bytes in
                switch bytes.first {
                case Keyspace.rows: keys?.insert([UInt8](bytes))
                case Keyspace.settings where meanings.contains { bytes.starts(with: $0) }: keys = nil
                default: break
                }
            }
        }
        return keys
    }
}

extension RowKey {
    /// The UTF-8 of the table's name in a row's key.
    package static func table(in key: [UInt8]) -> [UInt8] { Array(key.dropFirst().prefix { $0 != 0 }) }
}
