// Names of tables and files that have a meaning of their own to SQLite.

import Foundation
import Syncline
import SynclineCore
import SynclineTesting
import Testing

@testable import SynclineSQL

@Suite struct ReservedNameTests {
    private static let names = ["SQLite_Master", "_sqlite_x", "sqlite_stat1", "sqlite_x", "todoitem"]
    private static let namesInSQL = ["_SQLite_Master", "_sqlite_x", "_sqlite_stat1", "_sqlite_x_", "todoitem"]

    private func store() async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(MemoryStorage())
        for name in ReservedNameTests.names {
            try await database.rows(of: name).insert(["id": "a", "name": .string(name)])
        }
        return database
    }

    @Test func `a table whose name SQLite keeps for itself has another name in a statement`() async throws {
        let database = try await store()
        let event = database.lastEvent
        try await database.rows(of: "sqlite_x").update(["id": "a", "n": 1])
        let tables = try await database.sql("select in_store, name from syncline_tables order by in_store")
        #expect(tables.map(\.values) == zip(Self.names, Self.namesInSQL).map { [.string($0), .string($1)] })
        for (name, nameInSQL) in zip(Self.names, Self.namesInSQL) {
            #expect(try await database.sql("select name from \(nameInSQL)", as: String.self) == [name])
        }
        await expect(database, "select * from sqlite_x", .unknownTable, "Did you mean \"_sqlite_x\"?")
        let past = try await database.sql(
            "select n.n, o.name from _sqlite_x_ n join \"_sqlite_x_@\(event)\" o using (id)")
        #expect(past.map(\.values) == [[1, "sqlite_x"]])
    }

    @Test func `a mirror has such a table under the same name`() async throws {
        let directory = try TemporaryDirectory()
        let database = try await store()
        try await database.declareIndex(table: "sqlite_x", column: "name")
        let path = directory.path + "/mirror.sqlite"
        for name in ["one", "two"] {
            try await database.rows(of: "sqlite_x").update(["id": "a", "name": .string(name)])
            try await SQLMirror(database, at: path).update()
            let file = try PlainSQLite(path)
            #expect(try file.run("select name from _sqlite_x_") == [[.string(name)]])
            let names = try file.run(
                "select \"table\", sql_table from syncline_columns where \"column\" = 'id' order by \"table\"")
            #expect(names == zip(Self.names, Self.namesInSQL).map { [.string($0), .string($1)] })
        }
    }

    @Test func `a mirror has a path`() async throws {
        let database = try await store()
        for path in ["", "a\0b"] {
            let error = await #expect(throws: SyncError.self) { try await SQLMirror(database, at: path).update() }
            #expect(error?.code == .invalidConfiguration)
        }
    }
}
