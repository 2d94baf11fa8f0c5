// Statements of a store use the same few databases of SQLite, one after another. None may see what another left.

import SegmentLog
import Syncline
import SynclineCore
import SynclineTesting
import Testing

@testable import SynclineSQL

@Suite struct ReusedDatabaseTests {
    private func store() async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: "todoitem").insert(["id": "a", "text": "milk"])
        return database
    }

    private func used(_ database: SyncDatabase) throws -> EmptyDatabase {
        let kept = try #require(database.databases.take())
        database.databases.keep(kept)
        return kept
    }

    @Test func `a database is used again, and has the rows, columns and tables of its statement`() async throws {
        let database = try await store()
        #expect(try await database.sql("select * from todoitem").map { $0.values.count } == [2])
        let first = try used(database)
        try await database.rows(of: "todoitem").insert(["id": "b", "text": "bread", "due": 3])
        try await database.rows(of: "List").insert(["id": "l"])
        let sums = try await database.sql("select sum(due), count(*) from todoitem")
        #expect(sums.map(\.values) == [[.integer(3), .integer(2)]])
        #expect(try await database.sql("select id from list", as: String.self) == ["l"])
        #expect(try used(database) === first)
    }

    @Test func `the tables of a moment are known to the statement that names them only`() async throws {
        let database = try await store()
        let event = database.lastEvent.rawValue
        try await database.rows(of: "todoitem").delete(id: "a")
        let past = "select text from \"todoitem@\(event)\""
        #expect(try await database.sql(past, as: String.self) == ["milk"])
        #expect(try await database.sql("select id from todoitem", as: String.self) == [])
        #expect(try await database.sql(past, as: String.self) == ["milk"])
        let unknown = "select 1 from \"nothing@\(event)\""
        let error = await #expect(throws: SyncError.self) { try await database.sql(unknown) }
        #expect(error?.code == .unknownTable)
    }

    @Test func `a statement after one that failed, or was stopped, runs as if it were the first`() async throws {
        let database = try await store()
        for bad in ["select nothing from todoitem", "drop table todoitem", "select json('{') from todoitem", "select"] {
            await #expect(throws: SyncError.self) { try await database.sql(bad) }
            #expect(try await database.sql("select text from todoitem", as: String.self) == ["milk"])
        }
        let endless = Task {
            try await database.sql("with recursive n (i) as (select 1 union all select i + 1 from n) select i from n")
        }
        endless.cancel()
        #expect(await endless.result.failure is SyncError)
        let running = try RunningStatement("select text from todoitem", on: database.sqlSource, database.databases)
        #expect(try running.next()?.values == [.string("milk")])
        // Another one runs while it is open.
        #expect(try await database.sql("select text from todoitem", as: String.self) == ["milk"])
        #expect(try running.next() == nil)
    }

    @Test func `a waiting database does not retain what a statement read`() async throws {
        let database = try await store()
        try await database.checkpoint()
        weak var snapshot: StateSnapshot?
        do {
            let source = try database.sqlSource
            snapshot = source.reader.snapshot
            let running = try RunningStatement("select * from todoitem", on: source, database.databases)
            let row = try running.next()
            #expect(row != nil && snapshot != nil)
        }
        try await database.rows(of: "todoitem").insert(["id": "b", "text": "bread"])
        #expect(snapshot == nil)
    }

    @Test func `no more than four databases wait`() async throws {
        let database = try await store()
        do {
            let running = try (0..<9).map { _ in
                try RunningStatement("select * from todoitem", on: database.sqlSource, database.databases)
            }
            #expect(database.databases.take() == nil)
            for statement in running { _ = try statement.next() }
        }
        var count = 0
        while database.databases.take() != nil { count += 1 }
        #expect(count == 4)
    }

    @Test func `statements that run at the same time have a database each`() async throws {
        let database = try await store()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<20 {
                        let found = try await database.sql("select text from todoitem", as: String.self)
                        #expect(found == ["milk"])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a table whose name changes its case is another table`() async throws {
        let storage = MemoryStorage()
        let database = try await SyncDatabase.open(storage)
        try await database.rows(of: "List").insert(["id": "a"])
        #expect(try await database.sql("select name from syncline_tables", as: String.self) == ["List"])
        try await database.rows(of: "LIST").insert(["id": "b"])
        #expect(try await database.sql("select id from list_", as: String.self).count == 1)
        #expect(try await database.sql("select id from list", as: String.self).count == 1)
    }
}

extension Result where Failure == any Error {
    fileprivate var failure: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}
