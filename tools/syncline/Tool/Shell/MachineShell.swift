// The shell for programs: requests are answered in their order, except for those that wait for the network. These run
// in the background, one after another. They can be cancelled, and so can a statement, for whose end later requests wait.

import Dispatch
import SynclineCore

final class MachineShell {
    private let tool: QuietTool
    private let replyLimit: Int
    private let output: Output
    private let lines: ShellLines
    /// The request that runs in the background, and those that wait for it to end, in their order.
    private var running: (key: String, task: Task<Void, Never>)?
    private var waiting: [(key: String, request: ShellRequest)] = []
    /// The number of requests that were cancelled before their turn and have not replied yet.
    private var ending = 0
    /// The request whose reply comes before all that are held.
    private var current: (key: String, task: Task<Void, Never>)?
    /// Requests that wait for the current one, and lines that are none.
    private var held: ArraySlice<(request: Result<ShellRequest, ToolError>, size: Int)> = []
    private var heldSize = 0
    private var isReading = false
    private var isAtEnd = false
    /// How many bytes of requests are held before the input waits, too.
    private static let heldLimit = 64 << 20

    /// The next event: a line of input, its end, or the reply of a request that has ended.
    private enum Event: Sendable {
        case line([UInt8])
        case end
        case broken(ToolError)
        case answered(ShellReply)
        case finished(ShellReply)
        /// The reply of a request that was cancelled before its turn.
        case ended(ShellReply)
    }

    private typealias Post = @Sendable (Event) -> Void

    /// - Parameter replyLimit: The size of a result in bytes, because it is in memory until it is complete.
    init(_ host: Host, _ output: Output, replyLimit: Int = 256 << 20) {
        tool = QuietTool(host)
        self.replyLimit = replyLimit
        self.output = output
        lines = ShellLines(host.input)
    }

    func run() async throws {
        defer {
            running?.task.cancel()
            current?.task.cancel()
        }
        let (events, source) = AsyncStream.makeStream(of: Event.self)
        let tell: Post = { source.yield($0) }
        readNext(tell)
        for await event in events {
            switch event {
            case .line(let line):
                isReading = false
                try take(line, tell)
            case .answered(let reply):
                current = nil
                try write(reply)
            case .finished(let reply):
                running = nil
                startNext(tell)
                try write(reply)
            case .ended(let reply):
                ending -= 1
                try write(reply)
            case .broken(let error): throw error
            case .end: isAtEnd = true
            }
            try await serve(tell)
            readNext(tell)
            // The end of the input waits for the requests that run.
            if isAtEnd && running == nil && ending == 0 && current == nil { return }
        }
    }

    private func readNext(_ tell: @escaping Post) {
        guard !isReading, !isAtEnd, heldSize < MachineShell.heldLimit else { return }
        isReading = true
        lines.next { line in
            switch line {
            case .success(let line?): tell(.line(line))
            case .success(nil): tell(.end)
            case .failure(let error): tell(.broken(error))
            }
        }
    }

    private func write(_ reply: ShellReply) throws {
        try output.raw(Array(reply.text.utf8))
        try output.raw([0x0a])
        try output.flush()
    }

    /// Cancels a request at once, and holds every other line until its turn.
    private func take(_ line: [UInt8], _ tell: @escaping Post) throws {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) { return }
        let request = Result { () throws(ToolError) in try ShellRequest(line) }
        guard case .success(let asked) = request, let cancelled = asked.cancelled else {
            held.append((request, line.count))
            heldSize += line.count
            return
        }
        let isKnown = cancel(JSONValue(cancelled).text, tell)
        try write(ShellReply(number: asked.number, exit: isKnown ? .done : .no, output: "null"))
    }

    /// Answers the held requests, up to a request that others wait for.
    private func serve(_ tell: @escaping Post) async throws {
        while current == nil, let next = held.popFirst() {
            heldSize -= next.size
            switch next.request {
            case .success(let request): try await begin(request, tell)
            case .failure(let error):
                try write(ShellReply(number: .null, exit: .usage, output: error.json.text))
            }
        }
    }

    private func begin(_ request: ShellRequest, _ tell: @escaping Post) async throws {
        let key = request.key
        switch request.turn {
        case .refused(let error): try write(ShellReply(request, error))
        case .alone:
            let reply = await MachineShell.reply(tool, request, replyLimit)
            tool.interrupt.stopListening()
            try write(reply)
        case .cancellable:
            current = (
                key,
                Task { [tool, replyLimit] in
                    tell(.answered(await MachineShell.reply(tool, request, replyLimit)))
                }
            )
        case .background where running?.key == key || waiting.contains { $0.key == key }:
            try write(ShellReply(request, .usage("a request with the number \(key) is already running")))
        case .background:
            waiting.append((key, request))
            startNext(tell)
        }
    }

    private static func reply(_ tool: QuietTool, _ request: ShellRequest, _ limit: Int) async -> ShellReply {
        let answer = await tool.run(request.words, input: request.input, limit: limit)
        if answer.isCut {
            let error = ToolError(
                "result-too-large", "the result is larger than \(limit) bytes", hint: "Ask for fewer rows.",
                exit: .partial)
            return ShellReply(request, error)
        }
        return ShellReply(number: request.number, exit: answer.exit, output: answer.output)
    }

    private func startNext(_ tell: @escaping Post) {
        guard running == nil, !waiting.isEmpty else { return }
        let (key, request) = waiting.removeFirst()
        let task = Task { [tool, replyLimit] in
            tell(.finished(await MachineShell.reply(tool, request, replyLimit)))
        }
        running = (key, task)
    }

    /// Cancels a request that runs or waits for its turn; returns whether there is such a request.
    private func cancel(_ key: String, _ tell: @escaping Post) -> Bool {
        for task in [running, current].compactMap({ $0 }) where task.key == key {
            task.task.cancel()
            return true
        }
        if let place = waiting.firstIndex(where: { $0.key == key }) {
            let request = waiting.remove(at: place).request
            ending += 1
            // Its reply is that of a command that is cancelled before its first step.
            Task { [tool, replyLimit] in
                tell(.ended(await MachineShell.reply(tool, request, replyLimit)))
            }.cancel()
            return true
        }
        guard let place = held.firstIndex(where: { (try? $0.request.get())?.key == key }),
            case (.success(let request), let size) = held.remove(at: place)
        else { return false }
        heldSize -= size
        ending += 1
        let error = ToolError("cancelled", "the request was cancelled before its turn")
        tell(.ended(ShellReply(request, error)))
        return true
    }
}

/// Reads lines on a thread of its own, each when it is needed.
final class ShellLines: Sendable {
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
