// Keeps the schema of a new file small while many tables are made. SQLite reads the whole schema for each table that is
// created, so tables that are complete are taken out of it, and all are put back at the end of the transaction.

import CSQLite

/// The tables that are not in the schema at the moment. The pages of their rows stay where they are.
final class SchemaShelf {
    private let file: FileConnection
    private let kept: String
    private var made = 0
    private static let room = 500

    /// - Parameter kept: The tables that always stay in the schema.
    init(_ file: FileConnection, keeping kept: [String]) {
        self.file = file
        self.kept = kept.map { "'\($0)'" }.joined(separator: ", ")
    }

    /// Call it before a table is created, when all others are complete.
    func makeRoom() throws(FileFailure) {
        made += 1
        guard made > 1, made % SchemaShelf.room == 1 else { return }
        try file.changingSchema { () throws(FileFailure) in
            if made == SchemaShelf.room + 1 {
                try file.run("CREATE TEMP TABLE shelf (type, name, tbl_name, rootpage, sql)")
            }
            let complete = "FROM main.sqlite_schema WHERE tbl_name NOT IN (\(kept))"
            try file.run("INSERT INTO temp.shelf SELECT type, name, tbl_name, rootpage, sql \(complete)")
            try file.run("DELETE \(complete)")
        }
    }

    func putBack() throws(FileFailure) {
        guard made > SchemaShelf.room else { return }
        try file.changingSchema { () throws(FileFailure) in
            try file.run("INSERT INTO main.sqlite_schema SELECT type, name, tbl_name, rootpage, sql FROM temp.shelf")
        }
        try file.run("DROP TABLE temp.shelf")
    }
}
