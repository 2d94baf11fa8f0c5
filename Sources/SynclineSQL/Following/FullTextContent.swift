// The file of full-text indexes. Each index has an FTS5 table, and a table with the ids of its rows.

import SynclineCore
import SynclineGround

struct FullTextContent: FileContent {
    let indexes: [FullTextIndex]

    /// What the form of every such file begins with.
    static let format = "text 2, "

    func form(_ source: SQLSource) throws(SyncError) -> String {
        let all = indexes.map {
            Value.object([.init($0.table, .array($0.columns.map(Value.string)))]).debugDescription + $0.options
        }
        return "\(FullTextContent.format)ids \(try source.reader.idComparison): " + all.joined(separator: "; ")
    }

    func includes(_ table: String) -> Bool { indexes.contains { $0.table.hasSameBytes(as: table) } }
    func writer(_ file: FileConnection, _ reader: StateReader) throws(SyncError) -> any FileWriter {
        FullTextWriter(file, indexes, try reader.idComparison)
    }
}

/// Writes rows into the tables of all indexes on their table.
private final class FullTextWriter: FileWriter {
    private let file: FileConnection
    private let indexes: [FullTextIndex]
    private let ids: IDComparison

    init(_ file: FileConnection, _ indexes: [FullTextIndex], _ ids: IDComparison) {
        self.file = file
        self.indexes = indexes
        self.ids = ids
    }

    func recreate() throws(FileFailure) {
        let old = try file.run(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND (sql LIKE 'CREATE VIRTUAL%' OR name LIKE 'ids!_%' ESCAPE '!')"
        )
        for case .string(let name)? in old.map(\.first) { try file.run("DROP TABLE \(SQLName.quoted(name))") }
        // What a reader needs to know of the declaration.
        try file.run("CREATE TABLE IF NOT EXISTS syncline_text (number INTEGER PRIMARY KEY, name TEXT)")
        try file.run("DELETE FROM syncline_text")
        let collation = ids == .ignoreCase ? " COLLATE NOCASE" : ""
        for (number, index) in indexes.enumerated() {
            let columns = index.columns.indices.map { "c\($0), " }.joined()
            try file.run("CREATE VIRTUAL TABLE text_\(number) USING fts5(\(columns)\(index.options))")
            try file.run(
                "CREATE TABLE ids_\(number) (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE\(collation))")
            try file.run(
                "INSERT INTO syncline_text VALUES (?, ?)", [.integer(Int64(number)), .string(index.table)])
        }
    }

    func put(_ row: StoredRow, of table: String) throws(FileFailure) {
        for (number, index) in indexes.enumerated() where index.table.hasSameBytes(as: table) {
            try file.run("INSERT INTO ids_\(number) (id) VALUES (?)", [.string(row.id)])
            let places = [String](repeating: ", ?", count: index.columns.count).joined()
            let names = index.columns.indices.map { ", c\($0)" }.joined()
            try file.run(
                "INSERT INTO text_\(number) (rowid\(names)) VALUES (last_insert_rowid()\(places))",
                index.columns.map { .string((row.columns[$0] ?? .null).words) })
        }
    }

    func remove(_ id: String, of table: String) throws(FileFailure) {
        for (number, index) in indexes.enumerated() where index.table.hasSameBytes(as: table) {
            guard let found = try file.run("SELECT number FROM ids_\(number) WHERE id = ?", [.string(id)]).first else {
                continue
            }
            try file.run("DELETE FROM text_\(number) WHERE rowid = ?", found)
            try file.run("DELETE FROM ids_\(number) WHERE number = ?", found)
        }
    }

    func removeAll(of table: String) throws(FileFailure) {
        for (number, index) in indexes.enumerated() where index.table.hasSameBytes(as: table) {
            try file.run("DELETE FROM text_\(number)")
            try file.run("DELETE FROM ids_\(number)")
        }
    }

    /// FTS5 only marks the words of removed rows, until it merges the parts of an index.
    func scrub() throws(FileFailure) {
        for number in indexes.indices {
            try file.run("INSERT INTO text_\(number) (text_\(number)) VALUES ('optimize')")
        }
    }

    func finish(_ source: SQLSource) throws(FileFailure) {}
}

extension Value {
    /// The text to index: a string, or the strings of an array.
    fileprivate var words: String {
        switch self {
        case .string(let text): text
        case .array(let elements): elements.map(\.words).joined(separator: "\n")
        default: ""
        }
    }
}
