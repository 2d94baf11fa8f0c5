// Stores of MSClient: a store made from one shows its rows, and sends what MSClient would have sent.

import Foundation
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite(.timeLimit(.minutes(10))) struct CoreDataImportTests {
    private let directory: TemporaryDirectory
    private let file: CoreDataFixture

    init() throws {
        directory = try TemporaryDirectory()
        file = try CoreDataFixture(directory)
    }

    private func imported(rows: [Value] = [], tables: [ForeignTable] = CoreDataFixture.tables) async throws
        -> ImportedStore
    {
        try await ImportedStore(file.path, .msclient, tables, directory, "TodoItem", rows: rows)
    }

    @Test func `rows have their types, and are those of the server`() async throws {
        try file.add(
            "a",
            [
                "ZTEXT": "'milk'", "ZCOMPLETE": "1", "ZPARTS": "3", "ZPRICE": "1.5", "ZVERSION": "'v1'",
                "ZDUEAT": Moment.since2001, "ZUPDATEDAT": Moment.since2001, "ZPHOTO": "x'0102'", "ZDELETED": "0",
            ])
        try file.add("b", ["ZTEXT": "'naïve 🥛'", "ZCOMPLETE": "0"])
        let store = try await imported()
        #expect(store.report.tables == [.init(name: "TodoItem", rows: 2)])
        #expect(store.report.operations == 0)
        #expect(store.report.left.isEmpty)
        let moment = try #require(Timestamp(Moment.text))
        #expect(
            try await store.row("TodoItem", "a") == [
                "text": "milk", "complete": true, "parts": 3, "price": 1.5, "version": "v1",
                "dueAt": .string(Moment.text), "updatedAt": .date(moment), "photo": "AQI=",
            ])
        let other = try await store.row("TodoItem", "b")
        #expect(other?["text"] == "naïve 🥛")
        #expect(other?["complete"] == false)
        #expect(other?["parts"] == .null)
        #expect(other?["version"] == nil)
        #expect(try await store.database.pending().isEmpty)
        try await store.database.close()
    }

    @Test func `a push sends what MSClient would have sent, in its order`() async throws {
        let tables = [
            ForeignTable(
                "TodoItem",
                columns: CoreDataFixture.tables[0].columns.map { column in
                    ["text", "complete"].contains(column.name) ? column : ForeignColumn(column.name, .skip)
                })
        ]
        try file.add("clean", ["ZTEXT": "'clean'", "ZCOMPLETE": "0", "ZVERSION": "'1'"])
        try file.add("changed", ["ZTEXT": "NULL", "ZCOMPLETE": "1", "ZVERSION": "'2'"])
        try file.add("NEW", ["ZTEXT": "'new'", "ZCOMPLETE": "0"])
        try file.add(operation: 7, 1, "changed")
        // The queue compares ids without regard to case.
        try file.add(operation: 9, 0, "new")
        try file.add(operation: 3, 2, "gone", item: #"{"id":"gone","text":"old","version":"5"}"#)
        try file.add(operation: 11, 2, "bare", item: #"{"id":"bare"}"#)
        let store = try await imported(
            rows: [
                ["id": "clean", "text": "clean", "complete": false, "version": "1"],
                ["id": "changed", "text": "before", "complete": false, "version": "2", "unknown": "kept"],
                ["id": "gone", "text": "old", "version": "5"], ["id": "bare", "version": "6"],
            ], tables: tables)
        #expect(store.report.operations == 4)
        #expect(store.report.left.isEmpty)
        #expect(store.report.tables == [.init(name: "TodoItem", rows: 3)])
        #expect(try await store.database.pending().map(\.id) == ["gone", "changed", "NEW", "bare"])
        #expect(try await store.row("TodoItem", "changed")?["complete"] == true)
        let report = try await store.database.push()
        #expect(report.outcome == .complete)
        #expect(
            store.sent == [
                #"DELETE /tables/TodoItem/gone if "5""#,
                #"PATCH /tables/TodoItem/changed if "2" {"complete":true,"text":null}"#,
                #"POST /tables/TodoItem {"complete":false,"id":"NEW","text":"new"}"#,
                "DELETE /tables/TodoItem/bare",
            ])
        // The answer and the next pull have what the old app did not know.
        #expect(try await store.row("TodoItem", "changed")?["unknown"] == "kept")
        _ = try await store.database.pull("TodoItem", PullSettings(queryID: "all"))
        #expect(try await store.database.conflicts().isEmpty)
        #expect(try await store.database.rows(of: "TodoItem").query(RowQuery(table: "TodoItem")).rows.count == 3)
        try await store.database.close()
    }

    @Test func `a pull before the push completes rows and makes no conflict`() async throws {
        try file.add("a", ["ZTEXT": "'mine'", "ZCOMPLETE": "1", "ZVERSION": "'1'"])
        try file.add(operation: 1, 1, "a")
        let theirs: Value = ["id": "a", "text": "theirs", "complete": false, "list": "home", "version": "1"]
        let store = try await imported(rows: [theirs])
        var settings = PullSettings(queryID: "all")
        settings.pushesFirst = false
        _ = try await store.database.pull("TodoItem", settings)
        #expect(try await store.database.conflicts().isEmpty)
        #expect(try await store.row("TodoItem", "a")?["text"] == "mine")
        #expect(try await store.row("TodoItem", "a")?["list"] == "home")
        // What is dropped leaves the server's row, and nothing of the other client's.
        try await store.database.discard(table: "TodoItem", id: "a")
        #expect(try await store.row("TodoItem", "a")?["text"] == "theirs")
        try await store.database.close()
    }

    @Test func `a row that another client changed becomes a conflict, as MSClient would have met it`() async throws {
        try file.add("a", ["ZTEXT": "'mine'", "ZVERSION": "'1'"])
        try file.add(operation: 1, 1, "a")
        let store = try await imported(rows: [["id": "a", "text": "theirs", "version": "2"]])
        #expect(try await store.database.push().outcome == .incomplete)
        let conflict = try #require(try await store.database.conflicts().first)
        #expect(conflict.mine?["text"] == "mine")
        #expect(conflict.server?["text"] == "theirs")
        try await store.database.close()
    }

    @Test func `two operations of a row are one`() async throws {
        try file.add("a", ["ZTEXT": "'last'"])
        try file.add(operation: 1, 0, "a")
        try file.add(operation: 2, 1, "a")
        try file.add("b", ["ZTEXT": "'last'", "ZVERSION": "'1'"])
        try file.add(operation: 3, 1, "b")
        try file.add(operation: 4, 1, "b")
        try file.add(operation: 5, 1, "c")
        try file.add(operation: 6, 2, "c", item: #"{"id":"c","version":"3"}"#)
        let store = try await imported(rows: [["id": "b", "version": "1"], ["id": "c", "version": "3"]])
        #expect(store.report.left.isEmpty)
        let pending = try await store.database.pending()
        #expect(pending.map(\.id) == ["a", "b", "c"])
        #expect(pending.map(\.kind) == [.insert, .update, .delete])
        // Each of them can be taken back alone.
        try await store.database.undo()
        #expect(try await store.database.pending().map(\.id) == ["a", "b"])
        try await store.database.close()
    }

    @Test func `what can't be imported is listed, and the rest is imported`() async throws {
        try file.add("a", ["ZCOMPLETE": "7", "ZPHOTO": "x'02\(String(repeating: "41", count: 36))00'", "ZTEXT": "'a'"])
        try file.add("A", ["ZTEXT": "'again'"])
        try file.add("bad/id", ["ZTEXT": "'x'"])
        try file.run("INSERT INTO ZTODOITEM (Z_ENT, ZTEXT) VALUES (4, 'no id')")
        try file.add("gone", ["ZDELETED": "1"])
        try file.add(operation: 1, 1, "missing")
        try file.add(operation: 2, 2, "itemless")
        try file.add(operation: 3, 9, "odd")
        try file.run("UPDATE ZMS_TABLEOPERATIONS SET ZPROPERTIES = x'7b' WHERE ZITEMID = 'odd'")
        try file.run(
            """
            INSERT INTO ZMS_TABLEOPERATIONERRORS (ZPROPERTIES) VALUES (CAST('{"code":-1303,"table":"TodoItem",
                "operation":1,"itemId":"a","statusCode":412,"serverItem":{"id":"a"}}' AS BLOB))
            """)
        try file.run("INSERT INTO ZMS_TABLECONFIG (ZKEYTYPE, ZKEY, ZTABLE, ZVALUE) VALUES (0, 'all', 'TodoItem', 'x')")
        try file.run("INSERT INTO Z_PRIMARYKEY VALUES (5, 'Draft', 0, 1)")
        try file.run("CREATE TABLE ZDRAFT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZBODY VARCHAR)")
        try file.run("INSERT INTO ZDRAFT VALUES (1, 5, 'x'), (2, 5, 'y')")
        let store = try await imported()
        let left = store.report.left.map { "\($0.table) \($0.ids) \($0.count) \($0.reason)" }
        #expect(
            left == [
                #"Draft [] 2 the other client did not sync this table"#,
                #"TodoItem ["odd"] 1 a pending operation that can't be read: its properties are not as expected"#,
                #"TodoItem ["a"] 1 the server's answer 412 to a pending operation; the next push asks again"#,
                #"TodoItem ["a"] 1 complete has a value of another type, which is left out"#,
                #"TodoItem ["a"] 1 photo has a value of another type, which is left out"#,
                #"TodoItem ["A"] 1 an earlier row has the same id"#,
                #"TodoItem ["bad/id"] 1 it can't be stored: the id can't be used: it contains the character U+2F"#,
                "TodoItem [] 1 no id",
                #"TodoItem ["missing", "itemless"] 2 a pending operation whose row is missing"#,
            ])
        #expect(store.report.queries == [.init(table: "TodoItem", queryID: "all")])
        #expect(try await store.database.cursors().isEmpty)
        #expect(try await store.row("TodoItem", "a")?["text"] == "a")
        #expect(try await store.row("TodoItem", "gone") == nil)
        #expect(try await store.database.pending().isEmpty)
        try await store.database.close()
    }

    @Test func `entities that share a table are told apart, and older names of columns are known`() async throws {
        try file.run(
            """
            INSERT INTO Z_PRIMARYKEY VALUES (5, 'Base', 0, 0), (6, 'Note', 5, 0), (7, 'Photo', 5, 0);
            CREATE TABLE ZBASE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZID VARCHAR,
                ZMS_VERSION VARCHAR, ZBODY VARCHAR, Z5OWNER INTEGER);
            INSERT INTO ZBASE VALUES (1, 6, 1, 'n', 'v', 'note', NULL), (2, 7, 1, 'p', 'w', 'photo', NULL);
            """)
        let columns = [ForeignColumn("body", .string), ForeignColumn("5owner", .skip)]
        let store = try await imported(
            tables: CoreDataFixture.tables + ["Base", "Note", "Photo"].map { ForeignTable($0, columns: columns) })
        #expect(try await store.database.tables() == ["Note", "Photo"])
        #expect(try await store.row("Note", "n") == ["body": "note", "version": "v"])
        try await store.database.close()
    }

    @Test func `columns that never leave the device keep their values`() async throws {
        try file.add("a", ["ZTEXT": "'milk'", "ZPARTS": "4", "ZVERSION": "'1'"])
        try file.add("b", ["ZTEXT": "'bread'", "ZPARTS": "5", "ZVERSION": "'1'"])
        try file.add(operation: 1, 1, "b")
        let schema = SyncSchema(version: 1, tables: [TableSchema("TodoItem", localColumns: ["parts"])])
        let store = try await ImportedStore(
            file.path, .msclient, CoreDataFixture.tables, directory, "TodoItem",
            rows: [["id": "b", "text": "x", "version": "1"]], schema: schema)
        #expect(try await store.row("TodoItem", "a")?["parts"] == 4)
        #expect(try await store.row("TodoItem", "b")?["parts"] == 5)
        #expect(try await store.database.pending().map(\.id) == ["b"])
        _ = try await store.database.push()
        #expect(store.sent.count == 1)
        #expect(!store.sent[0].contains("parts"))
        try await store.database.close()
    }

    @Test func `an error names the columns that have to be described, with an example`() async throws {
        func complaint(_ tables: [ForeignTable]) async -> SyncError? {
            await #expect(throws: SyncError.self) {
                try await ForeignStore(at: file.path, from: .msclient, tables: tables).check()
            }
        }
        let nothing = await complaint([])
        #expect(nothing?.code == .invalidConfiguration)
        #expect(
            nothing?.hint
                == """
                Describe each table, in a shell with --columns: 'TodoItem=complete:integer,parts:integer,dueat:date,price:number,\
                text:string,photo:bytes'
                """)
        var tables = CoreDataFixture.tables
        tables[0].columns[0].type = nil
        #expect(
            await complaint(tables)?.message == "the file lacks information: the type of TodoItem.complete")
        tables = CoreDataFixture.tables
        tables[0].columns.append(ForeignColumn("nothing"))
        #expect(await complaint(tables)?.message == "the table TodoItem has no column nothing")
        #expect(await complaint([ForeignTable("TodoItme")])?.hint == "Did you mean TodoItem?")
        #expect(
            await complaint(CoreDataFixture.tables + CoreDataFixture.tables)?.message
                == "the table TodoItem is described twice")
    }
}
