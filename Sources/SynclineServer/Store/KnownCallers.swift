// The callers whose reads of tables with rules were seen lately: what a read was like tells what the next one asks for first.

import SynclineCore
import SynclineGround

final class KnownCallers: Sendable {
    private struct Key: Hashable {
        let table: String
        let subject: ExactString

        init(_ table: String, _ subject: String) { (self.table, self.subject) = (table, ExactString(subject)) }
    }

    private struct Caller: Hashable {
        /// How many rows of others the last scan read, if most were the caller's.
        var scan: Int?
        /// The spans of the last read, if they were few.
        var spans: [BucketSpan] = []
    }

    private let callers = Mutex<[Key: Caller]>([:])
    private static let limit = 10_000

    func begin(_ table: String, _ subject: String) -> RowScan {
        RowScan(last: caller(table, subject).scan)
    }

    func end(_ scan: RowScan, _ table: String, _ subject: String) {
        note(table, subject) { $0.scan = scan.lesson }
    }

    /// The spans that the caller had; none if they were many.
    func spans(_ table: String, _ subject: String) -> [BucketSpan] { caller(table, subject).spans }

    func note(_ spans: [BucketSpan], _ table: String, _ subject: String) {
        note(table, subject) { $0.spans = spans.count <= RuledRead.spansAtATime ? spans : [] }
    }

    private func caller(_ table: String, _ subject: String) -> Caller {
        callers.withLock { $0[Key(table, subject)] } ?? Caller()
    }

    private func note(_ table: String, _ subject: String, _ change: (inout Caller) -> Void) {
        let key = Key(table, subject)
        callers.withLock { callers in
            var caller = callers[key] ?? Caller()
            change(&caller)
            if callers.count >= KnownCallers.limit, callers[key] == nil { callers = [:] }
            callers[key] = caller == Caller() ? nil : caller
        }
    }
}
