// Finds what happened to every change the app made, by what entered and left the outbox with each event. The sums
// are compared with the counts that the fold keeps itself, so that a lost change would be noticed.

/// What happened to a change.
package enum Fate: String, Hashable, Sendable, CaseIterable {
    /// It is in the outbox. Not called "pending", because that means operations, which may have several changes.
    case unconfirmed
    /// The server confirmed the operation it ended.
    case done
    /// It became part of a later change's operation, or cancelled out with it.
    case superseded
    /// The app undid or purged it.
    case cancelled
    /// A resolution ended it.
    case resolved
}

/// A change and its fate.
package struct ChangeFate: Hashable, Sendable {
    package var position: Position
    package var table: String
    package var id: String
    package var kind: OperationKind
    package var fate: Fate
    /// The event that decided it; nil if it is unconfirmed.
    package var event: UInt64?
}

/// The number of changes by fate.
package struct FateSums: Hashable, Sendable {
    package var made: UInt64 = 0
    package private(set) var counts: [Fate: UInt64] = [:]

    package subscript(fate: Fate) -> UInt64 { counts[fate] ?? 0 }

    /// Whether every change has exactly one fate.
    package var isBalanced: Bool { Fate.allCases.reduce(0) { $0 + self[$1] } == made }

    mutating func count(_ fate: Fate, _ number: Int = 1) { counts[fate, default: 0] += UInt64(number) }
}

/// Tracks the changes while events are folded.
package struct Accounting {
    private let projector: Projector
    package private(set) var sums = FateSums()
    /// The fold's counts before the first event.
    private let start: Totals

    package init(from start: Projector) throws(StateError) {
        projector = start
        self.start = start.totals
        // What was in the outbox when the history begins was made before it.
        sums.made = start.totals.pending
    }

    /// Folds the next record and reports the changes whose fate it decided.
    package mutating func fold(
        _ record: UnsafeRawBufferPointer, number: UInt64, _ body: (ChangeFate) throws -> Void = { _ in }
    ) throws {
        projector.store.beginChanges()
        let before = projector.totals
        try projector.apply(record, number: number)
        let changes = try StateChanges(projector)
        sums.made += projector.totals.made - before.made
        let gone = changes.journal.filter { $0.after == nil }
        if try !gone.isEmpty || EventReader(record, projector.shapes).kind == .resolved {
            try settle(Event(record, shapes: projector.shapes), number, gone, changes, since: before, body)
        }
        try projector.store.settle(above: 16 << 20)
    }

    private mutating func settle(
        _ event: Event, _ number: UInt64, _ gone: [JournalChange], _ changes: StateChanges, since before: Totals,
        _ body: (ChangeFate) throws -> Void
    ) throws {
        let isResolved = projector.totals.resolved > before.resolved
        let came = changes.journal.count { $0.before == nil }
        let made = Int(projector.totals.made - before.made)
        // What a merge or a keep-mine decision leaves of an operation may move to another position.
        let moved = max(0, came - made)
        for (key, row) in Dictionary(grouping: gone.dropLast(moved), by: { $0.before?.rowKey ?? [] }) {
            let address = try RowKey(malformed: key)
            let pending = changes.rows.first { $0.key == key }?.before?.pending
            for (index, change) in row.enumerated() {
                let isLast = index == row.count - 1
                let fate = Accounting.fate(of: change.position, isLast: isLast, event, pending, isResolved)
                sums.count(fate)
                try body(
                    ChangeFate(
                        position: change.position, table: address.table, id: address.id,
                        kind: change.before?.kind ?? .update, fate: fate, event: number))
            }
        }
        // A row of the app's choosing that cancelled out with later changes never was in the outbox.
        if case .resolved = event.body { sums.count(.superseded, max(0, made - came)) }
    }

    /// Returns why a change left the outbox.
    private static func fate(
        of position: Position, isLast: Bool, _ event: Event, _ before: PendingRow?, _ isResolved: Bool
    ) -> Fate {
        switch event.body {
        case .undone, .purged, .discarded: return .cancelled
        // An operation ends with its last change; the earlier ones were part of it.
        case .answered: return isLast ? .done : .superseded
        case .page:
            // Both sides deleted the row; or the changes cancelled out and do not hide what the server has.
            let isVoid = before?.frozen == nil && before?.operation == nil
            return isLast && !isVoid ? .done : .superseded
        case .resolved(let resolution):
            // What a merge or a keep-mine decision leaves stays; a row of the app's choosing includes later changes.
            guard isResolved else { return .superseded }
            let isFollowUp = resolution.choice == .row && position > before?.frozen?.through ?? position
            return isFollowUp ? .superseded : .resolved
        case .opened, .configured, .local, .indexed, .cursorReset, .sent, .declared, .serverWorked, .carried:
            return .superseded
        }
    }

    /// Reports the changes that are still in the outbox.
    package mutating func finish(_ body: (ChangeFate) throws -> Void = { _ in }) throws -> AccountingResult {
        let reader = projector.reader(of: projector.store.snapshot)
        var pending: [ChangeFate] = []
        try reader.forEachChange { position, change throws(StateError) in
            let row = try RowKey(malformed: change.rowKey)
            pending.append(
                ChangeFate(position: position, table: row.table, id: row.id, kind: change.kind, fate: .unconfirmed))
            return true
        }
        sums.count(.unconfirmed, pending.count)
        for change in pending { try body(change) }
        return AccountingResult(sums: sums, totals: projector.totals, start: start, through: projector.through)
    }
}

/// The balance of a history.
package struct AccountingResult: Sendable {
    package var sums: FateSums
    /// The fold's counts, from the store's first event on, and up to where the history begins.
    package var totals: Totals
    package var start: Totals
    package var through: UInt64

    /// The fold's counts and the ones found here, if they differ.
    package var differences: [(name: String, counted: UInt64, found: UInt64)] {
        let pairs: [(String, UInt64, UInt64)] = [
            ("made", totals.made - start.made + start.pending, sums.made),
            ("done", totals.done - start.done, sums[.done]),
            ("superseded", totals.superseded - start.superseded, sums[.superseded]),
            ("cancelled", totals.cancelled - start.cancelled, sums[.cancelled]),
            ("resolved", totals.resolved - start.resolved, sums[.resolved]),
            ("unconfirmed", totals.pending, sums[.unconfirmed]),
        ]
        return pairs.filter { $0.1 != $0.2 }.map { (name: $0.0, counted: $0.1, found: $0.2) }
    }

    /// Whether every change is accounted for and the fold's counts agree.
    package var isBalanced: Bool { sums.isBalanced && differences.isEmpty }
}
