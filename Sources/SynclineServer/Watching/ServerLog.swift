// The server's log on standard error: a line for each request, and every internal failure, at once. Every line has the
// time, and none contains an invisible character.

import CLibrary
import Dispatch
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

final class ServerLog: Sendable {
    private let form: LogForm
    private let environment: any ServerEnvironment
    private let journal: Journal
    private let limiter = Mutex(TroubleLimiter())
    private let later = DispatchQueue(label: "syncline.log")

    init(
        _ form: LogForm, _ environment: any ServerEnvironment = SystemServerEnvironment(),
        descriptor: Int32 = STDERR_FILENO
    ) {
        self.form = form
        self.environment = environment
        journal = Journal(descriptor: descriptor) { count in
            ServerLog.line("\(count) lines of the log were dropped, not read in time", form, environment.now())
        }
    }

    /// The number of lines that were lost because the log was not read.
    var lost: Int { journal.lost }

    func note(_ line: @autoclosure () -> AccessLine) {
        switch form {
        case .text: journal.write(LogText.escaped(line().text) + "\n")
        case .json: journal.write(LogText.escaped(line().json) + "\n")
        case .none: break
        }
    }

    /// Logs a message for the operator.
    func note(_ message: String) {
        journal.write(ServerLog.line(message, form, environment.now()))
    }

    /// Logs a failure of a kind that may occur often.
    func note(trouble message: String, kind: String, now: ContinuousClock.Instant = .present) {
        switch limiter.withLock({ $0.judge(kind, now: now) }) {
        case .told(let leftOut):
            tell(leftOut, kind)
            note(message)
        case .firstLeftOut:
            let (seconds, _) = TroubleLimiter.length.components
            later.asyncAfter(deadline: .now() + .seconds(Int(seconds))) { [weak self] in self?.tellLeftOut() }
        case .leftOut: break
        }
    }

    private func tellLeftOut() {
        for (kind, count) in limiter.withLock({ $0.takeLeftOut() }) { tell(count, kind) }
    }

    private func tell(_ leftOut: Int, _ kind: String) {
        if leftOut > 0 { note("\(leftOut) more failures of the kind \(kind) were left out") }
    }

    /// Waits a moment for unwritten lines.
    func flush() {
        tellLeftOut()
        journal.flush(seconds: 1)
    }

    private static func line(_ message: String, _ form: LogForm, _ now: Int64) -> String {
        let time = Timestamp.text(milliseconds: now)
        let line =
            form == .json
            ? Value.object([.init("time", .string(time)), .init("message", .string(message))]).json
            : "\(time) syncline-server: \(message)"
        return LogText.escaped(line) + "\n"
    }
}
