// Sessions of a report: known capabilities of the server, other column names on the server, and ids compared without
// case.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct ReportSessionTests {
    private func rows(_ column: String, _ count: Int) -> [Value] {
        (0..<count).map { number in
            .object([.init("id", .string("r\(number)")), .init(column, .string("geheim\(number % 3)"))])
        }
    }

    /// Reports a store with each kind of mask, and runs each report again.
    private func expectSame(_ log: TestLog, sessions: Int) async throws {
        for flags in [["--no-mask"], [], ["--mask-ids", "--mask-names"]] {
            let file = log.folder.path + "/bug.jsonl"
            let made = await Call.tool(words: ["report", "-o", file, "--json"] + flags, on: log)
            #expect(try made.object()["sessions"] as? Int == sessions, "\(made.output) \(made.errors)")
            let again = await Call.tool("replay", file, "--json")
            #expect(again.exit == .done, "\(flags): \(again.output) \(again.errors)")
            if flags.first == "--no-mask" { continue }
            let shown = await Call.tool("export", "--format", "events", "--store", file)
            #expect(!shown.output.contains("geheim"), "\(flags)")
        }
    }

    @Test func `what a server was known to do when a command began is in the report`() async throws {
        var options = SimulatedServer.Options()
        (options.tellsChanges, options.takesBatches) = (true, true)
        let server = SimulatedServer(.datasync3, options: options)
        server.setTable("t", rows: rows("text", 5))
        let log = try TestLog(empty: ())
        #expect(await Call.tool("init", "--protocol", "datasync3", on: log).exit == .done)
        #expect(await Call.tool("config", "record", "8 MiB", on: log).exit == .done)
        let lines = """
            pull t --query-id q
            insert t '{"id":"a","text":"geheim"}'
            insert t '{"id":"b","text":"geheim"}'
            push
            pull t --query-id q
            sync t
            """
        let network = SimulatedNetwork(server)
        let shell = await Call.tool(words: ["shell"], on: log, input: lines + "\n", transport: network)
        #expect(shell.exit == .done, "\(shell.errors)")
        #expect(network.requests.contains { $0.path.hasSuffix("$batch") })
        try await expectSame(log, sessions: 4)
    }

    @Test func `columns with another name on the server, and renamed ones, are masked as one`() async throws {
        let server = SimulatedServer(.datasync3)
        server.setTable("t", rows: rows("note", 12), pageLimit: 5)
        let network = SimulatedNetwork(server)
        let log = try TestLog(empty: ())
        let schemas = [
            SyncSchema(version: 1, tables: [TableSchema("t", columns: [.column("text", onServer: "note")])]),
            SyncSchema(
                version: 2, tables: [TableSchema("t", columns: [.column("title", onServer: "note")])],
                migrations: [Migration(to: 2, steps: [.renameColumn(table: "t", from: "text", to: "title")])]),
        ]
        for (index, schema) in schemas.enumerated() {
            var configuration = SyncConfiguration()
            configuration.serverProtocol = .datasync3
            configuration.schema = schema
            try await SyncDatabase.open(at: log.path, configuration).close()
            _ = await Call.tool("config", "record", "8 MiB", on: log)
            let column = index == 0 ? "text" : "title"
            for words in [
                ["pull", "t", "--query-id", "q\(index)", "--filter", "\(column) ge 'geheim1'", "--page-size", "4"],
                ["update", "t", #"{"id":"r4","\#(column)":"geheim2"}"#], ["push"], ["sync", "t"],
            ] {
                let call = await Call.tool(words: words, on: log, transport: network)
                #expect(call.exit == .done, "\(words): \(call.errors)")
            }
        }
        try await expectSame(log, sessions: 6)
    }

    @Test func `the hold of a row is masked with its row`() async throws {
        let log = try TestLog(empty: ())
        let file = log.folder.path + "/bug.jsonl"
        for words in [
            ["init", "--ids", "ignore-case"], ["insert", "geheimtable", #"{"id":"GeheimA","n":1}"#],
            ["insert", "geheimtable", #"{"id":"geheimb","n":2}"#], ["hold", "geheimtable/GEHEIMA"],
            ["config", "retention", "1 events"], ["compact"], ["update", "geheimtable", #"{"id":"geheima","n":3}"#],
            ["hold", "geheimtable/geheimB"], ["release", "geheimtable/GEHEIMB"],
        ] {
            let call = await Call.tool(words: words, on: log)
            #expect(call.exit == .done, "\(words): \(call.errors)")
        }
        // One hold is in the state that the history begins with, another one in its events.
        #expect(try await Call.tool("log", "--json", on: log).array().first?["address"] as? String != "@1")
        for flags in [["--no-mask"], [], ["--mask-ids"], ["--mask-ids", "--mask-names"]] {
            #expect(await Call.tool(words: ["report", "-o", file] + flags, on: log).exit == .done)
            let pending = try await Call.tool("pending", "--json", "-s", file).array()
            #expect(pending.map { $0["state"] as? String } == ["held", "pending"], "\(flags)")
            let held = try await Call.tool("hold", "--json", "-s", file).array()
            #expect(held.count == 1 && held[0]["id"] as? String == pending[0]["id"] as? String, "\(flags)")
            #expect(await Call.tool("verify", "-s", file).exit == .done)
            guard flags.count == 2 else { continue }
            let all = await Call.tool("export", "--format", "events", "-s", file).output
            let shown = try all.split(separator: "\n").map { line -> String in
                let value = try Value(json: line.utf8)
                let coded = ["record", "entries"].compactMap { name -> String? in
                    if case .string(let text)? = value[member: name] { text } else { nil }
                }
                return line + coded.map { String(decoding: Base64.decode($0) ?? [], as: UTF8.self) }.joined()
            }
            #expect(!shown.contains { $0.lowercased().contains("geheim") })
        }
    }

    @Test func `ids that are compared without case are masked so`() async throws {
        var options = SimulatedServer.Options()
        options.ignoresCase = true
        let server = SimulatedServer(.zumo2, options: options)
        server.setTable("t", rows: rows("text", 8), pageLimit: 3)
        let network = SimulatedNetwork(server)
        let log = try TestLog(empty: ())
        for words in [
            ["init", "--ids", "ignore-case"], ["config", "record", "8 MiB"],
            ["insert", "t", #"{"id":"NEW","text":"geheim"}"#], ["pull", "t", "--query-id", "q"],
            ["update", "t", #"{"id":"R3","text":"geheim7"}"#], ["push"], ["delete", "t", "New"], ["sync", "t"],
        ] {
            let call = await Call.tool(words: words, on: log, transport: network)
            #expect(call.exit == .done, "\(words): \(call.errors)")
        }
        try await expectSame(log, sessions: 3)
    }
}
