// The file of a mirror: an ordinary table for each table of the store, with a column for each column that a row had since
// the file was made, as far as SQLite has room, and an index for each index of the store.

import SynclineCore
import SynclineGround

struct MirrorContent: FileContent {
    func form(_ source: SQLSource) throws(SyncError) -> String {
        "mirror 3, ids \(try source.reader.idComparison)\(try source.reader.types.text)"
    }
    func includes(_ table: String) -> Bool { true }
    func writer(_ file: FileConnection, _ reader: StateReader) throws(SyncError) -> any FileWriter {
        MirrorWriter(file, try reader.idComparison, try reader.types)
    }
}

/// Writes rows into a mirror. Its table `syncline_columns` has the SQL names of the tables and columns of the store.
private final class MirrorWriter: FileWriter {
    private struct Table {
        var name: String
        /// The names of columns in SQL, by their names in the store; nil for one for which there was no room.
        var columns: [ExactString: String?] = [:]
        /// Statements that insert rows of a shape, and whether they have all its columns.
        var inserts: [RowShape: (text: String, isWhole: Bool)] = [:]

        /// The names of the columns that it has.
        var names: [String] { columns.values.compactMap { $0 } }
        func has(_ column: String) -> Bool { (columns[ExactString(column)] ?? nil) != nil }
    }

    private let file: FileConnection
    private let ids: IDComparison
    private let types: TypeCatalog
    /// Nil until they are read from the file.
    private var known: [ExactString: Table]?
    /// The names of its tables in SQL, in lower case.
    private var taken: Set<ExactString> = []
    private static let reserved = ["syncline_stamp", "syncline_columns"]
    private static let indexPrefix = "syncline_index "
    /// While the whole store is copied, table by table.
    private var shelf: SchemaShelf?

    init(_ file: FileConnection, _ ids: IDComparison, _ types: TypeCatalog) {
        self.file = file
        self.ids = ids
        self.types = types
    }

    func recreate() throws(FileFailure) {
        try file.run(
            """
            CREATE TABLE IF NOT EXISTS syncline_columns ("table" TEXT, "column" TEXT, sql_table TEXT, sql_column TEXT, \
            type TEXT, PRIMARY KEY ("table", "column"))
            """)
        for table in try tables().values { try file.run("DROP TABLE IF EXISTS \(SQLName.quoted(table.name))") }
        try file.run("DELETE FROM syncline_columns")
        known = [:]
        taken = MirrorWriter.reserved.exact
        shelf = SchemaShelf(file, keeping: MirrorWriter.reserved)
    }

    func put(_ row: StoredRow, of table: String) throws(FileFailure) {
        var target = try self.table(table, with: row.columns.columns)
        let insert: (text: String, isWhole: Bool)
        if let made = target.inserts[row.columns.shape] {
            insert = made
        } else {
            let names = try row.columns.columns.map { column throws(FileFailure) in
                try name(of: column, in: table, &target)
            }
            insert = (MirrorWriter.insert(into: target.name, names.compactMap { $0 }), !names.contains(nil))
            target.inserts[row.columns.shape] = insert
            known?[ExactString(table)] = target
        }
        let members = row.columns.members
        let values = insert.isWhole ? members : members.filter { target.has($0.name) }
        let types = types[table]
        try file.run(insert.text, [.string(row.id)] + values.map { $0.value.inSQL(as: types[$0.name]) })
    }

    func remove(_ id: String, of table: String) throws(FileFailure) {
        guard let target = try tables()[ExactString(table)] else { return }
        try file.run("DELETE FROM \(SQLName.quoted(target.name)) WHERE id = ?", [.string(id)])
    }

    func removeAll(of table: String) throws(FileFailure) {
        guard let target = try tables()[ExactString(table)] else { return }
        try file.run("DELETE FROM \(SQLName.quoted(target.name))")
    }

    func scrub() {}

    /// Creates the tables and columns that are declared, and the indexes that the store has, and drops indexes that it no
    /// longer has.
    func finish(_ source: SQLSource) throws(FileFailure) {
        try shelf?.putBack()
        shelf = nil
        for stored in types.names {
            let names = types[stored].columns.map(\.name)
            var target = try table(stored, with: names)
            for column in names { _ = try name(of: column, in: stored, &target) }
            known?[ExactString(stored)] = target
        }
        var wanted: [ExactString: String] = [:]
        for (stored, table) in try tables() {
            let indexes = try reading { () throws(SyncError) in try source.reader.indexes(of: stored.text) }
            for index in indexes {
                // A column that no row has had yet is not in the file.
                let columns = index.columns.compactMap { table.columns[ExactString($0)] ?? nil }
                if columns.isEmpty { continue }
                let name = "\(MirrorWriter.indexPrefix)\(table.name)(\(columns.joined(separator: ", ")))"
                let quoted = columns.map(SQLName.quoted).joined(separator: ", ")
                wanted[name] = "\(SQLName.quoted(table.name)) (\(quoted))"
            }
        }
        let found = try file.run("SELECT name FROM sqlite_schema WHERE type = 'index'").compactMap { row in
            // An accent at the beginning of a table's name is one character with the end of the prefix in Swift.
            if case .string(let name)? = row.first, name.utf8.starts(with: MirrorWriter.indexPrefix.utf8) {
                name
            } else {
                nil
            }
        }
        for name in found where wanted.removeValue(forKey: ExactString(name)) == nil {
            try file.run("DROP INDEX \(SQLName.quoted(name))")
        }
        for (name, columns) in wanted.sorted(by: { $0.key < $1.key }) {
            try file.run("CREATE INDEX \(SQLName.quoted(name.text)) ON \(columns)")
        }
    }

    private static func insert(into table: String, _ columns: [String]) -> String {
        let names = (["id"] + columns).map(SQLName.quoted).joined(separator: ", ")
        let values = [String](repeating: "?", count: columns.count + 1).joined(separator: ", ")
        return "INSERT OR REPLACE INTO \(SQLName.quoted(table)) (\(names)) VALUES (\(values))"
    }

    // MARK: Names

    private func tables() throws(FileFailure) -> [ExactString: Table] {
        if let known { return known }
        var tables: [ExactString: Table] = [:]
        for row in try file.run("SELECT \"table\", \"column\", sql_table, sql_column FROM syncline_columns") {
            guard case .string(let table) = row[0], case .string(let column) = row[1], case .string(let name) = row[2]
            else { continue }
            let columnName: String? = if case .string(let text) = row[3] { text } else { nil }
            tables[ExactString(table), default: Table(name: name)].columns[ExactString(column)] = .some(columnName)
        }
        known = tables
        taken = (MirrorWriter.reserved + tables.values.map { $0.name.lowercased() }).exact
        return tables
    }

    /// The table for a table of the store. If it is missing, it is made with the columns of its first row, because SQLite
    /// reads its whole schema again for each column that is added later.
    private func table(_ stored: String, with first: some Sequence<String>) throws(FileFailure) -> Table {
        if let table = try tables()[ExactString(stored)] { return table }
        try shelf?.makeRoom()
        let name = SQLName.table(stored, besides: taken)
        taken.insert(ExactString(name.lowercased()))
        let collation = ids == .ignoreCase ? " COLLATE NOCASE" : ""
        let columns = Array(first.filter { !$0.hasSameBytes(as: "id") }.prefix(SQLName.columnLimit - 1))
        let names = SQLName.unambiguous(columns, besides: ["id"])
        let rest = zip(columns, names).map { column, name in
            ", " + SQLName.quoted(name) + types[stored][column].declared
        }.joined()
        try file.run("CREATE TABLE \(SQLName.quoted(name)) (id TEXT PRIMARY KEY NOT NULL\(collation)\(rest))")
        var table = Table(name: name)
        for (column, columnName) in zip(["id"] + columns, ["id"] + names) {
            try keep(stored, column, name, columnName)
            table.columns[ExactString(column)] = .some(columnName)
        }
        known?[ExactString(stored)] = table
        return table
    }

    /// The name of a column in SQL. The column is added if it is missing; nil if there is no room for it.
    private func name(of column: String, in stored: String, _ table: inout Table) throws(FileFailure) -> String? {
        if let name = table.columns[ExactString(column)] { return name }
        let names = table.names
        guard names.count < SQLName.columnLimit else {
            try keep(stored, column, table.name, nil)
            table.columns[ExactString(column)] = .some(nil)
            return nil
        }
        let name = SQLName.unambiguous([column], besides: names)[0]
        try file.run(
            "ALTER TABLE \(SQLName.quoted(table.name)) ADD COLUMN \(SQLName.quoted(name))\(types[stored][column].declared)"
        )
        try keep(stored, column, table.name, name)
        table.columns[ExactString(column)] = name
        return name
    }

    private func keep(_ table: String, _ column: String, _ name: String, _ columnName: String?) throws(FileFailure) {
        try file.run(
            "INSERT INTO syncline_columns VALUES (?, ?, ?, ?, ?)",
            [
                .string(table), .string(column), .string(name), columnName.map(Value.string) ?? .null,
                .string(types[table][column].rawValue),
            ])
    }
}
