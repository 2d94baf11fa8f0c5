// The debugger in the page. Each question is a command of the tool, which the page shows beside the answer.

import Dispatch
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineWire

struct StudioDebugger: Sendable {
    private let store: String
    private let environment: Environment
    private let table: CommandTable
    private let running = StudioTickets()

    init(_ host: Host, _ table: CommandTable, store: String) {
        environment = host.environment
        self.table = table
        self.store = store
    }

    private init(_ store: String, like other: StudioDebugger) {
        (self.store, environment, table) = (store, other.environment, other.table)
    }

    /// The same for another store.
    func of(_ store: String) -> StudioDebugger { StudioDebugger(store, like: self) }

    /// The words of the command that answers a question; nil if there is no such question.
    static func words(_ question: String, _ body: Value) -> [String]? {
        func text(_ name: String) -> String? {
            guard case .string(let text)? = body[member: name], !text.isEmpty else { return nil }
            return text
        }
        func option(_ name: String) -> [String] { text(name).map { ["--\(name)=\($0)"] } ?? [] }
        switch question {
        case "bisect":
            guard let condition = text("condition") else { return nil }
            return ["replay", "--bisect=\(condition)"] + option("from") + option("to")
        case "without":
            guard let events = text("events") else { return nil }
            let addresses = events.split { $0 == " " || $0 == "," }
            return ["replay"] + addresses.map { "--without=\($0)" } + option("to")
        case "policy":
            return text("policy") == nil ? nil : ["replay"] + option("policy") + option("to")
        case "compare":
            guard let other = text("with") else { return nil }
            return ["diff"] + option("table") + ["--", other] + (text("from").map { [$0] } ?? [])
        case "search":
            guard let search = text("text") else { return nil }
            return ["search", "--history"] + option("table") + ["--", search]
        case "resolve":
            guard let table = text("table"), let id = text("id"), let choice = text("choice"),
                ["take-server", "keep-mine", "merge"].contains(choice)
            else { return nil }
            return ["resolve", "--\(choice)", "--", "\(table)/\(id)"]
        default: return nil
        }
    }

    /// Runs a command and waits for it. Its output ends after some bytes.
    func run(
        _ words: [String], _ form: OutputForm, limit: Int, until interrupt: Interrupt = Interrupt()
    ) -> (exit: ExitCode, text: String, warnings: String) {
        let end = words.firstIndex(of: "--") ?? words.count
        let words = Array(words[..<end]) + ["--store=\(store)"] + words[end...]
        let done = DispatchSemaphore(value: 0)
        let result = Mutex<(exit: ExitCode, text: String, warnings: String)>((.internalError, "", ""))
        let (environment, table) = (environment, table)
        Task {
            let (output, errors) = (MemorySink(limit: limit), MemorySink())
            var host = Host(
                environment: environment, output: output, errors: errors, input: MemoryLines(), interrupt: interrupt)
            host.form = form
            let exit = await Tool(host, table: table).run(words)
            let found = (exit, output.text, errors.text)
            result.withLock { $0 = found }
            done.signal()
        }
        done.wait()
        return result.withLock { $0 }
    }

    /// A list of answers ends after this many bytes.
    private static let limit = 4 << 20
    /// The rows of an answer that are shown.
    private static let rows = 200

    /// An answer as the page shows it; the status is that of its response.
    func answer(_ question: String, _ body: Value) -> (status: Int, json: JSONValue) {
        guard case .string(let ticket)? = body[member: "ticket"] else {
            return answer(question, body, until: Interrupt())
        }
        return running.run(ticket) { answer(question, body, until: $0) }
    }

    /// Stops the question with a ticket. Returns whether it was being answered.
    func cancel(_ ticket: String) -> Bool { running.cancel(ticket) }

    /// Stops all questions that have tickets.
    func stop() { running.stop() }

    private func answer(
        _ question: String, _ body: Value, until interrupt: Interrupt
    ) -> (status: Int, json: JSONValue) {
        let words: [String]?
        do {
            words = try question == "watch" ? watch(body, until: interrupt) : StudioDebugger.words(question, body)
        } catch {
            return (422, ToolError(error)?.json ?? .null)
        }
        guard let words else {
            return (400, ToolError.usage("the question is not complete").json)
        }
        if words.isEmpty { return (200, ["command": .null, "count": .number(0), "lines": []]) }
        let (exit, text, warnings) = run(words, .jsonLines, limit: StudioDebugger.limit, until: interrupt)
        let lines = text.split(separator: "\n").compactMap { try? Value(json: $0.utf8) }
        if let error = lines.last, error[member: "error"] != nil { return (422, JSONValue(error)) }
        let shown = lines.prefix(StudioDebugger.rows).map { JSONValue(StudioDebugger.shortened($0)) }
        return (
            200,
            [
                "command": .string((["syncline"] + words.map(shellWord)).joined(separator: " ")),
                "exit": .number(exit.rawValue), "count": .number(lines.count), "lines": .array(Array(shown)),
                "warnings": .string(warnings),
            ]
        )
    }

    /// The search whose answer is the next event after a moment that makes a condition true or changes a count, or the last
    /// one before it; empty if no event is there.
    private func watch(_ body: Value, until interrupt: Interrupt) throws -> [String]? {
        guard case .string(let text)? = body[member: "condition"], !text.isEmpty,
            case .string(let at)? = body[member: "at"], let moment = UInt64(at)
        else { return nil }
        let search = ["replay", "--bisect=\(text)"]
        let storage = POSIXStorage(directory: store)
        let catalog = try LogInspection(storage).catalog()
        let first = catalog.segments.first?.first.rawValue ?? 1
        let last = try LogInspection(storage).lastRecord(catalog).rawValue
        guard body[member: "way"] == .string("before") else {
            return moment < last ? search + ["--from=@\(max(first, moment + 1))"] : []
        }
        let end = min(moment, last + 1)
        guard end > first else { return [] }
        let found = try BackwardSearch(storage, try Bisection.condition(text), until: interrupt).last(before: end)
        return search + (found.map { ["--from=@\($0)"] } ?? []) + ["--to=@\(end - 1)"]
    }

    /// An answer with the first of its differences, and their number.
    private static func shortened(_ answer: Value) -> Value {
        guard case .object(let members) = answer else { return answer }
        return .object(
            members.flatMap { member -> [Value.Member] in
                guard case .array(let elements) = member.value, elements.count > rows else { return [member] }
                return [
                    Value.Member(member.name, .array(Array(elements.prefix(rows)))),
                    Value.Member(member.name + "Count", .integer(Int64(elements.count))),
                ]
            })
    }
}
