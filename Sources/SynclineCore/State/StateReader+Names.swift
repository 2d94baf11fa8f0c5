// The known names of tables and rows, for suggestions about misspelt ones.

package import SynclineGround

extension StateReader {
    /// The tables that have rows, cursors or a declaration, sorted.
    package func knownTables() throws(SyncError) -> [String] {
        let declared = try declaration?.tables.map(\.name) ?? []
        let all = try tables() + cursors().map(\.table) + declared + types.names
        return Set(all.map(ExactString.init)).sorted().map(\.text)
    }

    /// The names of all columns that rows ever had or tables declare, and those that every row may have.
    package func knownColumns() throws(SyncError) -> Set<ExactString> {
        let declared = try declaration?.tables.flatMap { $0.columns.map(\.name) + $0.localColumns } ?? []
        let types = try types
        let typed = types.names.flatMap { types[$0].columns.map(\.name) }
        return (shapes.all.flatMap(\.names) + declared + typed + ["id"] + Item.systemColumns).exact
    }

    /// The ids of a table's first rows, including rows that are hidden from the app.
    package func ids(of table: String, limit: Int) throws(SyncError) -> [String] {
        var ids: [String] = []
        try snapshot.forEach(prefix: RowKey.prefix(table)) { key, _ throws(SyncError) in
            ids.append(try RowKey(malformed: [UInt8](key)).id)
            return ids.count < limit
        }
        return ids
    }
}
