// Rows in and out of a store, as a person or a script does it.

import Foundation
import Testing

@testable import SynclineTool

@Suite struct StoreTests {
    /// A store of its own, and the words that name it.
    private struct Store {
        let folder: TemporaryFolder
        var path: String { folder.path + "/store" }

        init() async throws {
            folder = try TemporaryFolder()
            let made = await Call.tool("init", "-s", folder.path + "/store", "--json")
            try #require(made.exit == .done)
        }

        func call(_ words: String..., input: String = "") async -> Call {
            await Call.tool(words: words + ["-s", path], input: input)
        }
    }

    @Test func `a row is inserted, changed and read`() async throws {
        let store = try await Store()
        let made = await store.call("insert", "todoitem", #"{"id":"a","text":"milk","n":3}"#, "--json")
        #expect(made.output == #"{"id":"a","text":"milk","n":3}"# + "\n")
        #expect(await store.call("update", "todoitem", #"{"id":"a","n":4}"#).exit == .done)
        #expect(await store.call("get", "todoitem", "a").output == #"{"id":"a","text":"milk","n":4}"# + "\n")
        #expect(await store.call("delete", "todoitem", "a", "--json").output == #"{"id":"a"}"# + "\n")
        let gone = await store.call("get", "todoitem", "a", "--json")
        #expect(gone.exit == .no && gone.output == "null\n")
    }

    @Test func `a table is kept on this device`() async throws {
        let store = try await Store()
        #expect(await store.call("config", "columns", "draft", "due:date", "--local").exit == .done)
        #expect(await store.call("insert", "draft", #"{"id":"a","due":"2026-03-01"}"#).exit == .done)
        #expect(await store.call("pending", "--json").output == "[]\n")
        let shown = await store.call("config", "columns", "--json")
        #expect(shown.output == #"{"columns":{"draft":{"due":"date"}},"local":["draft"]}"# + "\n")
        #expect(await store.call("config", "columns").output == "draft never leaves the device\ndraft.due = date\n")
        #expect(await store.call("log").output.contains("draft never leaves the device"))
        #expect(await store.call("insert", "t", #"{"id":"a"}"#).exit == .done)
        let refused = await store.call("config", "columns", "t", "--local", "--json")
        #expect(refused.exit == .failed && refused.output.contains(#""code":"invalid-configuration""#))
        #expect(await store.call("config", "columns", "--local").exit == .usage)
        #expect(await store.call("config", "ids", "--local").exit == .usage)
        #expect(await store.call("purge", "draft").exit == .failed)
        #expect(await store.call("verify", "--deep").exit == .done)
    }

    @Test func `a store is created once`() async throws {
        let store = try await Store()
        let again = await store.call("init", "--json")
        #expect(again.exit == .failed && again.output.contains(#""code":"store-exists""#))
        let none = await Call.tool("query", "todoitem", "-s", store.folder.path + "/none", "--json")
        #expect(none.exit == .failed && none.output.contains(#""code":"no-store""#))
        #expect(none.output.contains(#""hint":"Run `syncline init`, or check the path.""#), "\(none.output)")
    }

    @Test func `rows are filtered, ordered, limited and counted`() async throws {
        let store = try await Store()
        let rows = (0..<5).map { #"{"id":"\#($0)","n":\#($0)}"# }.joined(separator: "\n")
        #expect(await store.call("insert", "t", "-", input: rows).exit == .done)
        #expect(
            await store.call("query", "t", "--filter", "n gt 1", "--orderby", "n desc", "--top", "2", "--jsonl").output
                == "{\"id\":\"4\",\"n\":4}\n{\"id\":\"3\",\"n\":3}\n")
        #expect(
            await store.call("query", "t", "--top", "1", "--select", "n", "--count", "--json").output
                == #"{"count":5,"results":[{"n":0}]}"# + "\n")
        let wrong = await store.call("query", "t", "--filter", "n gt", "--json")
        #expect(wrong.exit == .failed && wrong.output.contains("invalid-query"))
    }

    @Test func `lines of the input are stored together, or not at all`() async throws {
        let store = try await Store()
        let lines = #"{"id":"a"}"# + "\n" + #"{"id":"b","__x":1}"#
        let call = await store.call("insert", "t", "-", "--json", input: lines)
        #expect(call.exit == .failed && call.output.contains("reserved-column"))
        #expect(await store.call("query", "t", "--json").output == "[]\n")
        let changes = #"{"insert":{"table":"t","item":{"id":"a"}}}"# + "\n" + #"{"delete":{"table":"u","id":"x"}}"#
        #expect(await store.call("transaction", "-", input: changes).exit == .done)
        #expect(await store.call("pending", "--jsonl").output.split(separator: "\n").count == 2)
        #expect(await store.call("undo").exit == .done)
        let nothing = await store.call("undo", "--json")
        #expect(nothing.exit == .no && nothing.output.contains("operation-not-found"))
    }

    @Test func `the past is shown by any command that reads`() async throws {
        let store = try await Store()
        _ = await store.call("insert", "t", #"{"id":"a","n":1}"#)
        _ = await store.call("update", "t", #"{"id":"a","n":2}"#)
        #expect(await store.call("get", "t", "a", "--at", "@-2").exit == .done)
        let log = await store.call("log", "--kind", "local", "--jsonl").output.split(separator: "\n")
        try #require(log.count == 2)
        let first = try #require(log[0].firstMatch(of: /"address":"(@[0-9]+)"/)?.1)
        #expect(await store.call("get", "t", "a", "--at", String(first)).output == #"{"id":"a","n":1}"# + "\n")
        let diff = await store.call("diff", String(first), "--jsonl")
        #expect(diff.exit == .no && diff.output.contains(#""name":"n","before":1,"after":2"#))
        let blame = await store.call("blame", "t/a.n", "--jsonl").output
        #expect(blame.contains(#""field":"n","value":2"#) && blame.contains(#""cause":"local""#))
    }

    @Test func `a store with a list of tables refuses every other table`() async throws {
        let store = try await Store()
        _ = await store.call("insert", "old", #"{"id":"a"}"#)
        #expect(await store.call("config", "tables", "--json").output == #"{"tables":null}"# + "\n")
        let told = await store.call("config", "tables", "todoitem, list", "--json")
        #expect(told.output == #"{"tables":["todoitem","list"]}"# + "\n")
        #expect(await store.call("insert", "todoitem", #"{"id":"a"}"#).exit == .done)
        let before = await store.call("stats", "--json").output
        let calls = [
            ["insert", "other", #"{"id":"a"}"#], ["update", "other", #"{"id":"a"}"#], ["delete", "other", "a"],
            ["get", "old", "a"], ["query", "old"], ["purge", "old"], ["pull", "old"],
            ["cursors", "--reset", "old/q"], ["transaction", "-"], ["export", "--table", "old"],
        ]
        for words in calls {
            let call = await Call.tool(
                words: words + ["-s", store.path, "--json"], input: #"{"delete":{"table":"old","id":"a"}}"#)
            #expect(call.exit == .failed && call.output.contains("unknown-table"), "\(words): \(call.output)")
            #expect(call.output.contains("todoitem, list"), "\(words)")
        }
        #expect(await store.call("stats", "--json").output == before)
        #expect(await store.call("log", "--kind", "declared", "--jsonl").output.contains(#""strict":true"#))
        let wrong = await store.call("config", "tables", "a/b", "--json")
        #expect(wrong.exit == .failed && wrong.output.contains("invalid-configuration"))
        #expect(await store.call("config", "tables", "any").exit == .done)
        #expect(await store.call("get", "old", "a").exit == .done)
        _ = await store.call("config", "tables", "todoitem")
        #expect(await store.call("config", "tables", "").exit == .done)
        #expect(await store.call("insert", "other", #"{"id":"a"}"#).exit == .done)
    }

    @Test func `rows are exported in the formats of other programs, and imported again`() async throws {
        let store = try await Store()
        _ = await store.call("insert", "t", #"{"id":"a","text":"x, \"y\"","n":null}"#)
        #expect(await store.call("export", "--format", "csv").output == "id,text,n\na,\"x, \"\"y\"\"\",\n")
        #expect(await store.call("export", "--format", "sql").output.contains(#"VALUES ('a', 'x, "y"', NULL);"#))
        let rows = await store.call("export").output
        let other = try await Store()
        #expect(await other.call("import", input: rows).exit == .done)
        #expect(await other.call("export").output == rows)
        _ = await store.call("update", "t", #"{"id":"a","n":-5,"text":"=1+1"}"#)
        #expect(await store.call("export", "--format", "csv").output == "id,text,n\na,'=1+1,-5\n")
    }

    @Test func `the exported events of a store make an equal store`() async throws {
        let log = try TestLog.story()
        let events = await Call.tool("export", "--format", "events", on: log).output
        let folder = try TemporaryFolder()
        let copy = folder.path + "/copy"
        let made = await Call.tool("import", "-s", copy, "--json", input: events)
        #expect(made.exit == .done && made.output.contains(#""events":"@1.."#), "\(made.output)")
        for words in [
            ["log", "--jsonl"], ["export", "--format", "events"], ["export"], ["pending", "--json"],
            ["conflicts", "--json"], ["cursors", "--json"], ["blame", "todoitem/a", "--json"],
            ["inspect", "operations"], ["diff", "@1", "--json"],
        ] {
            let before = await Call.tool(words: words, on: log)
            let after = await Call.tool(words: words + ["-s", copy])
            #expect(after.output == before.output && after.exit == before.exit, "\(words)")
        }
        #expect(await Call.tool("verify", "--deep", "-s", copy).exit == .done)
        #expect(await Call.tool("diff", log.path, copy).exit == .done)
        #expect(await Call.tool("insert", "todoitem", #"{"id":"new"}"#, "-s", copy).exit == .done)
        let again = await Call.tool("import", "-s", copy, "--json", input: events)
        #expect(again.exit == .failed && again.output.contains(#""code":"store-exists""#))
    }

    @Test func `events with a wrong one among them are not imported`() async throws {
        let log = try TestLog.story()
        let lines = await Call.tool("export", "--format", "events", on: log).output.split(separator: "\n")
        let redacted = await Call.tool("export", "--format", "events", "--redact", on: log).output
        let folder = try TemporaryFolder()
        let broken = lines.dropLast() + [lines[lines.count - 1].replacing(#""record":""#, with: #""record":"AAAA"#)]
        for (input, what) in [
            (lines.dropFirst(), "@1 is missing"), (lines.prefix(5) + lines.dropFirst(6), "@6 is missing"),
            (redacted.split(separator: "\n")[...], "no `record`"), (broken[...], "line \(lines.count): "),
            // The answer to what was never sent.
            (lines.prefix(8) + [lines[9].replacing("@10", with: "@9")[...]], "line 9: "),
        ] {
            let call = await Call.tool(
                "import", "-s", folder.path + "/copy", "--json", input: input.joined(separator: "\n"))
            #expect(call.exit == .failed && call.output.contains("invalid-item") && call.output.contains(what))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty, "\(what)")
        }
    }
}
