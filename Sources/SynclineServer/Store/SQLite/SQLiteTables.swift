// SQLite's description of tables and of a file.

import CSQLite
import SynclineTables

extension SQLiteConnection {
    func tables(_ names: [String]) throws(StoreFailure) -> [String: DatabaseTable] {
        var tables: [String: DatabaseTable] = [:]
        for name in names {
            let columns = try columns(of: name)
            if columns.isEmpty { continue }
            tables[name] = DatabaseTable(columns: columns, keys: try keys(of: name))
        }
        try describe(&tables)
        return tables
    }

    private func columns(of table: String) throws(StoreFailure) -> [DatabaseColumn] {
        // Generated columns are numbered 2 and 3; those of virtual tables that are hidden have the number 1.
        let statement: SQLStatement = """
            SELECT name, type, "notnull", dflt_value IS NOT NULL, hidden, pk FROM pragma_table_xinfo(\(.text(table))) \
            WHERE hidden <> 1
            """
        return try all(statement) { row in
            var column = DatabaseColumn(row.value(0).text, row.value(1).text)
            column.isComputed = row.value(4).integer > 1
            column.needsValue = row.value(2).integer != 0
            // A key of integers numbers itself.
            column.hasDefault = row.value(3).integer != 0 || row.value(5).integer != 0
            let isExact = collation(of: column.name, in: table).map { $0.uppercased() == "BINARY" } ?? true
            (column.isExact, column.isByBytes) = (isExact, isExact)
            return column
        }
    }

    /// Nil for a view.
    private func collation(of column: String, in table: String) -> String? {
        var name: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(handle, nil, table, column, nil, &name, nil, nil, nil)
        return code == SQLITE_OK ? name.map { String(cString: $0) } : nil
    }

    private func keys(of table: String) throws(StoreFailure) -> Set<String> {
        // A key of integers has no index of its own.
        let statement: SQLStatement = """
            SELECT group_concat(k.name, char(0)) \
            FROM pragma_index_list(\(.text(table))) i, pragma_index_info(i.name) k \
            WHERE i."unique" AND NOT i.partial GROUP BY i.name \
            UNION ALL SELECT group_concat(name, char(0)) FROM pragma_table_info(\(.text(table))) WHERE pk > 0
            """
        return Set(try all(statement) { $0.value(0).text })
    }

    /// Adds which of the tables are views, and their triggers.
    private func describe(_ tables: inout [String: DatabaseTable]) throws(StoreFailure) {
        let statement: SQLStatement =
            "SELECT type, lower(tbl_name), name FROM sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY name"
        var (views, triggers): (Set<String>, [String: [String]]) = ([], [:])
        try forEachRow(of: statement) { row in
            if row.value(0).text == "view" {
                views.insert(row.value(1).text)
            } else {
                triggers[row.value(1).text, default: []].append(row.value(2).text)
            }
        }
        for name in tables.keys {
            tables[name]?.isView = views.contains(name.lowercased())
            tables[name]?.triggers = triggers[name.lowercased()] ?? []
        }
    }

    func facts() throws(StoreFailure) -> DatabaseFacts {
        let encoding = try first("SELECT encoding FROM pragma_encoding", count: 1)
        return DatabaseFacts(
            product: "SQLite " + String(cString: sqlite3_libversion()), encoding: encoding?[0].text ?? "",
            isReadOnly: sqlite3_db_readonly(handle, "main") == 1)
    }
}
