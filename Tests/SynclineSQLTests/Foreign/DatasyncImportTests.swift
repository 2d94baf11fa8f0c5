// Files of both Datasync clients for .NET: a store made from one sends what that client would have sent.

import Foundation
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite(.timeLimit(.minutes(10))) struct DatasyncImportTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func `rows of Entity Framework have the names and types of JSON`() async throws {
        let file = try EntityFrameworkFixture(directory)
        try file.add("a", title: "milk", complete: 1, price: 2.5, due: "'2026-05-19 21:30:00.123'", version: "AAE=")
        try file.run("UPDATE TodoItems SET Version = x'0001' WHERE Id = 'a'")
        let store = try await ImportedStore(
            file.path, .datasync, EntityFrameworkFixture.tables, directory, "todoitem")
        #expect(store.report.tables == [.init(name: "todoitem", rows: 1)])
        #expect(store.report.left.isEmpty)
        #expect(store.report.queries == [.init(table: "todoitem", queryID: "App.TodoItem")])
        #expect(
            try await store.row("todoitem", "a") == [
                "title": "milk", "isComplete": true, "price": 2.5, "dueAt": .string(Moment.text),
                "updatedAt": .date(try #require(Timestamp(Moment.text))), "version": "AAE=",
            ])
        try await store.database.close()
    }

    @Test func `a push sends what the toolkit would have sent`() async throws {
        let file = try EntityFrameworkFixture(directory)
        try file.add("clean", title: "clean", version: "1")
        try file.add("changed", title: "mine", version: "2")
        try file.add("forced", title: "forced", complete: 1, version: "9")
        try file.add("new", title: "new", price: 3, version: "")
        try file.add(operation: 4, 0, "new", item: #"{"title":"new","price":3,"id":"new"}"#)
        try file.add(
            operation: 2, 2, "changed", version: "2", state: 2,
            item: #"{"title":"mine","id":"changed","updatedAt":"2026-05-19T21:30:00.123Z","version":"2"}"#)
        try file.add(
            operation: 3, 1, "gone", version: "5", item: #"{"title":"old","id":"gone","version":"4"}"#)
        try file.add(operation: 5, 2, "forced", item: #"{"title":"forced","isComplete":true,"id":"forced"}"#)
        try file.add(operation: 6, 2, "done", state: 1, item: #"{"id":"done"}"#)
        let store = try await ImportedStore(
            file.path, .datasync, EntityFrameworkFixture.tables, directory, "todoitem",
            rows: [
                ["id": "clean", "title": "clean", "version": "1"], ["id": "changed", "title": "x", "version": "2"],
                ["id": "gone", "title": "old", "version": "5"], ["id": "forced", "title": "y", "version": "10"],
            ])
        #expect(store.report.left.isEmpty)
        #expect(store.report.operations == 4)
        #expect(try await store.database.push().outcome == .complete)
        #expect(
            store.sent == [
                #"""
                PUT /tables/todoitem/changed if "2" \#
                {"dueAt":null,"id":"changed","isComplete":false,"price":0.0,"title":"mine"}
                """#,
                #"DELETE /tables/todoitem/gone if "5""#,
                #"POST /tables/todoitem {"dueAt":null,"id":"new","isComplete":false,"price":3,"title":"new"}"#,
                #"PUT /tables/todoitem/forced {"dueAt":null,"id":"forced","isComplete":true,"price":0.0,"title":"forced"}"#,
            ])
        _ = try await store.database.pull("todoitem", PullSettings(queryID: "all"))
        #expect(try await store.database.conflicts().isEmpty)
        #expect(try await store.database.rows(of: "todoitem").query(RowQuery(table: "todoitem")).rows.count == 4)
        try await store.database.close()
    }

    @Test func `an error asks for names of tables and columns that the file lacks, and they can be given`() async throws
    {
        let file = try EntityFrameworkFixture(directory)
        try file.run(
            """
            CREATE TABLE "People" ("Id" TEXT PRIMARY KEY, "URLValue" TEXT, "UpdatedAt" TEXT, "Version" TEXT);
            CREATE TABLE "Settings" ("Id" TEXT PRIMARY KEY, "Value" TEXT);
            INSERT INTO People VALUES ('p', 'x', NULL, 'v');
            INSERT INTO Settings VALUES ('theme', 'dark');
            """)
        let error = await #expect(throws: SyncError.self) {
            try await ForeignStore(at: file.path, from: .datasync, tables: EntityFrameworkFixture.tables).check()
        }
        #expect(error?.hint == "Describe each table, in a shell with --columns: 'People as people=urlValue:string'")
        let people = ForeignTable(
            "People", as: "person", columns: [ForeignColumn("link", .string, from: "URLValue")])
        let store = try await ImportedStore(
            file.path, .datasync, EntityFrameworkFixture.tables + [people], directory, "person")
        #expect(try await store.row("person", "p") == ["link": "x", "version": "v"])
        #expect(store.report.left == [.init(table: "Settings", ids: [], count: 1, reason: .notSynced)])
        try await store.database.close()
        let skipping = ForeignStore(
            at: file.path, from: .datasync,
            tables: EntityFrameworkFixture.tables + [people, ForeignTable("Settings", isSkipped: true)])
        #expect(try await skipping.check().left.isEmpty)
    }

    @Test func `an operation of an entity without a table is listed, one of a skipped table is not`() async throws {
        let file = try EntityFrameworkFixture(directory)
        try file.add(operation: 1, 0, "a", item: #"{"id":"a","title":"t"}"#)
        try file.run("UPDATE DatasyncOperationsQueue SET EntityType = 'App.Models+Other'")
        let tables = EntityFrameworkFixture.tables
        let report = try await ForeignStore(at: file.path, from: .datasync, tables: tables).check()
        #expect(
            report.left == [
                .init(
                    table: "App.Models+Other", ids: ["a"], count: 1,
                    reason: .unreadable("no table of the file is that of the entity"))
            ])
        try file.run("UPDATE DatasyncOperationsQueue SET EntityType = 'App.TodoItem'")
        let skipped = ForeignStore(
            at: file.path, from: .datasync, tables: [ForeignTable("TodoItems", isSkipped: true)])
        let rest = try await skipped.check()
        #expect(rest.left.isEmpty)
        #expect(rest.operations == 0)
    }

    @Test(arguments: [
        ("Id", "id"), ("IsComplete", "isComplete"), ("URLValue", "urlValue"), ("URL", "url"), ("already", "already"),
        ("A", "a"), ("X1", "x1"),
    ])
    func `names of properties become names of JSON`(property: String, name: String) {
        #expect(EntityFrameworkFile.jsonName(property) == name)
    }

    @Test func `a store of Microsoft Datasync Client needs no description`() async throws {
        let path = directory.path + "/offline.db"
        let file = try PlainSQLite(path)
        for statement in [
            """
            CREATE TABLE __operations (id TEXT PRIMARY KEY, kind INTEGER, state INTEGER, tableName TEXT, itemId TEXT,
                item TEXT, sequence INTEGER, version INTEGER)
            """,
            """
            CREATE TABLE __errors (id TEXT PRIMARY KEY, status INTEGER, version INTEGER, kind INTEGER, tableName TEXT,
                item TEXT, rawResult TEXT)
            """,
            "CREATE TABLE __config (id TEXT PRIMARY KEY, value INTEGER)",
            """
            CREATE TABLE todoitem (id TEXT PRIMARY KEY, title TEXT, done BOOLEAN, tags JSON, due DATETIME, price FLOAT,
                photo BLOB, updatedAt DATETIME, version TEXT, deleted BOOLEAN)
            """,
            """
            INSERT INTO todoitem VALUES ('a', 'milk', 1, '["x"]', \(Moment.since1970), 1.5, 'AQI=', \(Moment.since1970),
                '1', 0)
            """,
            "INSERT INTO todoitem VALUES ('b', 'mine', 0, NULL, NULL, 2, NULL, NULL, '2', 0)",
            "INSERT INTO todoitem VALUES ('c', 'new', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
            "INSERT INTO __operations VALUES ('1', 3, 0, 'todoitem', 'b', NULL, 2, 1)",
            "INSERT INTO __operations VALUES ('2', 2, 2, 'todoitem', 'c', NULL, 1, 1)",
            """
            INSERT INTO __operations VALUES ('3', 1, 0, 'todoitem', 'd', '{"id":"d","title":"old","version":"4"}', 3, 1)
            """,
            "INSERT INTO __operations VALUES ('4', 3, 1, 'todoitem', 'a', NULL, 4, 1)",
            "INSERT INTO __errors VALUES ('2', 409, 1, 2, 'todoitem', '{\"id\":\"c\"}', '{}')",
            "INSERT INTO __config VALUES ('dt.todoitem.q.1', 5)",
        ] {
            try file.run(statement)
        }
        let store = try await ImportedStore(
            path, .datasync, [], directory, "todoitem",
            rows: [["id": "b", "title": "x", "version": "2"], ["id": "d", "title": "old", "version": "4"]])
        #expect(store.report.left == [.init(table: "todoitem", ids: ["c"], count: 1, reason: .answer(status: 409))])
        #expect(store.report.queries == [.init(table: "todoitem", queryID: "q.1")])
        #expect(
            try await store.row("todoitem", "a") == [
                "title": "milk", "done": true, "tags": ["x"], "due": .string(Moment.text), "price": 1.5,
                "photo": "AQI=", "updatedAt": .date(try #require(Timestamp(Moment.text))), "version": "1",
            ])
        #expect(try await store.database.push().outcome == .complete)
        #expect(
            store.sent == [
                """
                POST /tables/todoitem {"done":false,"due":null,"id":"c","photo":null,"price":null,"tags":null,"title":"new"}
                """,
                #"""
                PUT /tables/todoitem/b if "2" \#
                {"done":false,"due":null,"id":"b","photo":null,"price":2.0,"tags":null,"title":"mine"}
                """#,
                #"DELETE /tables/todoitem/d if "4""#,
            ])
        try await store.database.close()
        try file.run("ALTER TABLE __operations ADD COLUMN tableKind INTEGER")
        await #expect(throws: SyncError.self) { try await ForeignStore(at: path, from: .datasync).check() }
    }
}
