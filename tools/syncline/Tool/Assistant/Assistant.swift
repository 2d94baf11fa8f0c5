// Answers the questions of an assistant with the commands of the tool.

import Dispatch
import SynclineGround

struct Assistant: Sendable {
    let questions: [Question]
    private let tool: QuietTool
    /// The words that name the store.
    private let store: [String]
    private let masked: MaskedStore?
    private let seconds: Int

    /// The output that is read of a command. Answers are much shorter.
    private static let outputLimit = 64 << 10
    private static let values = 64
    private static let width = 150
    private static let ends = DispatchQueue(label: "syncline.assistant.ends")

    /// - Parameter seconds: After how long a question is stopped.
    init(_ host: Host, store: [String], writes: Bool, isMasked: Bool, seconds: Int) {
        questions = Question.all(writes: writes, isMasked: isMasked)
        var host = host
        // As for people: times and long values are short.
        host.environment.outputIsTerminal = true
        host.environment.errorsAreTerminal = false
        host.environment.width = Assistant.width
        host.environment.variables["NO_COLOR"] = "1"
        tool = QuietTool(host)
        self.store = store
        self.seconds = seconds
        masked = isMasked ? MaskedStore() : nil
    }

    /// The answer to a call, as a message.
    func answer(_ call: AssistantProtocol.Call) async -> JSONValue {
        guard let question = questions.first(where: { $0.name == call.question }) else {
            return AssistantProtocol.failure(call.id, .wrongParameters, "there is no such tool")
        }
        let (text, isError) = await answerInTime(question, call.arguments)
        return AssistantProtocol.result(call.id, text: text, isError: isError)
    }

    /// The statement of a question may keep the thread it runs on, so it is stopped from another one.
    private func answerInTime(_ question: Question, _ arguments: [JSONValue.Member]) async -> (String, isError: Bool) {
        let work = Task { await answer(question, arguments) }
        let isLate = Mutex(false)
        let end = DispatchWorkItem {
            isLate.withLock { $0 = true }
            work.cancel()
        }
        Assistant.ends.asyncAfter(deadline: .now() + .seconds(seconds), execute: end)
        let found = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        end.cancel()
        if !isLate.withLock({ $0 }) { return found }
        let late = ToolError(
            "cancelled", "the question was stopped after \(seconds) seconds",
            hint: "Ask for less, or start `mcp` with more `--seconds`.")
        return Assistant.text(of: late, question)
    }

    private func answer(_ question: Question, _ arguments: [JSONValue.Member]) async -> (String, isError: Bool) {
        do {
            let words = try question.words(arguments)
            let copy = question.masking == .report ? try await masked?.copy(with: tool, store) : nil
            let answer = await tool.run(
                (copy.map { ["--store", $0.path] } ?? store) + words, as: .human, limit: Assistant.outputLimit,
                keeping: Assistant.values, reports: copy?.reports ?? ReportShelf())
            let isAnswer = [.done, .no, .partial].contains(answer.exit) && answer.values.first?["error"] == nil
            return (text(question, arguments, answer, copy?.notes ?? []), isError: !isAnswer)
        } catch {
            return Assistant.text(
                of: ToolError(error) ?? ToolError("cancelled", "the question was cancelled"), question)
        }
    }

    private static func text(of error: ToolError, _ question: Question) -> (String, isError: Bool) {
        let lines = error.lines(TextStyle(isForPeople: true, hasColour: false))
        let next = NextQuestion(after: question.name, [], [error.json]).line
        return (AnswerText(lines: lines, rest: "", next: next).text, isError: true)
    }

    private func text(
        _ question: Question, _ arguments: [JSONValue.Member], _ answer: QuietTool.Answer, _ notes: [String]
    ) -> String {
        func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
        let errors = lines(answer.errors)
        let isFailure = answer.values.first?["error"] != nil
        var body = lines(answer.output)
        var isCut = answer.isCut
        if question.shows == .values, !isFailure {
            body = answer.values.map(\.shortened.text)
            isCut = isCut || answer.values.count == Assistant.values
        }
        return AnswerText(
            notes: notes + errors.filter { $0.hasPrefix("!") },
            lines: body + errors.filter { !$0.hasPrefix("!") }, kept: question.kept, isCut: isCut, rest: question.rest,
            next: NextQuestion(after: question.name, arguments, answer.values).line
        ).text
    }
}
