// `import FILE --from`: its arguments, what it prints, and its exit codes.

import CSQLite
import Foundation
import SynclineSQL
import Testing

@testable import SynclineTool

@Suite struct ForeignImportTests {
    private let folder: TemporaryFolder
    private var file: String { folder.path + "/app db" }
    private var store: String { folder.path + "/store" }

    init() throws {
        folder = try TemporaryFolder()
        try run(
            """
            CREATE TABLE __operations (id TEXT, kind INTEGER, state INTEGER, tableName TEXT, itemId TEXT, item TEXT,
                sequence INTEGER, version INTEGER);
            CREATE TABLE __errors (id TEXT, status INTEGER, version INTEGER, kind INTEGER, tableName TEXT, item TEXT);
            CREATE TABLE __config (id TEXT, value INTEGER);
            CREATE TABLE todoitem (id TEXT PRIMARY KEY, text TEXT, n INTEGER, version TEXT);
            INSERT INTO todoitem VALUES ('a', 'milk', 1, 'v1'), ('b', 'bread', 2, 'v2');
            INSERT INTO __operations VALUES ('1', 3, 0, 'todoitem', 'b', NULL, 1, 1);
            INSERT INTO __config VALUES ('dt.todoitem.all', 5);
            """)
    }

    private func run(_ statements: String) throws {
        var handle: OpaquePointer?
        #expect(sqlite3_open(file, &handle) == SQLITE_OK)
        defer { sqlite3_close_v2(handle) }
        #expect(sqlite3_exec(handle, statements, nil, nil, nil) == SQLITE_OK)
    }

    @Test func `a pipe is refused instead of waited for`() async throws {
        let pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let refused = await Call.tool(words: ["import", pipe, "--from", "datasync", "-s", store])
        #expect(refused.exit == .failed && refused.errors.contains("is not a regular file"), "\(refused.errors)")
    }

    private func call(_ words: String...) async -> Call {
        await Call.tool(words: ["import", file, "--from", "datasync", "-s", store] + words)
    }

    @Test func `a store is made, and its changes are pending`() async throws {
        let made = await call()
        #expect(made.exit == .done)
        #expect(
            made.output == """
                todoitem: 2 rows
                1 pending operation
                the first pull of todoitem with the query id all reads everything again
                created \(store)

                """)
        let pending = await Call.tool("pending", "--json", "-s", store)
        #expect(pending.output.contains(#""id":"b","kind":"update""#))
        #expect(await Call.tool("config", "protocol", "-s", store).output.contains("datasync3"))
        #expect(await Call.tool("verify", "--deep", "-s", store).exit == .done)
        let again = await call()
        #expect(again.exit == .failed)
        #expect(again.errors.contains("is not empty"))
    }

    @Test func `what is left out is listed, and makes the exit code 1`() async throws {
        try run("INSERT INTO __operations VALUES ('2', 3, 0, 'todoitem', 'gone', NULL, 2, 1)")
        let made = await call()
        #expect(made.exit == .no)
        #expect(made.output.contains("left out  todoitem/gone: a pending operation whose row is missing\n"))
        let json = await Call.tool(
            "import", file, "--from", "datasync", "-s", folder.path + "/other", "--json", "--columns", "todoitem=n:skip"
        )
        #expect(json.exit == .no)
        #expect(
            json.output == """
                {"store":"\(folder.path)/other","from":"datasync","tables":[{"table":"todoitem","rows":2}],\
                "operations":1,"left":[{"table":"todoitem","ids":["gone"],"count":1,\
                "reason":"a pending operation whose row is missing"}],\
                "queries":[{"table":"todoitem","queryId":"all"}]}

                """)
    }

    @Test func `with dry run no store is made`() async throws {
        let shown = await call("--dry-run")
        #expect(shown.exit == .done)
        #expect(!shown.output.contains("created"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["app db"])
    }

    @Test func `an import that fails leaves nothing`() async throws {
        try Data("not a database, but it is long enough to be read as one".utf8).write(to: URL(filePath: file))
        let failed = await call()
        #expect(failed.exit == .failed)
        #expect(failed.errors.contains("store-corrupt") || failed.errors.contains("can't be read"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["app db"])
    }

    @Test(arguments: [
        ["import", "f", "-s", "s"], ["import", "--from", "datasync"], ["import", "f", "--from", "other"],
        ["import", "f", "--from", "datasync", "--table", "t"], ["import", "--columns", "t=a"], ["import", "--dry-run"],
    ])
    func `arguments that exclude each other are refused`(words: [String]) async {
        #expect(await Call.tool(words: words).exit == .usage)
    }

    @Test func `descriptions are read as they are printed`() throws {
        let descriptions = [
            ForeignTable("TodoItem", columns: [ForeignColumn("text"), ForeignColumn("complete", .bool)]),
            ForeignTable("TodoItems", as: "todoitem", columns: [ForeignColumn("text", .string, from: "Title")]),
            ForeignTable("Settings", isSkipped: true),
        ]
        for table in descriptions { #expect(try ForeignImport.table("\(table)") == table) }
        #expect(
            descriptions.map(\.description) == [
                "TodoItem=text,complete:bool", "TodoItems as todoitem=Title as text:string", "Settings=skip",
            ])
        for text in ["", "t", "=a", "t=", "t=a,", "t as=a", "t of u=a", "t=a:boole", "t=a b"] {
            let error = #expect(throws: ToolError.self) { try ForeignImport.table(text) }
            #expect(error?.exit == .usage, "\(text)")
        }
    }
}
