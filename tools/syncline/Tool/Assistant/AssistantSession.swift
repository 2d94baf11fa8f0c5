// The session of an assistant: lines come in, messages go out. Questions are answered one after another; meanwhile lines
// are read, so that a question can be cancelled.

final class AssistantSession {
    private let assistant: Assistant
    private let messages: AssistantProtocol
    private let output: Output
    private let lines: ShellLines
    private var running: (id: JSONValue, task: Task<Void, Never>)?
    private var waiting: [AssistantProtocol.Call] = []
    private var isReading = false
    private var isAtEnd = false
    /// How many questions wait before the input does, too.
    private static let limit = 64

    private enum Event: Sendable {
        case line([UInt8])
        case longLine
        case end
        case broken(ToolError)
        case answered(JSONValue)
    }

    private typealias Post = @Sendable (Event) -> Void

    init(_ assistant: Assistant, _ input: any LineSource, _ output: Output) {
        self.assistant = assistant
        self.output = output
        messages = AssistantProtocol(questions: assistant.questions)
        input.limit = AssistantProtocol.lineLimit
        lines = ShellLines(input)
    }

    func run() async throws {
        defer { running?.task.cancel() }
        let (events, source) = AsyncStream.makeStream(of: Event.self)
        let tell: Post = { source.yield($0) }
        readNext(tell)
        for await event in events {
            switch event {
            case .line(let line):
                isReading = false
                try take(line)
            case .longLine:
                isReading = false
                try write(AssistantProtocol.longLine)
            case .answered(let message):
                // The answer to a question that was cancelled is not sent.
                if let running, !running.task.isCancelled { try write(message) }
                running = nil
            case .end: isAtEnd = true
            case .broken(let error): throw error
            }
            startNext(tell)
            readNext(tell)
            if isAtEnd && running == nil { return }
        }
    }

    private func readNext(_ tell: @escaping Post) {
        guard !isReading, !isAtEnd, waiting.count < AssistantSession.limit else { return }
        isReading = true
        lines.next { line in
            switch line {
            case .success(let line?): tell(.line(line))
            case .success(nil): tell(.end)
            case .failure(let error): tell(error.code == ToolError.longLine ? .longLine : .broken(error))
            }
        }
    }

    private func take(_ line: [UInt8]) throws {
        switch messages.step(line) {
        case .reply(let message): try write(message)
        case .call(let call): waiting.append(call)
        case .cancel(let id):
            if running?.id == id { running?.task.cancel() }
            waiting.removeAll { $0.id == id }
        case .nothing: break
        }
    }

    private func startNext(_ tell: @escaping Post) {
        guard running == nil, !waiting.isEmpty else { return }
        let call = waiting.removeFirst()
        running = (call.id, Task { [assistant] in tell(.answered(await assistant.answer(call))) })
    }

    private func write(_ message: JSONValue) throws {
        try output.raw(Array(message.text.utf8) + [0x0a])
        try output.flush()
    }
}
