// `sql` and `mirror`.

import CSQLite
import ChildProcesses
import Foundation
import SegmentLog
import SynclineCore
import Testing

@testable import SynclineTool

@Suite struct SQLCommandTests {
    private static let first = "select text from todoitem where id = ?"

    @Test func `sql shows rows as a table and as JSON, now and at an earlier event`() async throws {
        let log = try TestLog.story()
        let table = await Call.tool("sql", Self.first, "a", on: log)
        #expect(table.exit == .done && table.output == "text\noat milk\n", "\(table.output)\(table.errors)")
        let json = await Call.tool("sql", Self.first, "a", "--jsonl", on: log)
        #expect(json.output == "{\"text\":\"oat milk\"}\n")
        let joined = "select count(*) as n from todoitem join \"todoitem@20\" using (id)"
        let count = await Call.tool("sql", "select count(*) as n from todoitem", "--jsonl", on: log).output
        #expect(await Call.tool("sql", joined, "--jsonl", on: log).output == count)
        #expect(await Call.tool("sql", joined, "--jsonl", "--at", "@20", on: log).output == count)
    }

    @Test func `sql changes nothing, and says what to use`() async throws {
        let log = try TestLog.story()
        let call = await Call.tool("sql", "delete from todoitem", on: log)
        #expect(call.exit == .failed && call.errors.contains("would change todoitem"), "\(call.errors)")
        #expect(await Call.tool("sql", "select ?", on: log).errors.contains("Give one value for each `?`"))
    }

    @Test func `every result is JSON, with each key once`() async throws {
        let log = try TestLog.story()
        let numbers = await Call.tool("sql", "select 9e999 as n, -9e999 as n, 1.5 as n", "--json", on: log)
        #expect(numbers.output == "[\n{\"n\":null,\"n:2\":null,\"n:3\":1.5}\n]\n")
        let table = await Call.tool("sql", "select 1 as n, 9e999 as n, 3 as n", on: log)
        #expect(table.output == "n  n:2  n:3\n1       3\n")
    }

    @Test func `an error before the first row is the result, and one after it the last element`() async throws {
        let log = try TestLog.story()
        let first = await Call.tool("sql", "select abs(-9223372036854775808)", "--json", on: log)
        #expect(
            first.exit == .failed && first.output.hasPrefix(#"{"error":{"code":"invalid-query""#), "\(first.output)")
        let second = "select abs(n) as n from (select 1 as n union all select -9223372036854775808)"
        let later = await Call.tool("sql", second, "--json", on: log)
        let elements = try later.array()
        #expect(later.exit == .partial && elements.count == 2 && elements.last?["error"] != nil, "\(later.output)")
        let lines = await Call.tool("sql", second, "--jsonl", on: log).output.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].hasPrefix(#"{"error":"#))
        #expect(await Call.tool("sql", "select 1 where 0", "--json", on: log).output == "[]\n")
    }

    @Test func `values are negative, have names, and fit 64 bits`() async throws {
        let log = try TestLog.story()
        func values(_ words: String...) async -> String {
            await Call.tool(words: ["sql", "--jsonl"] + words, on: log).output
        }
        #expect(await values("-- a comment\nselect ? as a, ? as b", "-5", "x") == "{\"a\":-5,\"b\":\"x\"}\n")
        #expect(
            await values("select :x as a, @y as b, $x as c", "--bind", "x=2", "--bind", "@y=a=b")
                == "{\"a\":2,\"b\":\"a=b\",\"c\":2}\n")
        #expect(await values("select ? as a", "-9223372036854775808") == "{\"a\":-9223372036854775808}\n")
        #expect(await values("select ? as a", "99999999999999999999 b") == "{\"a\":\"99999999999999999999 b\"}\n")
        for text in ["9223372036854775808", "-99999999999999999999", "1e999", "[99999999999999999999]"] {
            let call = await Call.tool("sql", "select ?", text, on: log)
            #expect(call.exit == .usage && call.errors.contains("does not fit 64 bits"), "\(call.errors)")
        }
        let nameless = await Call.tool("sql", "select :x", "--bind", "x", on: log)
        #expect(nameless.exit == .usage && nameless.errors.contains("--bind takes NAME=VALUE"))
    }

    @Test func `mirror -f reports each event once, and ends at an interrupt`() async throws {
        let log = try TestLog.story()
        let path = log.folder.path + "/mirror.sqlite"
        let child = try ChildProcess.tool("mirror", path, "-f", "--jsonl", on: log)
        #expect(child.line()?.contains("\"@20\"") == true)
        let writer = try log.open()
        for number in 21...23 {
            var batch = RecordBatch()
            batch.append(Event(time: 0, .cursorReset(table: "todoitem", queryID: "q\(number)")).bytes)
            try writer.append(batch)
            #expect(child.line()?.contains("\"@\(number)\"") == true)
        }
        child.signal(SIGINT)
        #expect(child.rest() == "")
        #expect(child.wait() == 0)
        try writer.close()
        let again = await Call.tool("mirror", path, on: log)
        #expect(again.exit == .done && again.output == "\(path) is at @23\n", "\(again.output)\(again.errors)")
    }

    private func batch(_ event: [UInt8]) -> RecordBatch {
        var batch = RecordBatch()
        batch.append(event)
        return batch
    }

    /// The strings of a column of a file.
    private func strings(_ statement: String, _ path: String) -> [String] {
        var handle: OpaquePointer?
        var prepared: OpaquePointer?
        var found: [String] = []
        #expect(sqlite3_open(path, &handle) == SQLITE_OK)
        #expect(sqlite3_prepare_v2(handle, statement, -1, &prepared, nil) == SQLITE_OK)
        while sqlite3_step(prepared) == SQLITE_ROW { found.append(String(cString: sqlite3_column_text(prepared, 0))) }
        sqlite3_finalize(prepared)
        sqlite3_close_v2(handle)
        return found
    }

    /// Runs something when the first line is written, before the command continues.
    private final class PausingSink: Sink {
        let inner = MemorySink()
        private var body: (() throws -> Void)?
        private let ended: (String) -> Bool
        private let interrupt: Interrupt

        init(_ interrupt: Interrupt, until ended: @escaping (String) -> Bool, _ body: @escaping () throws -> Void) {
            (self.interrupt, self.ended, self.body) = (interrupt, ended, body)
        }

        func write(bytes: [UInt8]) throws {
            try inner.write(bytes: bytes)
            if let body, bytes.contains(0x0a) {
                self.body = nil
                try body()
            }
            if ended(inner.text) { interrupt.set() }
        }

        func flush() {}
        var isClosed: Bool { false }
    }

    @Test func `mirror -f begins again if the writer removes history that was not read yet`() async throws {
        let log = try TestLog(empty: ())
        let files = FileManager.default
        #expect(await Call.tool("init", on: log).exit == .done)
        #expect(await Call.tool("config", "retention", "1 events", on: log).exit == .done)
        #expect(await Call.tool("insert", "t", #"{"id":"a"}"#, on: log).exit == .done)
        // The same store later: the events after the first ones are gone.
        let (now, later) = (log.folder.path + "/now", log.folder.path + "/later")
        try files.copyItem(atPath: log.path, toPath: now)
        for number in 0..<4 {
            #expect(await Call.tool("insert", "t", "{\"id\":\"\(number)\"}", on: log).exit == .done)
        }
        #expect(await Call.tool("purge", "t", "--force", on: log).exit == .done)
        for _ in 0..<2 { #expect(await Call.tool("compact", on: log).exit == .done) }
        #expect(await Call.tool("insert", "t", #"{"id":"last"}"#, on: log).exit == .done)
        #expect(await Call.tool("compact", on: log).exit == .done)
        try files.moveItem(atPath: log.path, toPath: later)
        try files.moveItem(atPath: now, toPath: log.path)
        let interrupt = Interrupt()
        let path = log.path
        let mirror = log.folder.path + "/mirror.sqlite"
        let sink = PausingSink(interrupt, until: { $0.split(separator: "\n").count == 2 }) {
            for name in try files.contentsOfDirectory(atPath: path) { try files.removeItem(atPath: path + "/" + name) }
            for name in try files.contentsOfDirectory(atPath: later) {
                try files.copyItem(atPath: later + "/" + name, toPath: path + "/" + name)
            }
        }
        let errors = MemorySink()
        let host = Host(
            environment: Environment(
                variables: ["SYNCLINE_STORE": path], directory: "/", outputIsTerminal: false, errorsAreTerminal: false,
                width: 80),
            output: sink, errors: errors, input: MemoryLines(""), clock: log.clock, interrupt: interrupt)
        let exit = await Tool(host).run(["mirror", mirror, "-f", "--jsonl"])
        #expect(exit == .done, "\(errors.text)")
        let rows = await Call.tool("sql", "select id from t", "--jsonl", on: log)
        #expect(rows.output == "{\"id\":\"last\"}\n")
        #expect(strings("select id from t", mirror) == ["last"])
    }

    @Test func `a row may have more columns than SQLite has room for`() async throws {
        let log = try TestLog(empty: ())
        let writer = try log.open()
        let wide = Row((0..<2500).map { .init("c\($0)", .integer(Int64($0))) })
        let narrow = Row([.init("c3", .integer(-3)), .init("c2400", .integer(1))])
        for (id, row) in [("wide", wide), ("narrow", narrow)] {
            let change = LocalChange(kind: .insert, table: "t", id: id, columns: row)
            try writer.append(batch(Event(time: 0, .local(LocalTransaction([change], isGrouped: false))).bytes))
        }
        try writer.close()
        let call = await Call.tool("sql", "select id, c3, c1998 from t order by id", "--jsonl", on: log)
        #expect(
            call.output
                == "{\"id\":\"narrow\",\"c3\":-3,\"c1998\":null}\n{\"id\":\"wide\",\"c3\":3,\"c1998\":1998}\n",
            "\(call.errors)")
        let beyond = await Call.tool("sql", "select c2400 from t", on: log)
        #expect(beyond.exit == .failed && beyond.errors.contains("is not one of the first 1999"), "\(beyond.errors)")
        let path = log.folder.path + "/mirror.sqlite"
        for _ in 0..<2 {
            let mirror = await Call.tool("mirror", path, on: log)
            #expect(mirror.exit == .done, "\(mirror.errors)")
            #expect(strings("select id || c3 || c1990 from t where c1990 is not null", path) == ["wide31990"])
            #expect(strings("select count(*) from syncline_columns where sql_column is null", path) == ["501"])
            #expect(await Call.tool("update", "t", #"{"id":"wide","c1990":1990,"c2450":0}"#, on: log).exit == .done)
        }
    }

    @Test func `a statement does not work on each of very many tables`() async throws {
        let log = try TestLog(empty: ())
        let writer = try log.open()
        let changes = (0..<5000).map { LocalChange(kind: .insert, table: "t\($0)", id: "a") }
        try writer.append(batch(Event(time: 0, .local(LocalTransaction(changes, isGrouped: true))).bytes))
        try writer.append(
            batch(
                Event(
                    time: 0,
                    .local(LocalTransaction([LocalChange(kind: .insert, table: "t7", id: "b")], isGrouped: false))
                ).bytes))
        try writer.close()
        let count =
            "select (select count(*) from T7) as a, (select count(*) from \"t7@1\") as b, (select count(*) from t4999) as c"
        #expect(await Call.tool("sql", count, "--jsonl", on: log).output == "{\"a\":2,\"b\":1,\"c\":1}\n")
        let unknown = await Call.tool("sql", "select * from t5000", on: log)
        #expect(unknown.exit != .done && unknown.errors.contains("there is no table"), "\(unknown.errors)")
        let list = await Call.tool("inspect", "tables", "--jsonl", on: log)
        #expect(list.output.split(separator: "\n").count == 5000)
        let mirror = await Call.tool("mirror", log.folder.path + "/mirror.sqlite", on: log)
        #expect(mirror.exit == .done, "\(mirror.errors)")
    }

    @Test func `mirror makes a file of every name, and refuses no name`() async throws {
        let log = try TestLog.story()
        for name in [":memory:", "file:x?mode=memory"] {
            let result = try ChildProcess.run(
                try ChildProcess.tool, ["mirror", name, "-s", log.path], directory: log.folder.path)
            #expect(result.exit == 0, "\(result.output)")
            #expect(FileManager.default.fileExists(atPath: log.folder.path + "/" + name), "\(name)")
        }
        let call = await Call.tool("mirror", "", on: log)
        #expect(call.exit == .failed && call.errors.contains("the path of a mirror is empty"), "\(call.errors)")
    }

    @Test func `export as SQL names no table as SQLite names its own`() async throws {
        let log = try TestLog(empty: ())
        #expect(await Call.tool("init", on: log).exit == .done)
        for table in ["_sqlite_x", "sqlite_x"] {
            #expect(await Call.tool("insert", table, #"{"id":"a"}"#, on: log).exit == .done)
        }
        let export = await Call.tool("export", "--format", "sql", on: log)
        #expect(export.output.contains(#"INSERT INTO "_sqlite_x" VALUES ('a');"#))
        #expect(export.output.contains(#"INSERT INTO "_sqlite_x_" VALUES ('a');"#), "\(export.output)")
        #expect(export.errors.contains("the table sqlite_x is called _sqlite_x_ in the SQL"), "\(export.errors)")
    }

    @Test func `mirror refuses a file that is not a mirror, and does not suggest removing it`() async throws {
        let log = try TestLog.story()
        let path = log.folder.path + "/notes.txt"
        try String(repeating: "not a database\n", count: 1000).write(toFile: path, atomically: true, encoding: .utf8)
        let call = await Call.tool("mirror", path, on: log)
        #expect(call.exit == .failed && call.errors.contains(path) && call.errors.contains("Choose another path."))
        #expect(!call.errors.contains("emove"), "\(call.errors)")
    }
}
