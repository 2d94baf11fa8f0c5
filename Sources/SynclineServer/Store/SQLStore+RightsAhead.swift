// What a read of a table with rules asks for before it knows the caller's rights: they are mostly what they were before, and
// so a page takes one message.

import SynclineCore
import SynclineTables
import SynclineWire

/// What is next of some spans, asked for with an earlier statement.
final class AskedAhead {
    private var spans: Set<BucketSpan> = []
    private var (window, withDepartures) = (RightsWindow(axis: .number, since: 0, limit: 0), false)
    private var next = NextOfSpans()
    /// What is taken for the answer.
    private(set) var guessed: NextOfSpans?

    func guess(_ next: NextOfSpans) {
        guessed = next
        guessed?.isKnown = true
    }

    func ask(
        _ read: RuledRead, _ spans: [BucketSpan], _ window: RightsWindow, _ withDepartures: Bool
    ) throws(StoreFailure) {
        (self.spans, self.window, self.withDepartures) = (Set(spans), window, withDepartures)
        next.isKnown = true
        for (part, statement) in read.questions(spans, window, withDepartures) {
            try read.connection.later(statement) { [self] in next.take($0, part, window, withDepartures) }
        }
    }

    /// The answer, if the question is the same.
    func answer(
        _ read: RuledRead, _ spans: [BucketSpan], _ window: RightsWindow, _ withDepartures: Bool
    ) throws(StoreFailure) -> NextOfSpans? {
        guard next.isKnown else { return nil }
        try read.connection.flush()
        next.isKnown = false
        var asked = self.window
        (asked.until, asked.limit) = (window.until, window.limit)
        guard asked == window, self.withDepartures == withDepartures, self.spans == Set(spans) else { return nil }
        var answer = next
        (answer.isKnown, answer.left) = (true, next.left.flatMap { $0 <= window.until ? $0 : nil })
        return answer
    }
}

extension RuledRead {
    /// Asks for what the caller's rights begin with, and for the number of the columns, together with the next statement.
    func lookAhead(schema: @escaping (Int64) -> Void) throws(StoreFailure) {
        let steps = Set(caller.terms.compactMap(\.alternative.path.first))
        for step in steps { try source.lookAhead(step, from: caller.subject, schema: schema) }
        if steps.isEmpty { try connection.later(StateSQL.schema) { schema($0.value(0).integer) } }
    }

    /// Whether all of the caller's rights arrive with the next statement.
    var looksAhead: Bool { caller.terms.allSatisfy { $0.alternative.path.count <= 1 } }

    /// Asks for what is next of the spans that the caller had, together with the next statement.
    /// - Parameter guesses: Whether the first rows are asked for, too.
    func lookAhead(_ window: RightsWindow, withDepartures: Bool, guesses: Bool = false) throws(StoreFailure) {
        guard dialect == .postgres, let callers, let last = callers.rights(statements.schema.name, caller.subject)
        else { return }
        let spans = last.spans.filter { withDepartures || $0.interval.end == nil }
        if !gainPlaces(spans, window).isEmpty { try ahead.ask(self, spans, window, withDepartures) }
        let (table, subject) = (statements.schema.name, caller.subject)
        guard guesses, callers.mayGuess(table, subject), let first = first(last, window, withDepartures) else { return }
        connection.expect(first) { callers.note(guessIsRight: $0, table, subject) }
    }

    /// The statement that a read with these rights begins with.
    private func first(_ last: LastRights, _ window: RightsWindow, _ withDepartures: Bool) -> SQLStatement? {
        let (seen, work) = (FirstStatement(), FilterWork(statements.schema, within: nil))
        let read = RuledRead(self, on: seen)
        read.ahead.guess(last.next)
        try? read.forEachCandidate(last.known, window, withDepartures: withDepartures, work) { _, _, _, _ in false }
        return seen.statement
    }

    /// The same on another connection, which leaves no trace.
    private init(_ other: RuledRead, on connection: any SQLConnection) {
        (statements, limits, caller, source) = (other.statements, other.limits, other.caller, other.source)
        (self.connection, callers, scan) = (connection, nil, other.beginScan())
    }
}
