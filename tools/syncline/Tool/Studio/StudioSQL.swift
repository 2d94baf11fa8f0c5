// The statements of the SQL page. One runs at a time. It is stopped at a deadline or when the page cancels it, and its
// answer is bounded.

import SynclineCore
import SynclineGround
import SynclineSQL

final class StudioSQL: Sendable {
    /// A statement of the page.
    struct Question: Sendable {
        var statement: String
        /// Nil for the present.
        var event: UInt64?
        /// The name under which it can be cancelled.
        var ticket: String
    }

    /// A statement that runs.
    private final class Run: Sendable {
        let ticket: String
        private let end: ContinuousClock.Instant
        private let isCancelled = Mutex(false)

        init(_ ticket: String, seconds: Int) {
            self.ticket = ticket
            end = SystemSource.instant() + .seconds(seconds)
        }

        var isLate: Bool { SystemSource.instant() >= end }
        var isStopped: Bool { isLate || isCancelled.withLock { $0 } }
        func cancel() { isCancelled.withLock { $0 = true } }
    }

    private let states: StudioStates
    private let seconds: Int
    private let running = Mutex<Run?>(nil)

    /// - Parameter seconds: After how long a statement is stopped.
    init(_ states: StudioStates, seconds: Int = 20) {
        self.states = states
        self.seconds = seconds
    }

    /// Runs a statement on the thread of its request, so that it takes none from the tasks of the tool.
    func answer(_ question: Question) throws -> JSONValue {
        try alone(question) { run in try answer(question, run) }
    }

    /// All rows of a statement, as `syncline sql --json` prints them.
    func rows(_ question: Question, limit: Int) throws -> JSONValue {
        try alone(question) { run in
            let statement = try RunningStatement(question.statement, on: try states.settled(at: question.event).source)
            {
                run.isStopped
            }
            var rows: [JSONValue] = []
            var size = 0
            while let row = try statement.next() {
                rows.append(.object(zip(row.columns, row.values).map { .init(key: $0, value: JSONValue($1)) }))
                size += rows.last?.text.utf8.count ?? 0
                guard size < limit else { throw StudioExport.tooLarge(limit) }
            }
            return .array(rows)
        }
    }

    private func alone(_ question: Question, _ body: (Run) throws -> JSONValue) throws -> JSONValue {
        let run = Run(question.ticket, seconds: seconds)
        try running.withLock { running in
            guard running == nil else {
                throw ToolError("busy", "another statement is running", hint: "Cancel it, or wait for its end.")
            }
            running = run
        }
        defer { running.withLock { $0 = nil } }
        do {
            return try body(run)
        } catch let error as SyncError where error.code == .cancelled && run.isLate {
            throw ToolError(
                error.code.rawValue, "the statement was stopped after \(seconds) seconds",
                hint: "Add conditions or a LIMIT, or run it in a shell with `syncline sql`.")
        }
    }

    private func answer(_ question: Question, _ run: Run) throws -> JSONValue {
        let state = try states.settled(at: question.event)
        let statement = try RunningStatement(question.statement, on: state.source) { run.isStopped }
        var result = StudioResult(columns: statement.columns)
        while let row = try statement.next(), result.add(row.values) {}
        return result.json([
            "at": .number(state.event), "whole": .boolean(state.isWhole),
            "tables": .array(statement.tables.map(JSONValue.string)), "command": .string(question.command),
        ])
    }

    /// Stops the statement with a ticket. Returns whether it was running.
    func cancel(_ ticket: String) -> Bool {
        running.withLock { running in
            guard let running, running.ticket == ticket else { return false }
            running.cancel()
            return true
        }
    }

    /// Stops the statement that is running.
    func stop() { running.withLock { $0?.cancel() } }
}

extension StudioSQL.Question {
    /// The words of the command that asks the same in a shell.
    var words: [String] {
        ["sql"] + (event.map { ["--at", "@\($0)"] } ?? []) + (statement.hasPrefix("-") ? ["--"] : []) + [statement]
    }

    fileprivate var command: String { (["syncline"] + words).map(shellWord).joined(separator: " ") }
}
