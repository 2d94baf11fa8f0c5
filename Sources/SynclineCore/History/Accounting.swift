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
    private var outbox: OutboxFold
    private var projector: Projector { outbox.projector }
    package private(set) var sums = FateSums()
    /// The fold's counts before the first event.
    private let start: ChangeCounts
    /// Where the app made the changes that a decision moved to another position in the outbox.
    private var origins: [Position: Position] = [:]

    /// - Parameter rows: The rows that are folded.
    package init(from start: Projector, folding rows: FoldedRows = FoldedRows(areAll: true)) throws(SyncError) {
        self.start = start.totals
        outbox = try OutboxFold(from: start, folding: rows)
    }

    /// The rows that another accounting must fold, because this one has found some of them too late; nil if it has not.
    package var missing: FoldedRows? { outbox.isExact ? nil : outbox.rows }

    /// Folds the next record and reports the changes whose fate it decided.
    package mutating func fold(
        _ record: UnsafeRawBufferPointer, number: UInt64, _ body: (ChangeFate) throws -> Void = { _ in }
    ) throws {
        switch try outbox.take(record, number: number) {
        case .none: return
        case .done(let trip): return try tell(trip.position, trip.rowKey, trip.kind, .done, by: number, body)
        case .folded: break
        }
        projector.store.beginChanges()
        let before = projector.totals
        try outbox.fold(record, number: number)
        let changes = try StateChanges(projector)
        let gone = changes.journal.filter { $0.after == nil }
        if try !gone.isEmpty || EventReader(record, projector.shapes).kind == .resolved {
            try settle(Event(record, shapes: projector.shapes), number, gone, changes, since: before, body)
        }
    }

    private mutating func settle(
        _ event: Event, _ number: UInt64, _ gone: [JournalChange], _ changes: StateChanges, since before: ChangeCounts,
        _ body: (ChangeFate) throws -> Void
    ) throws {
        let isResolved = projector.totals.resolved > before.resolved
        let came = changes.journal.filter { $0.before == nil }.map(\.position)
        let made = Int(projector.totals.made - before.made)
        // What a merge or a keep-mine decision leaves of an operation may move to another position.
        let moved = max(0, came.count - made)
        for (old, new) in zip(gone.suffix(moved), came) {
            origins[new] = origins.removeValue(forKey: old.position) ?? old.position
        }
        let ended = gone.dropLast(moved)
        let last = Dictionary(ended.map { ($0.before?.rowKey ?? [], $0.position) }) { max($0, $1) }
        for change in ended {
            let key = change.before?.rowKey ?? []
            let pending = changes.rows.first { $0.key == key }?.before?.pending
            let fate = Accounting.fate(
                of: change.position, isLast: change.position == last[key], event, pending, isResolved)
            try tell(change.position, key, change.before?.kind ?? .update, fate, by: number, body)
        }
        // A row of the app's choosing that cancelled out with later changes never was in the outbox.
        if case .resolved(let resolution) = event.body, made > came.count {
            let key = projector.state.rowKey(resolution.table, resolution.id)
            try tell(
                Position(event: number), key, resolution.change?.kind ?? .update, .superseded, by: number, body)
        }
    }

    private mutating func tell(
        _ position: Position, _ key: [UInt8], _ kind: OperationKind, _ fate: Fate, by event: UInt64?,
        _ body: (ChangeFate) throws -> Void
    ) throws {
        let row = try RowKey(malformed: key)
        sums.count(fate)
        try body(
            ChangeFate(
                position: origins.removeValue(forKey: position) ?? position, table: row.table, id: row.id, kind: kind,
                fate: fate, event: event))
    }

    /// Returns why a change left the outbox.
    private static func fate(
        of position: Position, isLast: Bool, _ event: Event, _ before: PendingRow?, _ isResolved: Bool
    ) -> Fate {
        switch event.body {
        case .purged, .discarded: return .cancelled
        // Earlier changes that cancel each other out go with those that were undone.
        case .undone(let event): return position.event == event ? .cancelled : .superseded
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
        case .opened, .configured, .local, .indexed, .typed, .cursorReset, .sent, .declared, .serverWorked, .carried:
            return .superseded
        }
    }

    /// Reports the changes that are still in the outbox. Those that cancel each other out stay there until the next push,
    /// which sends nothing for them.
    package mutating func finish(_ body: (ChangeFate) throws -> Void = { _ in }) throws -> AccountingResult {
        let reader = projector.reader(of: projector.store.snapshot)
        var left: [(position: Position, key: [UInt8], kind: OperationKind)] = []
        try reader.forEachChange { position, change throws(SyncError) in
            left.append((position, change.rowKey, change.kind))
            return true
        }
        left += outbox.left.map { ($0.position, $0.rowKey, $0.kind) }
        left.sort { $0.position < $1.position }
        var void: UInt64 = 0
        for change in left {
            let end = try reader.entry(key: change.key)?.pending?.cancelled(change.position)
            if end != nil { void += 1 }
            try tell(
                change.position, change.key, change.kind, end == nil ? .unconfirmed : .superseded, by: end?.event, body)
        }
        let totals = outbox.totals
        // What was in the outbox when the history begins was made before it.
        sums.made = start.pending + totals.made - start.made
        return AccountingResult(sums: sums, totals: totals, start: start, through: projector.through, void: void)
    }
}

extension PendingRow {
    /// The change that ended another one by cancelling it out; nil if nothing did.
    fileprivate func cancelled(_ position: Position) -> Position? {
        operation == nil && position > frozen?.through ?? Position(event: 0) ? last : nil
    }
}

/// The balance of a history.
package struct AccountingResult: Sendable {
    package var sums: FateSums
    /// The fold's counts, from the store's first event on, and up to where the history begins.
    package var totals: ChangeCounts
    package var start: ChangeCounts
    package var through: UInt64
    /// The number of changes in the outbox that cancel each other out.
    package var void: UInt64

    /// The fold's counts and the ones found here, if they differ.
    package var differences: [(name: String, counted: UInt64, found: UInt64)] {
        let pairs: [(String, UInt64, UInt64)] = [
            ("made", totals.made - start.made + start.pending, sums.made),
            ("done", totals.done - start.done, sums[.done]),
            ("superseded", totals.superseded - start.superseded + void, sums[.superseded]),
            ("cancelled", totals.cancelled - start.cancelled, sums[.cancelled]),
            ("resolved", totals.resolved - start.resolved, sums[.resolved]),
            ("unconfirmed", totals.pending - void, sums[.unconfirmed]),
        ]
        return pairs.filter { $0.1 != $0.2 }.map { (name: $0.0, counted: $0.1, found: $0.2) }
    }

    /// Whether every change is accounted for and the fold's counts agree.
    package var isBalanced: Bool { sums.isBalanced && differences.isEmpty }
}
