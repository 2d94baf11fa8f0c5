// The rows of a table that changed between two states, read once for all observers of the table.

import SynclineGround

package struct TableChanges: Sendable {
    struct ChangedRow: Sendable {
        let key: [UInt8]
        /// What the states hold of it; nil if nothing.
        let before: [UInt8]?
        let after: [UInt8]?
    }

    let table: String
    let rows: [ChangedRow]
    let before: StateReader
    let after: StateReader

    /// - Parameter keys: The keys of the rows, each once.
    package init(
        of table: String, _ keys: [[UInt8]], from before: StateReader, to after: StateReader
    ) throws(SyncError) {
        self.table = table
        self.before = before
        self.after = after
        var rows: [ChangedRow] = []
        for key in keys {
            rows.append(ChangedRow(key: key, before: try before.value(key)?.copy, after: try after.value(key)?.copy))
        }
        self.rows = rows
    }
}

extension StateStore {
    /// The keys of the rows that were changed after the first `count` changes.
    package func changedRows(after count: Int) throws(SyncError) -> Set<[UInt8]> {
        var keys: Set<[UInt8]> = []
        try forEachChange(after: count) { key, _ in
            key.withBytes { if $0.first == Keyspace.rows { keys.insert([UInt8]($0)) } }
        }
        return keys
    }
}

extension RowKey {
    /// The UTF-8 of the table's name in a row's key.
    package static func table(in key: [UInt8]) -> [UInt8] { Array(key.dropFirst().prefix { $0 != 0 }) }
}
