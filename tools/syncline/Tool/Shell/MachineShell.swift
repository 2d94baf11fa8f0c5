// The shell for programs: requests are answered in their order, except for those that wait for the network. These run
// in the background, one after another, and can be cancelled.

import Dispatch
import SegmentLog
import SynclineCore
import SynclineInspect

final class MachineShell {
    private let parts: ShellParts
    private let output: Output
    private let lines: ShellLines
    /// The request that runs in the background, and those that wait for it to end, in their order.
    private var running: (key: String, task: Task<Void, Never>)?
    private var waiting: [(key: String, request: ShellRequest)] = []
    /// The number of requests that were cancelled before their turn and have not replied yet.
    private var ending = 0

    /// The next event: a line of input, its end, or the reply of a background request.
    private enum Event: Sendable {
        case line([UInt8])
        case end
        case broken(ToolError)
        case finished(ShellReply)
        /// The reply of a request that was cancelled before its turn.
        case ended(ShellReply)
    }

    private typealias Post = @Sendable (Event) -> Void

    init(_ host: Host, _ output: Output) {
        parts = ShellParts(host)
        self.output = output
        lines = ShellLines(host.input)
    }

    func run() async throws {
        defer { running?.task.cancel() }
        let (events, source) = AsyncStream.makeStream(of: Event.self)
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
        for await event in events {
            switch event {
            case .line(let line):
                if let reply = await answer(line, { source.yield($0) }) { try write(reply) }
                readNext()
            case .finished(let reply):
                running = nil
                startNext { source.yield($0) }
                try write(reply)
            case .ended(let reply):
                ending -= 1
                try write(reply)
            case .broken(let error): throw error
            case .end: isAtEnd = true
            }
            // The end of the input waits for the background request.
            if isAtEnd && running == nil && ending == 0 { return }
        }
    }

    private func write(_ reply: ShellReply) throws {
        try output.raw(Array(reply.text.utf8))
        try output.raw([0x0a])
        try output.flush()
    }

    /// The reply to a line; nil if it is answered later, or is empty.
    private func answer(_ line: [UInt8], _ tell: @escaping Post) async -> ShellReply? {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) { return nil }
        let request: ShellRequest
        do throws(ToolError) {
            request = try ShellRequest(line)
        } catch {
            return ShellReply(number: .null, exit: .usage, output: error.json.text)
        }
        if let cancelled = request.cancelled {
            let isKnown = cancel(JSONValue(cancelled).text, tell)
            return ShellReply(number: request.number, exit: isKnown ? .done : .no, output: "null")
        }
        let word = request.words.first ?? ""
        if ["shell", "studio"].contains(word) {
            let error = ToolError.usage("`\(word)` can't run inside the shell")
            return ShellReply(number: request.number, exit: .usage, output: error.json.text)
        }
        guard ["push", "pull", "sync"].contains(word) else { return await parts.reply(to: request) }
        let key = JSONValue(request.number).text
        guard running?.key != key, !waiting.contains(where: { $0.key == key }) else {
            let error = ToolError.usage("a request with the number \(key) is already running")
            return ShellReply(number: request.number, exit: .usage, output: error.json.text)
        }
        waiting.append((key, request))
        startNext(tell)
        return nil
    }

    private func startNext(_ tell: @escaping Post) {
        guard running == nil, !waiting.isEmpty else { return }
        let (key, request) = waiting.removeFirst()
        running = (key, Task { [parts] in tell(.finished(await parts.reply(to: request))) })
    }

    /// Cancels the running request, or one that waits for its turn; returns whether there is such a request.
    private func cancel(_ key: String, _ tell: @escaping Post) -> Bool {
        if let running, running.key == key {
            running.task.cancel()
            return true
        }
        guard let place = waiting.firstIndex(where: { $0.key == key }) else { return false }
        let request = waiting.remove(at: place).request
        ending += 1
        // Its reply is that of a command that is cancelled before its first step.
        Task { [parts] in tell(.ended(await parts.reply(to: request))) }.cancel()
        return true
    }
}

/// The host of a request, for several at once.
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

/// Reads lines on a thread of its own, each when it is needed.
private final class ShellLines: Sendable {
    private let queue = DispatchQueue(label: "syncline.shell.input")
    /// Used only on the queue.
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
