// The history of a store in commands, also if the log is damaged or the reader of the output has stopped.

import ChildProcesses
import Foundation
import SegmentLog
import SynclineCore
import Testing

@testable import SynclineTool

@Suite struct HistoryCommandTests {
    /// A story whose middle is damaged: the answer to the first operation can't be read.
    private func damagedStory() throws -> TestLog {
        let log = try TestLog.story()
        let name = "00000001-0000000000000001.seg"
        try log.change(name) { data in
            // The last record of the first segment.
            if let place = data.range(of: Data("salt".utf8), options: .backwards) { data[place.lowerBound] ^= 1 }
        }
        return log
    }

    @Test func `everything else in a log with damage in the middle can be read`() async throws {
        let log = try damagedStory()
        let list = await Call.tool("log", "--json", on: log)
        #expect(list.exit == .partial)
        let numbers = try list.array().compactMap { $0["address"] as? String }
        #expect(numbers == (1...20).filter { $0 != 10 }.map { "@\($0)" })
        #expect(list.errors.contains("damaged"))
        let event = await Call.tool("show", "@17", "--json", on: log)
        #expect(event.exit == .done && event.output.contains("wheat"))
        let row = await Call.tool("get", "todoitem", "a", "--json", on: log)
        #expect(row.exit == .partial && row.output.contains("oat milk"))
        #expect(row.errors.contains("as of @9"))
        #expect(await Call.tool("get", "todoitem", "a", "--at", "@4", on: log).exit == .done)
        let pending = await Call.tool("pending", "--json", on: log)
        #expect(try pending.array().count == 2)
        #expect(await Call.tool("inspect", "events", on: log).exit == .partial)
        #expect(await Call.tool("verify", on: log).exit == .no)
    }

    @Test func `no answer is a no while part of the log can't be read`() async throws {
        let log = try damagedStory()
        for words in [
            ["show", "todoitem/nothing"], ["why", "todoitem/nothing"], ["blame", "todoitem/nothing"],
            ["get", "todoitem", "nothing"], ["get", "todoitem", "nothing", "--at", "@20"], ["diff", "@4", "@20"],
            ["diff", "@4"],
        ] {
            #expect(await Call.tool(words: words, on: log).exit == .partial, "\(words)")
        }
        #expect(await Call.tool("get", "todoitem", "nothing", "--at", "@4", on: log).exit == .no)
        #expect(await Call.tool("diff", "@2", "@4", on: log).exit == .no)
    }

    @Test func `a row without columns exists`() async throws {
        let log = try TestLog.story()
        #expect(await Call.tool("insert", "todoitem", #"{"id":"bare"}"#, on: log).exit == .done)
        let blame = await Call.tool("blame", "todoitem/bare", "--json", on: log)
        #expect(blame.exit == .done && blame.output == "[]\n")
        #expect(await Call.tool("blame", "todoitem/bare.text", on: log).exit == .no)
    }

    @Test func `a search that ends early says nothing about later events`() async throws {
        let log = try TestLog.story()
        #expect(await Call.tool("insert", "todoitem", #"{"id":"late","colour":"red"}"#, on: log).exit == .done)
        let bisect = ["replay", "--bisect", "todoitem: colour eq 'blue'"]
        let early = await Call.tool(words: bisect + ["--to", "@9"], on: log)
        #expect(early.exit == .usage || early.exit == .failed)
        #expect(early.errors.contains("no row had a column colour through @9"))
        #expect(await Call.tool(words: bisect, on: log).exit == .no)
    }

    @Test func `a reader that stops reading ends a command quietly`() async throws {
        let log = try TestLog.story()
        for words in [
            ["log"], ["export", "--format", "events"], ["inspect", "operations", "--list"], ["diff", "@1"],
        ] {
            let call = await Call.tool(words: words, on: log, outputLimit: 10)
            #expect(call.errors == "", "\(words)")
            #expect(call.exit == .done || call.exit == .no, "\(words)")
        }
    }

    @Test func `nothing is coloured in a pipe, and NO_COLOR works on a terminal`() async throws {
        let log = try TestLog.story()
        for words in [["log"], ["blame", "todoitem/a"], ["diff", "@4"], ["replay"], ["inspect", "operations"]] {
            #expect(!(await Call.tool(words: words, on: log).output.contains("\u{1b}")), "\(words)")
            let mute = await Call.tool(words: words, on: log, isTerminal: true, variables: ["NO_COLOR": "1"])
            #expect(!mute.output.contains("\u{1b}"), "\(words)")
            #expect(await Call.tool(words: words, on: log, isTerminal: true).output.contains("\u{1b}["), "\(words)")
        }
    }

    @Test func `a session steps in both directions, watches values and has help`() async throws {
        let log = try TestLog.story()
        let lines = [
            "next", "n 2", "watch todoitem/a.text", "run", "reverse", "watch", "go @12", "back", "outbox",
            "rows todoitem",
            "row todoitem/a", "run conflicts ge 1", "unwatch 1", "last", "next", "frob", "bak", "help", "quit",
        ]
        let call = await Call.tool(
            "replay", "--step", "--to", "@2", on: log, input: lines.joined(separator: "\n") + "\n")
        #expect(call.exit == .done)
        let output = call.output
        #expect(output.contains("@5 of @20") && output.contains("text: \"milk\" → \"oat milk\""))
        // `run` stops after the change, `reverse` before it.
        #expect(
            output.contains("1  todoitem/a.text = \"oat milk\"") && output.contains("1  todoitem/a.text = \"milk\""))
        #expect(output.contains("@11 of @20") && output.contains("frozen: being sent"))
        #expect(output.contains("@12 of @20") && output.contains("conflict: conflict"))
        #expect(output.contains("this is the last event"))
        #expect(output.contains("go back to just before"))
        #expect(call.errors.contains("there is no command `frob` here") && call.errors.contains("Did you mean `back`?"))
    }

    @Test func `stores are compared with each other`() async throws {
        let log = try TestLog.story()
        let other = try TestLog.story()
        #expect(await Call.tool("diff", other.path, on: log).exit == .done)
        let store = other.path
        #expect(await Call.tool("insert", "todoitem", #"{"id":"z"}"#, "-s", store).exit == .done)
        let call = await Call.tool("diff", store, "--json", on: log)
        #expect(call.exit == .no)
        #expect(try call.array().map { $0["change"] as? String } == ["removed"])
    }

    @Test func `a strict store's history knows only its tables`() async throws {
        let log = try TestLog.story()
        #expect(await Call.tool("config", "tables", "todoitem", on: log).exit == .done)
        for words in [["log", "--table", "x"], ["blame", "x/a"], ["diff", "@1", "--table", "x"], ["show", "x/a"]] {
            let call = await Call.tool(words: words + ["--json"], on: log)
            #expect(call.exit == .failed && call.output.contains("unknown-table"), "\(words)")
        }
        #expect(await Call.tool("blame", "todoitem/a", on: log).exit == .done)
    }

    @Test func `an SQL export is a database`() async throws {
        let log = try TestLog.story()
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3") else { return }
        let sql = await Call.tool("export", "--format", "sql", on: log).output
        let folder = try TemporaryFolder()
        let child = try ChildProcess(
            "/usr/bin/sqlite3", [folder.path + "/out.db"], variables: [:], input: .pipe)
        try child.write(
            sql
                + "SELECT text FROM todoitem ORDER BY id; SELECT \"table\", itemId FROM MS_TableOperations; "
                + "SELECT operationId FROM MS_TableOperationErrors; SELECT key, value FROM MS_TableConfig;\n")
        child.closeInput()
        #expect(
            child.rest()
                == "oat milk\nrye\u{1b}[31m\nsalt\nsix eggs\ntodoitem|b\ntodoitem|d\n1\nall|2026-05-19T21:30:00.000Z\n")
        #expect(child.wait() == 0)
    }

    @Test func `an event is shown soon after it is written`() async throws {
        let log = try TestLog.story()
        let child = try ChildProcess.tool("tail", "-f", "-n", "1", "--jsonl", on: log)
        #expect(child.line()?.contains("\"@20\"") == true)
        let writer = try log.open()
        var batch = RecordBatch()
        batch.append(Event(time: 0, .cursorReset(table: "todoitem", queryID: "all")).bytes)
        try writer.append(batch)
        #expect(child.line()?.contains("cursor-reset") == true)
        child.signal(SIGINT)
        #expect(child.wait() == 0)
        try writer.close()
    }

    @Test func `conditions on pending changes are searched after events that an outline can't follow`() async throws {
        let log = try TestLog(empty: ())
        func change(_ kind: OperationKind, _ id: String) -> Event.Body {
            .local(LocalTransaction([LocalChange(kind: kind, table: "t", id: id)], isGrouped: false))
        }
        func page(_ row: Row?) -> Event.Body {
            .page(PulledPage(table: "t", queryID: nil, rows: [PulledRow(id: "a", row: row)], cursor: nil))
        }
        let writer = try log.open()
        var batch = RecordBatch()
        // The server deleted the row as well, so that @4 leaves nothing pending.
        for body in [
            page(Row([.init("version", .string("1"))])), change(.insert, "b"), change(.delete, "a"), page(nil),
            change(.insert, "c"), change(.insert, "d"),
        ] { batch.append(Event(time: 0, body).bytes) }
        try writer.append(batch)
        try writer.close()
        for (condition, event) in [("pending ge 2", "@3"), ("pending ge 3", "@6"), ("pending lt 2", "@4")] {
            let call = await Call.tool("replay", "--bisect", condition, "--from", "@2", "--json", on: log)
            #expect(call.output.contains(#""event":{"address":"\#(event)""#), "\(condition): \(call.output)")
        }
        #expect(await Call.tool("replay", "--bisect", "pending ge 4", on: log).exit == .no)
        let misspelt = await Call.tool("replay", "--bisect", "count(tt) ge 4", on: log)
        #expect(misspelt.exit == .failed && misspelt.errors.contains("Did you mean `t`?"), "\(misspelt.errors)")
        for words in [
            ["replay", "--to", "@9999"], ["get", "t", "a", "--at", "@9999"],
            ["replay", "--bisect", "t/a", "--from", "@9999"],
        ] {
            let call = await Call.tool(words: words + ["-s", log.path])
            #expect(call.exit == .usage && call.errors.contains("the last event is @"), "\(words): \(call.errors)")
        }
    }

    @Test func `a condition that was true before a checkpoint is found, and the searched range is named`() async throws
    {
        let log = try TestLog(empty: ())
        func change(_ kind: OperationKind, _ id: String) -> Event.Body {
            .local(LocalTransaction([LocalChange(kind: kind, table: "t", id: id)], isGrouped: false))
        }
        let writer = try log.open()
        var batch = RecordBatch()
        for body in [change(.insert, "a"), .undone(event: 1), .cursorReset(table: "t", queryID: "q")] {
            batch.append(Event(time: 0, body).bytes)
        }
        try writer.append(batch)
        try writer.close()
        #expect(await Call.tool("checkpoint", on: log).exit == .done)
        #expect(await Call.tool("insert", "t", #"{"id":"c"}"#, on: log).exit == .done)
        for condition in ["count(t) ge 1", "t: true", "pending ge 1", "t/a"] {
            let call = await Call.tool("replay", "--bisect", condition, "--json", on: log)
            #expect(call.output.contains(#""event":{"address":"@1""#), "\(condition): \(call.output)")
        }
        let whole = await Call.tool("replay", "--bisect", "count(t) ge 9", on: log)
        #expect(whole.exit == .no && whole.output == "it never became true in @1..5\n", "\(whole.output)")
        let part = await Call.tool("replay", "--bisect", "t/a", "--from", "@2", "--to", "@4", "--json", on: log)
        #expect(part.output.contains(#""searched":"@2..4","heldBefore":true"#), "\(part.output)")
    }

    @Test func `a span of times includes both its ends, and a moment before the first event names that event`()
        async throws
    {
        let log = try TestLog(empty: ())
        let writer = try log.open()
        var batch = RecordBatch()
        for (number, time) in [1000, 2000, 2000, 3000].enumerated() {
            let change = LocalChange(kind: .insert, table: "t", id: "\(number)")
            batch.append(Event(time: Int64(time), .local(LocalTransaction([change], isGrouped: false))).bytes)
        }
        try writer.append(batch)
        try writer.close()
        func moment(_ second: String) -> String { "1970-01-01T00:00:0\(second)Z" }
        for (span, expected) in [
            ("\(moment("2"))..\(moment("2"))", ["@2", "@3"]), ("\(moment("2"))..", ["@2", "@3", "@4"]),
            ("\(moment("0"))..\(moment("1"))", ["@1"]), ("..\(moment("2"))", ["@1", "@2", "@3"]),
            ("\(moment("2"))..@3", ["@2", "@3"]), ("@1..\(moment("1"))", ["@1"]), ("@3..", ["@3", "@4"]),
            ("\(moment("1.0005"))..\(moment("3"))", ["@2", "@3", "@4"]),
        ] {
            let call = await Call.tool("log", span, "--json", on: log)
            #expect(try call.array().compactMap { $0["address"] as? String } == expected, "\(span): \(call.errors)")
        }
        for words in [
            ["log", "--at", moment("0")], ["query", "t", "--at", moment("0")], ["log", "..\(moment("0"))"],
            ["replay", "--to", moment("0")], ["diff", moment("0"), "@3"], ["get", "t", "0", "--at", moment("0")],
        ] {
            let call = await Call.tool(words: words, on: log)
            #expect(call.exit == .usage, "\(words): \(call.output)")
            #expect(call.errors.contains("the first event is @1, of 1970-01-01T00:00:01"), "\(words): \(call.errors)")
        }
        let nothing = await Call.tool("log", "\(moment("2.5"))..\(moment("2.6"))", on: log)
        #expect(nothing.exit == .usage && nothing.errors.contains("there is no event in"), "\(nothing.errors)")
        let found = await Call.tool("replay", "--bisect", "count(t) ge 3", "--from", moment("2"), "--json", on: log)
        #expect(found.output.contains(#""searched":"@2..3""#), "\(found.output)")
    }

    @Test func `operations that wait are not counted as to push`() async throws {
        let log = try TestLog(empty: ())
        #expect(await Call.tool("init", on: log).exit == .done)
        for id in ["a", "b", "c"] {
            #expect(await Call.tool("insert", "t", "{\"id\":\"\(id)\"}", on: log).exit == .done)
        }
        #expect(await Call.tool("hold", "t/b", on: log).exit == .done)
        let list = await Call.tool("pending", on: log)
        #expect(list.output.contains("held") && list.errors.contains("2 to push, 1 waiting"), "\(list.errors)")
        let held = await Call.tool("replay", "--bisect", "pending eq 2", "--from", "@9", "--json", on: log)
        #expect(held.output.contains("\"hold"), "\(held.output)")
        let counts = try StudioData(log.path).counts()
        #expect(counts.text == #"{"pending":2,"conflicts":0}"#)
        let outbox = try StudioData(log.path).outbox(at: nil, skip: 0, top: 9)
        #expect(outbox.text.contains(#""count":3,"toPush":2"#), "\(outbox.text)")
        #expect(await Call.tool("release", "t/b", on: log).exit == .done)
        #expect(await Call.tool("pending", on: log).errors == "")
        let again = await Call.tool("replay", "--bisect", "pending ge 3", "--json", on: log)
        #expect(again.output.contains(#""event":{"address":"@"#), "\(again.output)")
    }

    @Test func `a condition with a misspelt row, or with words that can't be read, is refused`() async throws {
        let log = try TestLog(empty: ())
        #expect(await Call.tool("init", on: log).exit == .done)
        for item in [#"{"id":"r1","price":10}"#, #"{"id":"r1","price":12}"#] {
            #expect(await Call.tool(item.contains("10") ? "insert" : "update", "notes", item, on: log).exit == .done)
        }
        for condition in [
            "notes/r1.price = 12", "notes/r1.price == 12", "notes: price=12", "count(notes: price = 12) = 1",
        ] {
            let call = await Call.tool("replay", "--bisect", condition, "--json", on: log)
            #expect(call.exit == .done && call.output.contains("\"update\""), "\(condition): \(call.output)")
        }
        for (condition, words) in [
            ("notes/r1.price was 12", "unexpected `was` after a row"), ("notes/r1.price changed", "at character 16"),
            ("notes/r1.price != 12", "unexpected `!=`"), ("notes/r2", "no row notes/r2 in @1.."),
            ("notes/r2.price eq 12", "no row notes/r2 in @1.."), ("not notes/r2", "no row notes/r2 in @1.."),
            ("note/r1", "there is no table note"), ("notes/r1.cost eq 1", "no row ever had a column cost"),
        ] {
            let call = await Call.tool("replay", "--bisect", condition, on: log)
            #expect(call.exit == .failed && call.errors.contains(words), "\(condition): \(call.output)\(call.errors)")
        }
        let nearly = await Call.tool("replay", "--bisect", "notes/r2", on: log)
        #expect(nearly.errors.contains("Did you mean `notes/r1`?"), "\(nearly.errors)")
        // It can become true, and did not.
        #expect(await Call.tool("replay", "--bisect", "notes/r1.price eq 99", on: log).exit == .no)
    }

    @Test func `the newest events of a kind are looked for from the end`() async throws {
        let log = try TestLog(empty: ())
        let writer = try log.open()
        var batch = RecordBatch()
        for number in 1...7000 {
            let body: Event.Body =
                number % 1500 == 1
                ? .local(
                    LocalTransaction([LocalChange(kind: .insert, table: "t", id: "\(number)")], isGrouped: false))
                : .cursorReset(table: "t", queryID: "q")
            batch.append(Event(time: 0, body).bytes)
        }
        try writer.append(batch)
        try writer.close()
        func addresses(_ words: String...) async throws -> [String] {
            let call = await Call.tool(words: ["log", "--json"] + words, on: log)
            return try call.array().compactMap { $0["address"] as? String }
        }
        #expect(try await addresses("-n", "3", "--kind", "local") == ["@3001", "@4501", "@6001"])
        #expect(try await addresses("-n", "9", "--kind", "local") == ["@1", "@1501", "@3001", "@4501", "@6001"])
        #expect(try await addresses("-n", "2", "--kind", "local", "--at", "@4500") == ["@1501", "@3001"])
        #expect(try await addresses("-n", "2") == ["@6999", "@7000"])
        #expect(try await addresses("-n", "2", "@1..4501", "--kind", "local") == ["@3001", "@4501"])
        #expect(try await addresses("-n", "2", "--kind", "undo").isEmpty)
    }
}
