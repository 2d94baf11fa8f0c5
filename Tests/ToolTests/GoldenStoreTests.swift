// Stores that released versions wrote, kept as files: each opens, has the rows and the state that it had, and takes
// changes. A directory never changes once its version is released; a new version adds its own.
// SYNCLINE_WRITE_GOLDEN=1 writes the missing ones of this version.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import SynclineTool

@Suite struct GoldenStoreTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "GoldenStores")
    private static let expected = "expected.jsonl"

    /// With every event, and the same after old history was removed, whose rows are in a checkpoint only.
    private static let names = [synclineVersion, synclineVersion + "-compacted"]

    @Test func `every golden store has the state it had when it was written`() async throws {
        if ProcessInfo.processInfo.environment["SYNCLINE_WRITE_GOLDEN"] == "1" { try await Self.writeMissing() }
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.directory.path).sorted()
        #expect(Set(names).isSuperset(of: Self.names), "SYNCLINE_WRITE_GOLDEN=1 writes the stores of this version")
        for name in names {
            let golden = Self.directory.appending(path: name)
            let log = try TestLog(empty: ())
            try FileManager.default.copyItem(atPath: golden.path, toPath: log.path)
            try FileManager.default.removeItem(at: log.url(Self.expected))
            let expectation = golden.appending(path: Self.expected).path
            let replay = await Call.tool("replay", "--expect", expectation, on: log)
            #expect(replay.exit == .done, "\(name): \(replay.output) \(replay.errors)")
            let verify = await Call.tool("verify", on: log)
            #expect(verify.exit == .done, "\(name): \(verify.output) \(verify.errors)")
            // An app of this version takes it over.
            let rows = try await Call.tool("query", "note", "--json", on: log).array().count
            #expect(rows > 2)
            let database = try await SyncDatabase.open(at: log.path, Self.configuration(version: 2))
            try await database.rows(of: "note").insert(["id": "later", "title": "of a later version"])
            try await database.checkpoint()
            try await database.close()
            #expect(try await Call.tool("query", "note", "--json", on: log).array().count == rows + 1, "\(name)")
            #expect(await Call.tool("verify", on: log).exit == .done, "\(name)")
        }
    }

    @Test func `the golden stores of this version have every kind of event`() async throws {
        var kinds: Set<String> = []
        for log in [try await Self.whole(), try await Self.compacted()] {
            kinds.formUnion(try await Call.tool("log", "--json", on: log).array().compactMap { $0["kind"] as? String })
        }
        #expect(kinds == Set(EventKind.causes), "without: \(Set(EventKind.causes).subtracting(kinds))")
    }

    private static func configuration(version: Int) -> SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.log.zeroAhead = .bytes(0)
        let columns = version == 1 ? "text" : "title"
        configuration.schema = SyncSchema(
            version: UInt32(version),
            tables: [TableSchema("note", columns: [.column(columns, onServer: "text"), .column("price", .decimal)])],
            migrations: version == 1
                ? [] : [Migration(to: 2, steps: [.renameColumn(table: "note", from: "text", to: "title")])])
        return configuration
    }

    private static func whole() async throws -> TestLog {
        let log = try TestLog(empty: ())
        let server = SimulatedServer(.datasync3)
        let rows: [Value] = (0..<5).map {
            .object([
                .init("id", .string("r\($0)")), .init("text", .string("milk \($0)")), .init("price", .integer($0)),
            ])
        }
        server.setTable("note", rows: rows, pageLimit: 2)
        let network = SimulatedNetwork(server)
        func call(_ words: String..., exit: ExitCode = .done) async {
            let call = await Call.tool(words: words, on: log, transport: network)
            #expect(call.exit == exit, "\(words): \(call.output) \(call.errors)")
        }
        await call("init", "--backend", "http://127.0.0.1:9", "--protocol", "datasync3")
        let first = try await SyncDatabase.open(at: log.path, configuration(version: 1))
        try await first.declareIndex(table: "note", column: "price")
        try await first.close()
        await call("pull", "note", "--query-id", "all")
        await call("insert", "note", #"{"id":"a","text":"bread","price":"19.99"}"#)
        // A failing operation, and others that a working server takes.
        network.script([.answer(status: 500)])
        await call("push", "--retries", "0", exit: .failed)
        await call("update", "note", #"{"id":"r1","text":"oat milk"}"#)
        await call("push")
        // A conflict that is resolved, one that waits, one that is dropped, and a change that was undone and redone.
        for (id, text) in [("r2", "mine"), ("r3", "waits"), ("r4", "dropped")] {
            server.upsert([.object([.init("id", .string(id)), .init("text", .string("of the server"))])], in: "note")
            await call("update", "note", #"{"id":"\#(id)","text":"\#(text)"}"#)
        }
        await call("push", exit: .no)
        await call("resolve", "note/r2", "--keep-mine")
        await call("drop", "note/r4")
        await call("delete", "note", "r0")
        for word in ["undo", "redo", "undo"] { await call(word) }
        let second = try await SyncDatabase.open(at: log.path, configuration(version: 2))
        try await second.resetCursor(table: "note", queryID: "all")
        try await second.close()
        await call("config", "columns", "other", "at:date")
        await call("insert", "other", #"{"id":"x","at":"2026-05-19T21:30:00+02:00","list":[1,2.5,{"y":null}]}"#)
        await call("purge", "other", "--force")
        await call("resync", "note")
        await call("insert", "note", #"{"id":"p","title":"pending","price":"-0.10"}"#)
        await call("update", "note", #"{"id":"p","title":"undone"}"#)
        await call("undo")
        return log
    }

    /// The same store after a compaction that keeps little.
    private static func compacted() async throws -> TestLog {
        let log = try await whole()
        let writer = try log.open()
        try writer.roll()
        try writer.close()
        #expect(await Call.tool("config", "retention", "1 events", on: log).exit == .done)
        for id in ["q", "undone"] {
            #expect(await Call.tool("insert", "note", #"{"id":"\#(id)","title":"after"}"#, on: log).exit == .done)
        }
        #expect(await Call.tool("undo", on: log).exit == .done)
        let compaction = await Call.tool("compact", "--json", on: log)
        #expect(try compaction.object()["firstEvent"] as? String != "@1", "\(compaction.output)")
        return log
    }

    private static func writeMissing() async throws {
        for (name, log) in zip(names, [try await whole(), try await compacted()]) {
            let golden = directory.appending(path: name)
            guard !FileManager.default.fileExists(atPath: golden.path) else { continue }
            try FileManager.default.createDirectory(at: golden, withIntermediateDirectories: true)
            let expectation = golden.appending(path: expected).path
            #expect(await Call.tool("replay", "--write-expected", expectation, on: log).exit == .done)
            for file in try FileManager.default.contentsOfDirectory(atPath: log.path)
            where ["seg", "checkpoint"].contains(URL(filePath: file).pathExtension) || file == "HEAD" {
                var bytes = try Data(contentsOf: log.url(file))
                // Without the zeros ahead.
                if file.hasSuffix(".seg"), let last = bytes.lastIndex(where: { $0 != 0 }) {
                    bytes.removeSubrange((last / 8 * 8 + 8)...)
                }
                try bytes.write(to: golden.appending(path: file))
            }
        }
    }
}
