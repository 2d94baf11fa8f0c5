// `pull --dry-run` and `sync --dry-run`: they say what a sync would do, and store nothing.

import Foundation
import Syncline
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct DryRunTests {
    private let folder: TemporaryFolder
    private let server: SimulatedServer
    private let network: SimulatedNetwork
    private var store: String { folder.path + "/store" }

    init() throws {
        folder = try TemporaryFolder()
        server = SimulatedServer(.zumo2)
        server.setTable("t", rows: ["a", "b", "c", "d"].map { Self.row($0, "milk") }, pageLimit: 3)
        network = SimulatedNetwork(server)
    }

    private static func row(_ id: String, _ text: String) -> Value {
        .object([.init("id", .string(id)), .init("text", .string(text))])
    }

    private func call(_ words: String...) async -> Call {
        await Call.tool(words: words + ["-s", store], transport: network)
    }

    /// A store that has pulled four rows; then the server changes and both sides change `b`.
    private func begin() async throws {
        _ = await call("init", "--backend", "http://127.0.0.1:9")
        #expect(await call("pull", "t", "--query-id", "sync").exit == .done)
        server.upsert([Self.row("a", "bread"), Self.row("b", "oats"), Self.row("e", "salt")], in: "t")
        _ = await call("update", "t", #"{"id":"b","text":"rye"}"#)
        _ = await call("insert", "t", #"{"id":"f","text":"figs"}"#)
    }

    @Test func `a dry sync tells what the sync then does, and stores nothing`() async throws {
        try await begin()
        let before = try folderBytes(store)
        let rows = server.rows(of: "t").count
        let dry = await call("sync", "--dry-run")
        #expect(dry.exit == .done && dry.errors.isEmpty, "\(dry.output)\(dry.errors)")
        #expect(dry.output.contains("insert t/f: pending\n  POST /tables/t\n"), "\(dry.output)")
        for line in [
            "changed t/a\n  text: \"milk\" → \"bread\"", "added t/e\n",
            "conflict t/b: The row was changed here and on the server.\n  text: mine \"rye\", the server's \"oats\"",
        ] {
            #expect(dry.output.contains(line), "\(dry.output)")
        }
        let json = try await call("sync", "--dry-run", "--json").object()
        #expect(try folderBytes(store) == before, "a dry run wrote")
        #expect(server.rows(of: "t").count == rows, "a dry run sent something")

        let found = try #require(json["conflictRows"] as? [[String: Any]])
        #expect(found.map { $0["id"] as? String } == ["b"])
        let pulls = try #require(json["pulls"] as? [[String: Any]])
        #expect(pulls.map { $0["changed"] as? Int } == [3])
        let changed = (json["rows"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
        #expect(Set(changed) == ["a", "e"])

        // The real one agrees.
        #expect(await call("sync").exit == .no)
        let conflicts = try await call("conflicts", "--json").array()
        #expect(conflicts.map { $0["id"] as? String } == ["b"])
        #expect(await call("get", "t", "a").output.contains("bread"))
        #expect(await call("get", "t", "e").exit == .done)
        #expect(await call("resolve", "t/b", "--take-server").exit == .done)
        #expect(await call("sync").exit == .done)
        #expect(await call("sync", "--dry-run").output.hasSuffix("0 conflicts\nnothing would change\n"))
    }

    @Test func `a dry pull says whether a push would come first`() async throws {
        try await begin()
        let before = try folderBytes(store)
        let first = try await call("pull", "t", "--query-id", "sync", "--dry-run", "--json").object()
        #expect(((first["push"] as? [String: Any])?["operations"] as? [Any])?.count == 2)
        let alone = try await call("pull", "t", "--query-id", "sync", "--no-push", "--dry-run", "--json").object()
        #expect(alone["push"] is NSNull)
        let filtered = try await call("pull", "t", "--filter", "text eq 'salt'", "--dry-run", "--json").object()
        #expect((filtered["rows"] as? [[String: Any]])?.map { $0["id"] as? String } == ["e"])
        #expect(try folderBytes(store) == before)
    }

    @Test func `it works while another process has the store open`() async throws {
        try await begin()
        let database = try await SyncDatabase.open(at: store)
        try await database.rows(of: "t").insert(Self.row("g", "grapes"))
        #expect(await call("sync", "--dry-run").output.contains("insert t/g: pending"))
        try await database.close()
    }

    @Test func `an unreachable server stops it, and it changes nothing`() async throws {
        try await begin()
        let before = try folderBytes(store)
        network.setOffline(true)
        let dry = await call("sync", "--dry-run", "--retries", "0", "--json")
        #expect(dry.exit == .failed && dry.output.contains(#""outcome":"stopped","reason":"offline""#))
        #expect(try folderBytes(store) == before)
        _ = await Call.tool("init", "-s", folder.path + "/bare")
        let bare = await Call.tool("sync", "t", "--dry-run", "--json", "-s", folder.path + "/bare")
        #expect(bare.exit == .failed && bare.output.contains("invalid-configuration"), "\(bare.output)")
        let empty = await Call.tool("sync", "--dry-run", "--json", "-s", folder.path + "/bare")
        #expect(empty.exit == .failed && empty.output == bare.output, "\(empty.output)")
        #expect(await call("sync", "--dry-run", "--watch").exit == .usage)
        #expect(await call("pull", "nowhere", "--dry-run", "--query-id", "q").errors.contains("no table nowhere"))
    }

    @Test func `it is refused where a sync is`() async throws {
        try await begin()
        #expect(await call("branch", "create", "draft").exit == .done)
        let real = await call("sync", "--branch", "draft", "--json")
        let dry = await call("sync", "--dry-run", "--branch", "draft", "--json")
        #expect(real.exit == .failed && dry.exit == real.exit && dry.output == real.output, "\(dry.output)")
        _ = await call("config", "columns", "t", "text:integer")
        let before = try folderBytes(store)
        let unfit = await call("pull", "t", "--query-id", "other", "--top", "1", "--dry-run", "--json")
        #expect(unfit.exit == .failed && unfit.output.contains("invalid-query"), "\(unfit.output)")
        #expect(await call("pull", "t", "--query-id", "sync", "--filter", "text eq 1", "--dry-run").exit == .failed)
        #expect(try folderBytes(store) == before)
    }

    @Test func `a push knows the conflicts that the last pull implies`() async throws {
        try await begin()
        // The insert was sent and its answer lost; then a pull brings another row under its id.
        network.setOffline(true)
        _ = await call("push", "--retries", "0")
        network.setOffline(false)
        server.upsert([Self.row("f", "theirs"), Self.row("b", "spelt")], in: "t")
        #expect(await call("pull", "t", "--query-id", "sync", "--no-push").exit == .done)
        let before = try folderBytes(store)
        let preview = try await call("push", "--dry-run", "--json").object()
        let expected = (preview["operations"] as? [[String: Any]] ?? []).map { $0["expects"] as? String }
        #expect(expected.contains("conflict"), "\(preview)")
        #expect(try folderBytes(store) == before)
    }
}
