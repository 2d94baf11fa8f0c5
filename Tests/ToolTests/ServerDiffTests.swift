// `diff server`: a store compared with a simulated server, over more rows than a page has.

import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct ServerDiffTests {
    private static func row(_ number: Int, _ text: String) -> Value {
        .object([.init("id", .string("r\(number)")), .init("text", .string(text))])
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a store is compared with its server`(speaking: ServerProtocol) async throws {
        let folder = try TemporaryFolder()
        let server = SimulatedServer(speaking)
        server.setTable("t", rows: (0..<120).map { Self.row($0, "milk") }, pageLimit: 50)
        let network = SimulatedNetwork(server)
        func call(_ words: String...) async -> Call {
            await Call.tool(words: words + ["-s", folder.path + "/store"], transport: network)
        }
        _ = await call("init", "--backend", "http://127.0.0.1:9", "--protocol", speaking.rawValue)
        #expect(await call("pull", "t").exit == .done)
        let same = await call("diff", "server", "--json")
        #expect(same.exit == .done && same.output == "[]\n", "\(same.output)")

        server.upsert([Self.row(7, "bread")], in: "t")
        server.remove(["r110"], from: "t")
        #expect(await call("update", "t", #"{"id":"r3","text":"oat milk"}"#).exit == .done)
        #expect(await call("insert", "t", #"{"id":"new","text":"salt"}"#).exit == .done)
        #expect(await call("delete", "t", "r5").exit == .done)
        let before = await call("log", "--json").output
        let other = await call("diff", "server", "--json")
        #expect(other.exit == .no)
        let changes = try other.array().map { "\($0["change"] ?? "") \($0["id"] ?? "")" }
        #expect(Set(changes) == ["changed r3", "removed r5", "changed r7", "added r110", "added new"])
        #expect(other.output.contains("bread") && other.output.contains("oat milk"))
        let stat = await call("diff", "server", "--stat").output
        #expect(
            stat == "2 added, 1 removed, 2 changed\n3 changed here, not pushed\n2 changed on the server, not pulled\n")
        // At the beginning nothing was there, not even the address of the server.
        let empty = await call("diff", "server", "@1", "--table", "t", "--stat")
        #expect(
            empty.output == "0 added, 119 removed, 0 changed\n119 changed on the server, not pulled\n",
            "\(empty.output)")
        #expect(await call("log", "--json").output == before, "a comparison wrote")

        let own = try await call("diff", "server", "--cause", "own", "--json").array()
        #expect(Set(own.map { $0["id"] as? String }) == ["r3", "r5", "new"])
        #expect(Set(own.map { $0["cause"] as? String }) == ["own"])
        #expect(await call("diff", "@1", "--cause", "own").exit == .usage)

        network.setOffline(true)
        let offline = await call("diff", "server", "--json")
        #expect(offline.exit == .failed && offline.output.contains(#""code":"offline""#), "\(offline.output)")
    }

    @Test func `each difference has a cause, in both directions`() async throws {
        let folder = try TemporaryFolder()
        let server = SimulatedServer(.zumo2)
        server.setTable("t", rows: (0..<8).map { Self.row($0, $0 == 7 ? "bread" : "milk") }, pageLimit: 50)
        let network = SimulatedNetwork(server)
        func call(_ words: String...) async -> Call {
            await Call.tool(words: words + ["-s", folder.path + "/store"], transport: network)
        }
        func causes(_ words: String...) async throws -> [String: String] {
            let found = try await Call.tool(
                words: ["diff"] + words + ["--json", "-s", folder.path + "/store"], transport: network
            ).array()
            return Dictionary(uniqueKeysWithValues: found.map { ("\($0["id"] ?? "")", "\($0["cause"] ?? "")") })
        }
        _ = await call("init", "--backend", "http://127.0.0.1:9")
        #expect(await call("pull", "t", "--query-id", "q", "--filter", "text eq 'milk'").exit == .done)
        #expect(try await causes("server") == ["r7": "outside"])

        _ = await call("update", "t", #"{"id":"r1","text":"rye"}"#)
        _ = await call("update", "t", #"{"id":"r2","text":"rye"}"#)
        _ = await call("delete", "t", "r3")
        _ = await call("delete", "t", "r4")
        _ = await call("insert", "t", #"{"id":"new","text":"figs"}"#)
        _ = await call("insert", "t", #"{"id":"r8","text":"mine"}"#)
        server.upsert([Self.row(2, "oats"), Self.row(4, "oats"), Self.row(8, "theirs"), Self.row(9, "milk")], in: "t")
        server.remove(["r5"], from: "t")
        let expected = [
            "r1": "own", "r2": "both", "r3": "own", "r4": "both", "new": "own", "r8": "both", "r9": "server",
            "r5": "server", "r7": "outside",
        ]
        #expect(try await causes("server") == expected)
        #expect(try await causes("@-1", "server") == expected)
        let text = await call("diff", "server", "--cause", "both").output
        #expect(text.contains("changed t/r2  changed here and on the server\n"), "\(text)")
        // A query of all rows leaves no row outside.
        #expect(await call("pull", "t", "--query-id", "all", "--no-push").exit == .done)
        #expect(try await causes("server", "--cause", "outside").isEmpty)
    }
}
