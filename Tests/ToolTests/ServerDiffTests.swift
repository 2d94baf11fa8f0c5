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
        #expect(await call("diff", "server", "--stat").output == "2 added, 1 removed, 2 changed\n")
        // At the beginning nothing was there, not even the address of the server.
        let empty = await call("diff", "server", "@1", "--table", "t", "--stat")
        #expect(empty.output == "0 added, 119 removed, 0 changed\n", "\(empty.output)")
        #expect(await call("log", "--json").output == before, "a comparison wrote")

        network.setOffline(true)
        let offline = await call("diff", "server", "--json")
        #expect(offline.exit == .failed && offline.output.contains(#""code":"offline""#), "\(offline.output)")
    }
}
