// The events of one row (`log TABLE/ID`), rows with strange ids, and `redo`.

import Foundation
import SegmentLog
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct RowLogTests {
    private func numbers(_ call: Call) throws -> [String] {
        try call.array().compactMap { $0["address"] as? String }
    }

    @Test func `a row's events are those that concern it, reduced to it`() async throws {
        let log = try TestLog.story()
        func events(_ words: String...) async throws -> [String] {
            try numbers(await Call.tool(words: ["log", "--json"] + words, on: log))
        }
        #expect(try await events("todoitem/a") == ["@4", "@5", "@6", "@11", "@12", "@13", "@14", "@15"])
        // An undo of a change of the row is an event of the row.
        #expect(try await events("todoitem/b") == ["@4", "@7", "@8", "@16", "@17"])
        #expect(try await events("todoitem/b", "--since", "@8", "-n", "2") == ["@16", "@17"])
        #expect(try await events("--row", "todoitem/b", "@8..16") == ["@8", "@16"])
        #expect(try await events("todoitem/a", "--kind", "answer") == ["@12", "@15"])
        let text = await Call.tool("log", "todoitem/c", on: log)
        #expect(text.output.contains(#"insert {"text":"salt","n":3}"#) && !text.output.contains("oat milk"))
        let page = await Call.tool("log", "todoitem/b", "--at", "@4", on: log)
        #expect(page.output.contains(#"the server's row: {"text":"bread","n":2}"#) && !page.output.contains("milk"))
        let hidden = await Call.tool("log", "todoitem/a", "--redact", "--json", on: log)
        #expect(!hidden.output.contains("milk") && hidden.output.contains("text(8)"))
    }

    @Test func `a row without events is a no, and a near one is named`() async throws {
        let log = try TestLog.story()
        #expect(await Call.tool("log", "todoitem/x", on: log).exit == .no)
        let near = await Call.tool("log", "todoitm/a", on: log, isTerminal: true)
        #expect(near.exit == .no && near.errors.contains("todoitem/a"), "\(near.errors)")
        #expect(await Call.tool("log", "todoitem/a@4", on: log).exit == .usage)
        #expect(await Call.tool("log", "--row", "todoitem", on: log).exit == .usage)
        #expect(await Call.tool("log", "--row", "t/a", "--table", "t", on: log).exit == .usage)
    }

    @Test func `a lost right is named in every view of the row's history`() async throws {
        let rows = ["b", "c"].map { PulledRow(id: $0, row: nil, hasLeft: true, isByRight: true) }
        let lost = Event.Body.page(PulledPage(table: "todoitem", queryID: "all", rows: rows, cursor: nil))
        let log = try TestLog.story { $0 == 16 ? lost : nil }
        func output(_ words: String...) async -> String { await Call.tool(words: words, on: log).output }
        #expect(await output("log", "todoitem/c").contains("the right to it was lost"))
        #expect(await output("log", "--at", "@17").contains("the right to 2 lost"))
        #expect(await output("show", "@17", "--json").contains(#"{"id":"c","left":"right"}"#))
        #expect(await output("why", "todoitem/c").contains("found at @17"))
        #expect(await output("why", "todoitem/b").contains("because the right to the row was lost at @17."))
        #expect(await output("why", "todoitem/b", "--json").contains(#""lostRight":"@17""#))
        #expect(await output("conflicts").contains("The right to the row was lost."))
        #expect(await output("conflicts", "--json").contains(#""code":"right-lost""#))
        #expect(await output("pending").contains("conflict"))
        let blame = await Call.tool("blame", "todoitem/c", on: log, isTerminal: true)
        #expect(blame.exit == .no && blame.errors.contains("The right to the row was lost at @17."))
    }

    @Test(arguments: [
        "a@4", "a@-1", "x@2026-05-19T21:30Z", "it's", "a b", "ünï/cödé", "--at", "-n", "~1", "@41", "a'or'1",
        "\u{202e}abc",
    ])
    func `a row with a strange id can be reached`(id: String) async throws {
        let folder = try TemporaryFolder()
        let store = folder.path + "/store"
        _ = await Call.tool("init", "-s", store)
        let item = Value.object([.init("id", .string(id)), .init("n", .integer(7))]).json
        // Some are no ids for a server, and are refused.
        guard await Call.tool("insert", "t", item, "-s", store).exit == .done else { return }
        let row = await Call.tool("get", "-s", store, "--", "t", id)
        #expect(row.exit == .done && row.output.contains(#""n":7"#), "\(row.errors)")
        let log = await Call.tool("log", "--row", "t/\(id)", "--json", "-s", store)
        #expect(try log.exit == .done && log.array().count == 1, "\(log.errors)")
    }

    @Test func `an address means a row, and a moment after it`() async throws {
        let log = try TestLog.story()
        #expect(await Call.tool("get", "todoitem/a@4", on: log).output.contains(#""milk""#))
        #expect(
            await Call.tool("get", "todoitem/a", on: log).output == Call.tool("get", "todoitem", "a", on: log).output)
        #expect(await Call.tool("get", "todoitem", on: log).exit == .usage)
    }
}

@Suite struct RedoCommandTests {
    private let folder: TemporaryFolder
    private var store: String { folder.path + "/store" }

    init() throws { folder = try TemporaryFolder() }

    private func call(_ words: String..., input: String = "") async -> Call {
        await Call.tool(words: words + ["-s", store], input: input)
    }

    private func rows() async -> String { await call("query", "t", "--json").output }

    @Test func `what another call undid is made again`() async throws {
        _ = await call("init")
        _ = await call("insert", "t", #"{"id":"a","n":1,"text":"milk"}"#)
        _ = await call("insert", "t", #"{"id":"b","n":1}"#)
        let lines = [
            #"{"update":{"table":"t","item":{"id":"a","n":2,"extra":null,"done":true}}}"#,
            #"{"delete":{"table":"t","id":"b"}}"#, #"{"insert":{"table":"t","item":{"id":"c","n":3}}}"#,
        ]
        #expect(await call("transaction", "-", input: lines.joined(separator: "\n")).exit == .done)
        let done = await rows()
        #expect(await call("undo").exit == .done)
        #expect(await rows() != done)
        let redo = await call("redo", "--json")
        #expect(redo.exit == .done && redo.output.contains(#"{"events":"@"#), "\(redo.output)")
        #expect(await rows() == done)
        // The redo is a transaction of its own, which an undo takes back.
        #expect(await call("redo").exit == .no)
        #expect(await call("undo").exit == .done)
        #expect(await call("redo").exit == .done)
        #expect(await rows() == done)
    }

    @Test func `a change ends it, and so does an empty store`() async throws {
        _ = await call("init")
        #expect(await call("redo").exit == .no)
        _ = await call("insert", "t", #"{"id":"a","n":1}"#)
        #expect(await call("redo").exit == .no)
        _ = await call("undo")
        _ = await call("insert", "t", #"{"id":"b","n":1}"#)
        let before = await rows()
        let refused = await call("redo", "--json")
        #expect(refused.exit == .no && refused.output.contains("nothing to redo"))
        #expect(await rows() == before)
    }

    @Test func `a shell makes all again, one after the other`() async throws {
        _ = await call("init")
        let lines = [
            "insert t '{\"id\":\"a\",\"n\":1}'", "update t '{\"id\":\"a\",\"n\":2}'", "undo", "undo", "redo", "redo",
        ]
        #expect(await call("shell", input: lines.joined(separator: "\n") + "\n").exit == .done)
        #expect(await rows() == "[\n{\"id\":\"a\",\"n\":2}\n]\n")
    }
}
