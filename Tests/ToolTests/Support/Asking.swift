// Questions of an assistant, asked in process through `syncline mcp`.

import Foundation
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineTool

/// A store, its server, and an assistant that asks about it.
struct Asking {
    let log: TestLog
    let server: SimulatedServer
    let network: SimulatedNetwork
    /// Options of `mcp`.
    var options: [String] = []

    /// An answer, and the question that its last line names.
    struct Answer {
        var text: String
        var isError: Bool
        var next: (question: String, arguments: [String: String])
    }

    init(_ serverProtocol: ServerProtocol = .zumo2, _ serverOptions: SimulatedServer.Options = .init()) throws {
        log = try TestLog(empty: ())
        server = SimulatedServer(serverProtocol, options: serverOptions)
        network = SimulatedNetwork(server)
    }

    /// Runs the tool with the server.
    @discardableResult func call(_ words: String...) async -> Call {
        await Call.tool(words: words, on: log, transport: network)
    }

    /// Beside all other tests a question may wait long for its turn.
    static let seconds = 3600

    /// An assistant that is asked more than once.
    func assistant(isMasked: Bool = false, seconds: Int = Asking.seconds) -> Assistant {
        let host = Host(
            environment: Environment(), output: MemorySink(), errors: MemorySink(), input: MemoryLines(),
            clock: log.clock)
        return Assistant(host, store: ["--store", log.path], writes: false, isMasked: isMasked, seconds: seconds)
    }

    func text(of assistant: Assistant, _ question: String, _ arguments: KeyValuePairs<String, String>) async -> String {
        let call = AssistantProtocol.Call(
            id: .null, question: question, arguments: arguments.map { .init(key: $0.key, value: .string($0.value)) })
        return await assistant.answer(call)["result"]?["content"]?.elements.first?["text"]?.string ?? ""
    }

    /// Passes lines to `mcp`, and returns the messages that it writes.
    func messages(_ lines: [String], on store: TestLog? = nil) async throws -> [Value] {
        let call = await Call.tool(
            words: ["mcp", "--seconds", "\(Asking.seconds)"] + options, on: store ?? log,
            input: lines.joined(separator: "\n") + "\n", transport: network)
        #expect(call.exit == .done && call.errors.isEmpty, "\(call.errors)")
        return try call.output.split(separator: "\n").map { try Value(json: $0.utf8) }
    }

    /// Asks one question; each answer keeps the promises that all answers keep.
    func ask(_ question: String, _ arguments: [String: String] = [:]) async throws -> Answer {
        let line: JSONValue = [
            "jsonrpc": "2.0", "id": .number(1), "method": "tools/call",
            "params": [
                "name": .string(question),
                "arguments": .object(arguments.map { .init(key: $0.key, value: .string($0.value)) }),
            ],
        ]
        let answers = try await messages([line.text])
        let result = try #require(answers.first?[member: "result"], "\(answers.map(\.json))")
        guard case .array(let content)? = result[member: "content"],
            case .string(let text)? = content.first?[member: "text"],
            case .bool(let isError)? = result[member: "isError"]
        else { throw ToolError("no-answer", result.json) }
        #expect(text.utf8.count <= 2048 && !text.unicodeScalars.contains { $0 != "\n" && $0.value < 0x20 })
        let last = try #require(text.split(separator: "\n").last)
        let match = try #require(last.wholeMatch(of: /next: ([a-z]+) (\{.*\})/), "\(text)")
        var next: [String: String] = [:]
        if case .object(let members) = try Value(json: match.2.utf8) {
            for member in members {
                if case .string(let text) = member.value { next[member.name] = text }
            }
        }
        return Answer(text: text, isError: isError, next: (String(match.1), next))
    }
}
