// An incident: a store that went wrong in a known way, the question that a person begins with, and the words of the right
// cause.

import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineTool

struct Incident: Sendable, CustomTestStringConvertible {
    var name: String
    /// The first question; the second is the one that its answer names.
    var question: String
    var arguments: [String: String]
    /// What one of the two answers must say.
    var cause: String
    var speaks = ServerProtocol.zumo2
    var options = SimulatedServer.Options()
    var make: @Sendable (Asking) async throws -> Void

    init(
        _ name: String, _ question: String, _ arguments: [String: String] = [:], says cause: String,
        speaks: ServerProtocol = .zumo2, options: SimulatedServer.Options = .init(),
        make: @escaping @Sendable (Asking) async throws -> Void
    ) {
        (self.name, self.question, self.arguments, self.cause) = (name, question, arguments, cause)
        (self.speaks, self.options, self.make) = (speaks, options, make)
    }

    var testDescription: String { name }

    static let all = pushes + pulls + changes + files + histories
}

extension Asking {
    static func row(_ id: String, _ text: String, n: Int64 = 1) -> Value {
        .object([.init("id", .string(id)), .init("text", .string(text)), .init("n", .integer(n))])
    }

    /// A store that has pulled four rows.
    func begin() async {
        server.setTable("t", rows: ["a", "b", "c", "d"].map { Self.row($0, "milk") }, pageLimit: 3)
        await call("init", "--backend", "http://127.0.0.1:9", "--protocol", server.serverProtocol.rawValue)
        await call("pull", "t", "--query-id", "sync")
    }

    /// The same with a pending change of `a`.
    func beginChange() async {
        await begin()
        await change("a", "oats")
    }

    func change(_ id: String, _ text: String) async {
        await call("update", "t", Value.object([.init("id", .string(id)), .init("text", .string(text))]).json)
    }

    /// A push that meets faults.
    func push(_ faults: NetworkFault?..., policy: String = "fail") async {
        network.script(faults)
        await call("push", "--retries", "0", "--policy", policy)
        network.script([])
    }

    func pull(_ words: String...) async {
        _ = await Call.tool(
            words: ["pull", "t"] + (words.isEmpty ? ["--query-id", "sync"] : words), on: log, transport: network)
    }
}
