// What SQLite itself does with the rows of batches: the table and indexes that the server made, one statement, one
// transaction a batch, in this process. No HTTP, no JSON, no rules.

import CBareSQLite
import Foundation

struct BareTable {
    /// The seconds it takes to insert rows into a new file with a server's table of some name.
    static func insert(
        _ rows: TodoRows, count: Int, batch: Int, into table: String, of server: String, at path: String
    ) throws -> Double {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
        let database = try SQLiteConnection(path)
        defer { database.close() }
        for setting in ["journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 8000", "cache_size = -65536"]
        {
            try database.run("PRAGMA \(setting)")
        }
        for definition in try BareTable.definitions(of: table, server) { try database.run(definition) }
        let insert = try database.insertion(
            """
            INSERT INTO "\(table)" (id, "createdAt", "updatedAt", version, deleted, title, done, priority, project, due, tag) \
            VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
            """)
        let start = monotonicNanoseconds()
        for first in stride(from: 0, to: count, by: batch) {
            try database.run("BEGIN IMMEDIATE")
            let time =
                "2026-05-19T\(String(format: "%02d:%02d:%02d.000Z", first / 3_600_000, first / 60_000 % 60, first / 1000 % 60))"
            for index in first..<min(first + batch, count) {
                let row = rows[index]
                try insert(
                    [
                        .text(rows.id(index)), .text(time), .text(time), .integer(Int64(index)), .text(row.title),
                        .integer(row.isDone ? 1 : 0), .integer(Int64(row.priority)), .text(row.project), .text(row.due),
                        .text(row.tag),
                    ])
            }
            try database.run("COMMIT")
        }
        return Double(monotonicNanoseconds() - start) / 1e9
    }

    /// How a server's file makes a table and its indexes.
    private static func definitions(of table: String, _ path: String) throws -> [String] {
        let database = try SQLiteConnection(path)
        defer { database.close() }
        var definitions: [String] = []
        try database.read(
            "SELECT name, sql FROM sqlite_master WHERE tbl_name = '\(table)' AND sql IS NOT NULL ORDER BY type DESC"
        ) { _, text in definitions.append(String(decoding: text, as: UTF8.self)) }
        return definitions
    }
}
