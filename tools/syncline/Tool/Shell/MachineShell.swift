// The shell for programs: requests are answered in the order they came, but for those that wait for the network. They run
// beside the others, one after another, and can be cancelled.

import Dispatch
import SegmentLog
import SynclineCore
import SynclineInspect

final class MachineShell {
    private let parts: ShellParts
    private let output: Output
    private let lines: ShellLines
    /// What runs beside the requests that are answered at once, by the JSON of their numbers.
    private var running: [String: Task<Void, Never>] = [:]

    /// What comes next: a line of the input, its end, or the reply of something that ran.
    private enum Happening: Sendable {
        case line([UInt8])
        case end
        case broken(ToolError)
        case finished(key: String, ShellReply)
    }

    init(_ host: Host, _ output: Output) {
        parts = ShellParts(host)
        self.output = output
        lines = ShellLines(host.input)
    }

    func run() async throws {
        let (happenings, source) = AsyncStream.makeStream(of: Happening.self)
        func readNext() {
            lines.next { line in
                switch line {
                case .success(let line?): source.yield(.line(line))
                case .success(nil): source.yield(.end)
                case .failure(let error): source.yield(.broken(error))
                }
            }
        }
        readNext()
        var isAtEnd = false
        for await happening in happenings {
            switch happening {
            case .line(let line):
                if let reply = await answer(line, { source.yield($0) }) { try write(reply) }
                readNext()
            case .finished(let key, let reply):
                running[key] = nil
                try write(reply)
            case .broken(let error):
                for task in running.values { task.cancel() }
                throw error
            case .end: isAtEnd = true
            }
            // The end of the input waits for what runs.
            if isAtEnd && running.isEmpty { return }
        }
    }

    private func write(_ reply: ShellReply) throws {
        try output.raw(Array(reply.text.utf8))
        try output.raw([0x0a])
        try output.flush()
    }

    /// The reply to a line; nil for one that is answered later, or is empty.
    private func answer(_ line: [UInt8], _ tell: @escaping @Sendable (Happening) -> Void) async -> ShellReply? {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) { return nil }
        let request: ShellRequest
        do throws(ToolError) {
            request = try ShellRequest(line)
        } catch {
            return ShellReply(number: .null, exit: .usage, output: error.json.text)
        }
        if let cancelled = request.cancelled {
            let task = running[JSONValue(cancelled).text]
            task?.cancel()
            return ShellReply(number: request.number, exit: task == nil ? .no : .done, output: "null")
        }
        let word = request.words.first ?? ""
        if ["shell", "studio"].contains(word) {
            let error = ToolError.usage("`\(word)` can't run inside the shell")
            return ShellReply(number: request.number, exit: .usage, output: error.json.text)
        }
        guard ["push", "pull", "sync"].contains(word) else { return await parts.reply(to: request) }
        let key = JSONValue(request.number).text
        guard running[key] == nil else {
            let error = ToolError.usage("a request with the number \(key) is running")
            return ShellReply(number: request.number, exit: .usage, output: error.json.text)
        }
        running[key] = Task { [parts] in
            tell(.finished(key: key, await parts.reply(to: request)))
        }
        return nil
    }
}

/// What a request needs of the host, for several at once.
private struct ShellParts: Sendable {
    let environment: Environment
    let clock: any LogClock
    let interrupt: Interrupt
    let session: StoreSession?

    init(_ host: Host) {
        environment = host.environment
        clock = host.clock
        interrupt = host.interrupt
        session = host.session
    }

    func reply(to request: ShellRequest) async -> ShellReply {
        let output = MemorySink()
        var host = Host(
            environment: environment, output: output, errors: MemorySink(), input: MemoryLines(request.input),
            clock: clock, interrupt: interrupt)
        host.session = session
        host.form = .json
        let exit = await Tool(host).run(request.words)
        return ShellReply(number: request.number, exit: exit, output: output.text)
    }
}

/// Reads lines on a thread of its own, each when it is asked for.
private final class ShellLines: Sendable {
    private let queue = DispatchQueue(label: "syncline.shell.input")
    /// Used on the queue only.
    nonisolated(unsafe) private let source: any LineSource

    init(_ source: any LineSource) {
        self.source = source
    }

    func next(_ body: @escaping @Sendable (Result<[UInt8]?, ToolError>) -> Void) {
        queue.async { [self] in
            do throws(ToolError) { body(.success(try source.next())) } catch { body(.failure(error)) }
        }
    }
}
