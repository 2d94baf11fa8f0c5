// The callers whose reads of tables with rules were seen lately: what a read was like tells what the next one asks for first.

import SynclineCore
import SynclineGround
import SynclineTables

/// What a caller's last page in the order of what is new was found by.
struct LastRights: Sendable {
    var known: KnownRights
    /// The spans of these rights.
    var spans: [BucketSpan]
    var next = NextOfSpans()
}

final class KnownCallers: Sendable {
    private struct Key: Hashable {
        let table: String
        let subject: ExactString

        init(_ table: String, _ subject: String) { (self.table, self.subject) = (table, ExactString(subject)) }
    }

    private struct Caller {
        /// How many rows of others the last scan read, if most were the caller's.
        var scan: Int?
        /// If there were few spans.
        var rights: LastRights?
        /// How many guesses are left out, since one was wrong.
        var rest = 0
    }

    private let callers = Mutex<[Key: Caller]>([:])
    private static let limit = 10_000

    func begin(_ table: String, _ subject: String) -> RowScan {
        RowScan(last: caller(table, subject).scan)
    }

    func end(_ scan: RowScan, _ table: String, _ subject: String) {
        note(table, subject) { $0.scan = scan.lesson }
    }

    /// The rights that the caller had; nil if there were many.
    func rights(_ table: String, _ subject: String) -> LastRights? { caller(table, subject).rights }

    func note(_ rights: LastRights, _ table: String, _ subject: String) {
        note(table, subject) { $0.rights = rights.spans.count <= RuledRead.spansAtATime ? rights : nil }
    }

    /// Whether it makes sense to guess what the caller's next read begins with.
    func mayGuess(_ table: String, _ subject: String) -> Bool {
        var may = false
        note(table, subject) { caller in
            may = caller.rights != nil && caller.rest == 0
            caller.rest = max(0, caller.rest - 1)
        }
        return may
    }

    /// A wrong guess costs the caller eight. Right ones need no note.
    func note(guessIsRight: Bool, _ table: String, _ subject: String) {
        if !guessIsRight { note(table, subject) { $0.rest = 8 } }
    }

    /// A guess that was not looked at was not wrong.
    func forgive(_ table: String, _ subject: String) { note(table, subject) { $0.rest = 0 } }

    private func caller(_ table: String, _ subject: String) -> Caller {
        callers.withLock { $0[Key(table, subject)] } ?? Caller()
    }

    private func note(_ table: String, _ subject: String, _ change: (inout Caller) -> Void) {
        let key = Key(table, subject)
        callers.withLock { callers in
            var caller = callers[key] ?? Caller()
            change(&caller)
            if callers.count >= KnownCallers.limit, callers[key] == nil { callers = [:] }
            callers[key] = caller.scan == nil && caller.rights == nil ? nil : caller
        }
    }
}
