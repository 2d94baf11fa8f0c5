// The statements of the SQL page. One runs at a time. It is stopped at a deadline or when the page cancels it, and its
// answer is bounded.

import Dispatch
import SynclineCore
import SynclineGround
import SynclineInspect
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

    private let states: StudioStates
    private let seconds: Int
    private let running = Mutex<(ticket: String, task: Task<Void, Never>)?>(nil)

    /// - Parameter seconds: After how long a statement is stopped.
    init(_ states: StudioStates, seconds: Int = 20) {
        self.states = states
        self.seconds = seconds
    }

    /// The result of a statement, and the signal that it is there.
    private final class Outcome: Sendable {
        let result = Mutex<Result<JSONValue, any Error>>(.failure(SyncError.statementStopped))
        let done = DispatchSemaphore(value: 0)
    }

    /// Runs a statement and waits for its end.
    func answer(_ question: Question) throws -> JSONValue {
        let outcome = Outcome()
        try start(question, outcome)
        defer { running.withLock { $0 = nil } }
        let isLate = outcome.done.wait(timeout: .now() + .seconds(seconds)) == .timedOut
        if isLate {
            cancel(question.ticket)
            outcome.done.wait()
        }
        do {
            return try outcome.result.withLock { $0 }.get()
        } catch let error as SyncError where isLate && error.code == .cancelled {
            throw ToolError(
                error.code.rawValue, "the statement was stopped after \(seconds) seconds",
                hint: "Add conditions or a LIMIT, or run it at a shell with `syncline sql`.")
        }
    }

    private func start(_ question: Question, _ outcome: Outcome) throws {
        try running.withLock { [states] running in
            guard running == nil else {
                throw ToolError("busy", "another statement is running", hint: "Cancel it, or wait for its end.")
            }
            let task = Task {
                let found = Result { try StudioSQL.run(question, states) }
                outcome.result.withLock { $0 = found }
                outcome.done.signal()
            }
            running = (question.ticket, task)
        }
    }

    /// Stops the statement with a ticket. Returns whether it was running.
    @discardableResult
    func cancel(_ ticket: String) -> Bool {
        running.withLock { running in
            guard let running, running.ticket == ticket else { return false }
            running.task.cancel()
            return true
        }
    }

    /// Stops the statement that is running.
    func stop() { running.withLock { $0?.task.cancel() } }

    private static func run(_ question: Question, _ states: StudioStates) throws -> JSONValue {
        let state = try states.settled(at: question.event)
        let running = try RunningStatement(question.statement, on: state.source)
        var result = StudioResult(columns: running.columns)
        while let row = try running.next(), result.add(row.values) {}
        // A scan that is cancelled may end as if there were no more rows.
        if Task.isCancelled { throw SyncError.statementStopped }
        return result.json([
            "at": .number(state.event), "whole": .boolean(state.isWhole),
            "tables": .array(running.tables.map(JSONValue.string)), "command": .string(question.command),
        ])
    }
}

extension StudioSQL.Question {
    /// The command that asks the same at a shell.
    fileprivate var command: String {
        let words =
            ["syncline", "sql"] + (event.map { ["--at", "@\($0)"] } ?? [])
            + (statement.hasPrefix("-") ? ["--"] : []) + [statement]
        return words.map(shellWord).joined(separator: " ")
    }
}

extension SyncError {
    fileprivate static var statementStopped: SyncError { SyncError(.cancelled, "the statement was cancelled") }
}
