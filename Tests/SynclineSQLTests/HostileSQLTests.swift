// Statements that are wrong, or mean harm: each is refused with an error that says why.

import SegmentLog
import Syncline
import SynclineCore
import Testing

@testable import SynclineSQL

@Suite struct HostileSQLTests {
    private func store() async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: "todoitem").insert(["id": "a", "text": "milk"])
        return database
    }

    @Test(arguments: [
        ("insert into todoitem (id) values ('b')", "change todoitem"),
        ("update todoitem set text = ''", "change todoitem"), ("delete from todoitem", "change todoitem"),
        ("replace into todoitem values ('a', '')", "change todoitem"),
        ("create table x (a)", "change the schema"), ("create temp table x as select 1", "change the schema"),
        ("create view v as select 1", "change the schema"), ("drop table todoitem", "change the schema"),
        ("alter table todoitem rename to x", "change todoitem"),
        ("create virtual table f using fts5(a)", "change the schema"),
        ("attach 'x.db' as x", "attach"), ("detach main", "attach or detach"),
        ("vacuum", "returns no rows"), ("vacuum into 'x.db'", "returns no rows"),
        ("update sqlite_master set name = 'x'", "change sqlite_master"),
        ("pragma journal_mode = delete", "run the pragma"), ("pragma table_info(todoitem)", "run the pragma"),
        ("select * from pragma_database_list", "run the pragma"), ("begin", "control a transaction"),
        ("savepoint a", "control a transaction"), ("analyze", "this statement would"),
        ("reindex", "returns no rows"), ("select load_extension('x.so')", "load an extension"),
        ("explain insert into todoitem (id) values ('b')", "change todoitem"),
    ])
    func `a statement that would do more than read is refused`(statement: String, words: String) async throws {
        let database = try await store()
        let before = database.lastEvent
        await expect(database, statement, .invalidQuery, words)
        #expect(database.lastEvent == before)
        #expect(try await database.sql("select * from todoitem").count == 1)
    }

    @Test(arguments: [
        ("delete from todoitem", "Change rows with"), ("attach 'x.db' as x", "Make a mirror"),
        ("pragma table_info(todoitem)", "from syncline_tables"), ("begin", "at the same moment"),
        ("select load_extension('x.so')", "built-in functions"),
        ("create table x (a)", "are created when a row"),
    ])
    func `a refused statement says what to do instead`(statement: String, words: String) async throws {
        await expect(try await store(), statement, .invalidQuery, words)
    }

    @Test(arguments: [
        ("", "is empty"), ("  -- nothing", "is empty"), ("selec 1", "syntax error"),
        ("select 'a", "unrecognized token"),
        ("select 1; select 2", "more than one statement"), ("select 1; nonsense", "more than one statement"),
        ("select none(1)", "no such function"),
        ("select \"milk\" from todoitem", "single quotes"), ("select 1 from todoitem limit", "incomplete input"),
    ])
    func `a statement that can't be read is refused`(statement: String, words: String) async throws {
        await expect(try await store(), statement, .invalidQuery, words)
    }

    @Test func `a statement may end with a semicolon and a comment`() async throws {
        #expect(try await store().sql("select 1; -- the end\n ;", as: Int.self) == [1])
    }

    @Test func `a misspelt name comes with a suggestion`() async throws {
        let database = try await store()
        await expect(database, "select * from todoitm", .unknownTable, "Did you mean \"todoitem\"?")
        await expect(database, "select * from main.todoitm", .unknownTable, "Did you mean \"todoitem\"?")
        await expect(database, "select txt from todoitem", .invalidQuery, "Did you mean \"text\"?")
        await expect(database, "select t.txt from todoitem t", .invalidQuery, "Did you mean \"text\"?")
        await expect(database, "select * from something", .unknownTable, "lists the tables")
    }

    @Test func `a join of a hundred tables is refused, one of sixty is run`() async throws {
        let database = try await store()
        func join(_ count: Int) -> String {
            let tables = (0..<count).map { "todoitem t\($0)" }.joined(separator: ", ")
            return "select count(*) from \(tables) where "
                + (1..<count).map { "t\($0).id = t0.id" }.joined(separator: " and ")
        }
        await expect(database, join(100), .invalidQuery, "at most 64 tables")
        #expect(try await database.sql(join(60), as: Int.self) == [1])
    }

    @Test(arguments: [
        "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n",
        "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n, todoitem",
    ])
    func `a query without an end stops when its task is cancelled`(statement: String) async throws {
        let database = try await store()
        let task = Task { () throws(SyncError) in try await database.sql(statement) }
        // Cancelled before or while it runs: it ends in both cases.
        task.cancel()
        let result = await task.result
        guard case .failure(let error as SyncError) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error.code == .cancelled)
    }

    @Test func `a running query stops when its task is cancelled`() async throws {
        let database = try await store()
        let isRunning = AsyncStream.makeStream(of: Void.self)
        let source = SQLSource(try database.reader, event: database.lastEvent.rawValue, database.storage)
        let task = Task {
            let running = try RunningStatement(
                "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n where i % 1000 = 0",
                on: source)
            while try running.next() != nil { isRunning.continuation.yield() }
        }
        for await _ in isRunning.stream { break }
        task.cancel()
        guard case .failure(let error as SyncError) = await task.result else {
            Issue.record("it ended")
            return
        }
        #expect(error.code == .cancelled)
    }

    @Test func `a cancelled statement about events gives no part of its result`() async throws {
        let database = try await store()
        let source = SQLSource(try database.reader, event: database.lastEvent.rawValue, database.storage)
        let task = Task {
            let running = try RunningStatement("select event from syncline_events", on: source)
            withUnsafeCurrentTask { $0?.cancel() }
            return try running.next()
        }
        guard case .failure(let error as SyncError) = await task.result else {
            Issue.record("it ended")
            return
        }
        #expect(error.code == .cancelled)
    }

    @Test func `a long list of events is looked at value by value`() async throws {
        let database = try await store()
        let last = database.lastEvent.rawValue
        let long =
            "with recursive n(i) as (select \(last) union all select i + 1 from n limit 50000) "
            + "select count(*), min(event) from syncline_events where event in (select i from n union all select 'x')"
        #expect(try await database.sql(long).map(\.values) == [[1, .integer(Int64(last))]])
    }

    @Test func `a list without an end is given up when its task is cancelled`() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try Operand.forEach(from: { .text("x") }) { _ in true }
        }
        guard case .failure(let error as SyncError) = await task.result else {
            Issue.record("it ended")
            return
        }
        #expect(error.code == .cancelled)
    }

    @Test func `a statement reads at most eight other moments`() async throws {
        let database = try await store()
        for number in 0..<9 { try await database.rows(of: "todoitem").insert(["id": .string("\(number)")]) }
        let last = database.lastEvent.rawValue
        func count(_ moments: Int) -> String {
            let all = (1...UInt64(moments)).map { "select count(*) as c from \"todoitem@\(last - $0)\"" }
            return "select sum(c) from (\(all.joined(separator: " union all ")))"
        }
        #expect(try await database.sql(count(8), as: Int.self) == [(2...9).reduce(0, +)])
        await expect(database, count(9), .invalidQuery, "more than 8 other moments")
    }

    @Test func `values have a size`() async throws {
        let database = try await store()
        for statement in [
            "select zeroblob(1000000000)", "select hex(zeroblob(30000000))",
            "select group_concat(hex(randomblob(1000000))) from (with recursive n(i) as "
                + "(select 1 union all select i + 1 from n limit 100) select i from n)",
        ] {
            await expect(database, statement, .invalidQuery, "too large")
        }
        await expect(database, "select 1 + " + String(repeating: "(1 + ", count: 2000), .invalidQuery, "the statement")
    }

    @Test func `a result has a size`() async throws {
        await expect(
            try await store(),
            "with recursive n(i) as (select 1 union all select i + 1 from n limit 300) select zeroblob(1000000) from n",
            .invalidQuery, "the result is larger than 256 MiB")
    }
}
