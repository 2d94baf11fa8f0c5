// SQLite as a format of files with rows. Each table of the store is an ordinary table. The table `syncline_columns` has the
// names that SQLite does not tell apart, and says which columns are booleans or JSON, so that an import reads what an
// export wrote.

public import Syncline
import SynclineGround
import SynclineWire

extension RowFormat {
    /// An SQLite file with an ordinary table for each table.
    ///
    /// Booleans are 0 and 1. In a column with nested values, numbers that SQLite would round, or booleans besides other
    /// values, every value is JSON. Null and a missing column are the same. An import also reads files of other programs,
    /// whose tables have a column `id`.
    public static let sqlite = RowFormat(SQLiteFormat())
}

/// How the values of a column are in the file.
enum FileColumnForm: String {
    case plain = "any"
    case boolean
    /// Every value is JSON.
    case json = "json text"
    /// Values that look like an object or an array are JSON, as in a mirror.
    case nested = "json"

    /// What a column with a type, which another program declared, holds.
    init(declared type: String) {
        let type = type.uppercased()
        self = type.hasPrefix("BOOL") ? .boolean : type.hasPrefix("JSON") ? .nested : .plain
    }

    func value(_ value: Value) -> Value {
        switch (self, value) {
        case (.boolean, .bool), (.json, .null): value
        case (.json, _): .string(value.json)
        case (_, .date): .string(value.plainText)
        default: value
        }
    }

    /// The value that a file has.
    func read(_ value: Value) -> Value {
        switch (self, value) {
        case (.boolean, .integer(0)): .bool(false)
        case (.boolean, .integer(1)): .bool(true)
        case (.json, .string(let text)): (try? Value(json: text.utf8)) ?? value
        case (.nested, .string(let text)) where ["{", "["].contains(text.unicodeScalars.first):
            (try? Value(json: text.utf8)) ?? value
        default: value
        }
    }
}

struct SQLiteFormat: RowFileFormat {
    static let names = "syncline_columns"

    func write(_ tables: [ExportedTable], to file: FilePlace) throws(SyncError) -> Int {
        do throws(FileFailure) {
            let connection = try FileConnection(file.path)
            // An unfinished file is removed. A journal beside it would stay after a crash; SQLite's defensive mode knows no
            // connection without a journal.
            try connection.run("PRAGMA journal_mode = MEMORY")
            try connection.run("PRAGMA synchronous = FULL")
            return try connection.transaction { () throws(FileFailure) in
                try connection.run(
                    """
                    CREATE TABLE \(SQLiteFormat.names) \
                    ("table" TEXT, "column" TEXT, sql_table TEXT, sql_column TEXT, type TEXT)
                    """)
                var count = 0
                let names = SQLName.tables(tables.map(\.table), besides: [SQLiteFormat.names])
                for (rows, name) in zip(tables, names) {
                    count += try SQLiteTableWriter(rows, name).write(to: connection)
                }
                return count
            }
        } catch {
            throw SyncError(error)
        }
    }

    func rows(in file: FilePlace, of table: String?) throws(SyncError) -> any RowFileReading {
        do throws(FileFailure) { return try SQLiteReading(FileConnection(reading: file.path), of: table) } catch {
            throw SyncError(error)
        }
    }
}

/// Writes one table.
private struct SQLiteTableWriter {
    private let rows: ExportedTable
    private let name: String

    /// The kinds of values that a column has.
    private struct Kinds: OptionSet {
        let rawValue: UInt8
        static let integer = Kinds(rawValue: 1)
        static let double = Kinds(rawValue: 2)
        static let text = Kinds(rawValue: 4)
        static let bytes = Kinds(rawValue: 8)
        static let bool = Kinds(rawValue: 16)
        /// What only JSON keeps.
        static let json = Kinds(rawValue: 32)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ value: Value) {
            self =
                switch value {
                case .null: []
                case .bool: .bool
                case .integer: .integer
                case .double: .double
                case .string, .date: .text
                case .bytes: .bytes
                case .number, .array, .object: .json
                }
        }

        var form: FileColumnForm {
            self == .bool ? .boolean : isDisjoint(with: [.bool, .json]) ? .plain : .json
        }

        /// The type that is declared, after a space.
        var declared: String {
            switch self {
            case .integer: " INTEGER"
            case .double: " REAL"
            case .bytes: " BLOB"
            case .bool: " BOOLEAN"
            case _ where self == .text || form == .json: " TEXT"
            default: ""
            }
        }
    }

    init(_ rows: ExportedTable, _ name: String) { (self.rows, self.name) = (rows, name) }

    func write(to file: FileConnection) throws(FileFailure) -> Int {
        let (columns, kinds) = try survey()
        guard columns.count < SQLName.columnLimit else {
            throw .failed(
                SyncError(
                    .invalidItem,
                    "the table \(rows.table) has \(columns.count + 1) columns, and SQLite at most \(SQLName.columnLimit)",
                    hint: "Export it as CSV or JSON Lines."))
        }
        // SQL ends at a zero.
        let shown = columns.map { String($0.unicodeScalars.map { $0 == "\0" ? "\u{fffd}" : Character($0) }) }
        let names = SQLName.unambiguous(shown, besides: ["id"])
        let declared = zip(names, kinds).map { ", " + SQLName.quoted($0) + $1.declared }.joined()
        try file.run("CREATE TABLE \(SQLName.quoted(name)) (id TEXT PRIMARY KEY NOT NULL\(declared))")
        for (column, (sqlName, form)) in zip(["id"] + columns, zip(["id"] + names, [.plain] + kinds.map(\.form))) {
            try file.run(
                "INSERT INTO \(SQLiteFormat.names) VALUES (?, ?, ?, ?, ?)",
                [rows.table, column, name, sqlName, form.rawValue].map { .string($0) })
        }
        let places = [String](repeating: "?", count: columns.count + 1).joined(separator: ", ")
        let insert = "INSERT INTO \(SQLName.quoted(name)) VALUES (\(places))"
        let forms = Array(zip(columns, kinds.map(\.form)))
        return try rows.forEach { row throws(FileFailure) in
            let values = forms.map { column, form in form.value(row.columns[column] ?? .null) }
            try file.run(insert, [.string(row.id)] + values)
        }
    }

    /// The columns, and what each holds.
    private func survey() throws(FileFailure) -> (columns: [String], kinds: [Kinds]) {
        var columns: [String] = []
        var kinds: [Kinds] = []
        var places: [ExactString: Int] = [:]
        _ = try rows.forEach { row throws(FileFailure) in
            for member in row.columns.members {
                let name = ExactString(member.name)
                let place = places[name] ?? columns.count
                if place == columns.count {
                    places[name] = place
                    columns.append(member.name)
                    kinds.append([])
                }
                kinds[place].formUnion(Kinds(member.value))
            }
        }
        return (columns, kinds)
    }
}

extension ExportedTable {
    /// Calls a body with each row, and returns how many there were.
    fileprivate func forEach(_ body: (StoredRow) throws(FileFailure) -> Void) throws(FileFailure) -> Int {
        let rows = try reading { () throws(SyncError) in try read() }
        var count = 0
        while let row = try reading({ () throws(SyncError) in try rows.next() }) {
            try body(row)
            count += 1
        }
        return count
    }
}

/// Reads the rows of a file.
private final class SQLiteReading: RowFileReading {
    private let file: FileConnection
    private var tables: ArraySlice<Table>
    private var rows: FileConnection.Rows?

    private struct Table {
        var name: String
        var sqlName: String
        var columns: [(name: String, sqlName: String, form: FileColumnForm)] = []
    }

    init(_ file: FileConnection, of table: String?) throws(FileFailure) {
        self.file = file
        let all = try SQLiteReading.tables(of: file)
        tables = all.filter { table?.hasSameBytes(as: $0.name) ?? true }[...]
        if let table, tables.isEmpty {
            let known = all.prefix(20).map(\.name).joined(separator: ", ")
            throw .failed(
                SyncError(
                    .unknownTable, "the file \(file.path) has no table \(table)",
                    hint: all.isEmpty ? nil : "It has \(known)."))
        }
        for table in tables where !table.columns.contains(where: { $0.name == "id" }) {
            throw .failed(
                SyncError(
                    .missingID, "the table \(table.name) has no column `id`", hint: "Rename the column of the ids."))
        }
    }

    private static func tables(of file: FileConnection) throws(FileFailure) -> [Table] {
        func text(_ value: Value) -> String { if case .string(let text) = value { text } else { "" } }
        let isOurs = try !file.run(
            "SELECT 1 FROM sqlite_schema WHERE name = '\(SQLiteFormat.names)' AND type = 'table'"
        ).isEmpty
        let found =
            isOurs
            ? try file.run(
                "SELECT * FROM \(SQLiteFormat.names) WHERE sql_column IS NOT NULL ORDER BY sql_table, rowid")
            : try file.run(
                """
                SELECT tables.name, columns.name, tables.name, columns.name, columns.type \
                FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns \
                WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                ORDER BY tables.name, columns.cid
                """)
        var tables: [Table] = []
        for row in found.map({ $0.map(text) }) {
            if tables.last?.sqlName != row[2] { tables.append(Table(name: row[0], sqlName: row[2])) }
            let form = isOurs ? FileColumnForm(rawValue: row[4]) ?? .plain : FileColumnForm(declared: row[4])
            tables[tables.count - 1].columns.append((row[1], row[3], form))
        }
        return tables
    }

    func next() throws(SyncError) -> FileRow? {
        do throws(FileFailure) {
            while let table = tables.first {
                if rows == nil { rows = try begin(table) }
                if let values = try rows?.next() { return row(values, of: table) }
                rows = nil
                tables.removeFirst()
            }
            return nil
        } catch {
            throw SyncError(error)
        }
    }

    private func begin(_ table: Table) throws(FileFailure) -> FileConnection.Rows {
        let columns = table.columns.map { SQLName.quoted($0.sqlName) }.joined(separator: ", ")
        return try file.rows("SELECT \(columns) FROM \(SQLName.quoted(table.sqlName))")
    }

    private func row(_ values: [Value], of table: Table) -> FileRow {
        let members = zip(table.columns, values).compactMap { column, value -> Value.Member? in
            if value.isNull { return nil }
            if column.name == "id", case .integer(let number) = value { return .init("id", .string("\(number)")) }
            return .init(column.name, column.form.read(value))
        }
        return FileRow(table: table.name, item: .object(members), size: values.reduce(0) { $0 + $1.resultSize })
    }
}
