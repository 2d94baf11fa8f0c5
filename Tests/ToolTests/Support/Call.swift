// A command called in process, with its own environment.

import Foundation
import SegmentLog
import SynclineWire

@testable import SynclineTool

struct Call {
    var exit: ExitCode
    var output: String
    var errors: String

    /// Calls the tool on a log; the output has `<log>` in place of the log's path.
    static func tool(
        _ words: String..., on log: TestLog? = nil, input: String = "", isTerminal: Bool = false, width: Int = 80,
        variables: [String: String] = [:], directory: String = "/", outputLimit: Int = .max,
        interrupt: Interrupt = Interrupt()
    ) async -> Call {
        await tool(
            words: words, on: log, input: input, isTerminal: isTerminal, width: width, variables: variables,
            directory: directory, outputLimit: outputLimit, interrupt: interrupt)
    }

    static func tool(
        words: [String], on log: TestLog? = nil, input: String = "", isTerminal: Bool = false, width: Int = 80,
        variables: [String: String] = [:], directory: String = "/", outputLimit: Int = .max,
        interrupt: Interrupt = Interrupt(), transport: (any HTTPTransport)? = nil
    ) async -> Call {
        let output = MemorySink(limit: outputLimit)
        let errors = MemorySink()
        var variables = variables
        if let log { variables["SYNCLINE_STORE"] = log.path }
        var host = Host(
            environment: Environment(
                variables: variables, directory: directory, outputIsTerminal: isTerminal, errorsAreTerminal: isTerminal,
                width: width),
            output: output, errors: errors, input: MemoryLines(input), clock: log?.clock ?? SteppingClock(),
            interrupt: interrupt)
        host.transport = transport
        // No time passes, so a slow machine does not show progress.
        let now = ContinuousClock.now
        host.now = { now }
        let exit = await Tool(host).run(words)
        func hidden(_ text: String) -> String {
            log.map { text.replacingOccurrences(of: $0.path, with: "<log>") } ?? text
        }
        return Call(exit: exit, output: hidden(output.text), errors: hidden(errors.text))
    }

    /// The output as JSON.
    func json() throws -> Any {
        try JSONSerialization.jsonObject(with: Data(output.utf8), options: .fragmentsAllowed)
    }

    func object() throws -> [String: Any] { try json() as? [String: Any] ?? [:] }

    func array() throws -> [[String: Any]] { try json() as? [[String: Any]] ?? [] }
}
