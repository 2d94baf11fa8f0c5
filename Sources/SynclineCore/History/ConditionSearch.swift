// Searches a range of a log's events for the one that made a condition true, or changed a count. Folds every event of the
// range; for one row only the events that concern it, and for the outbox only the rows whose changes do more than a round
// trip.

package struct ConditionSearch {
    /// The result of a search.
    package struct Finding: Sendable {
        /// The event that made the condition true, or changed the count; nil if none did.
        package var event: UInt64?
        /// The counts before and after that event, or the last one examined.
        package var counts: (before: Int, after: Int)
        /// Whether it was true before the first event examined. Then it must become false before an event can make
        /// it true.
        package var heldBefore: Bool
        /// Whether it was false at some point of the search.
        package var ceased: Bool
        /// The first and last event examined; nil if there was none.
        package var searched: ClosedRange<UInt64>?
        /// Whether the condition's row or table was found; nil if that was not checked.
        package var knowsSubject: Bool?

        /// The number of events examined.
        package var examined: UInt64 { searched.map { $0.upperBound - $0.lowerBound + 1 } ?? 0 }
    }

    /// Calls a visitor with the events after one, in order, until it returns false.
    package typealias Records = (UInt64, (UInt64, UnsafeRawBufferPointer) throws -> Bool) throws -> Void

    private let condition: Condition
    private let last: UInt64
    private let records: Records

    /// - Parameter last: The last event to look at.
    package init(_ condition: Condition, through last: UInt64 = .max, in records: @escaping Records) {
        self.condition = condition
        self.last = last
        self.records = records
    }

    /// Searches the events after the state `start` until the condition becomes true.
    /// - Parameter start: Loads the state, which is used up; it may be needed again.
    package func run(from start: () throws -> Projector) throws -> Finding {
        var rows = FoldedRows(areAll: !condition.isOnOutbox)
        while true {
            var search = try ReplaySearch(condition, from: start(), folding: rows)
            let finding = try run(&search)
            if search.isExact || finding.event != nil { return finding }
            rows = search.rows
        }
    }

    private func run(_ search: inout ReplaySearch) throws -> Finding {
        var finding = Finding(
            counts: (search.value, search.value), heldBefore: search.holds, ceased: !search.holds)
        try records(search.start) { number, record in
            if number > last { return false }
            finding.searched = (finding.searched?.lowerBound ?? number)...number
            let before = search.value
            let holds = try search.fold(record, number: number)
            finding.counts = (before, search.value)
            if condition.finds(before, search.value) {
                finding.event = number
                return false
            }
            if !holds { finding.ceased = true }
            return number < last
        }
        finding.knowsSubject = search.knowsSubject
        return finding
    }
}

/// Evaluates a condition after each event.
package struct ReplaySearch {
    private let condition: Condition
    private let projector: Projector
    private var outbox: OutboxFold
    /// The last event before those that are searched.
    let start: UInt64
    private var count: Int
    /// How many operations of rows that are not folded wait.
    private var trips = 0
    /// The rows that are held, if operations to push are counted.
    private var held: Set<[UInt8]> = []
    /// Whether the row, or a row of the table, is or was there; nil for a condition on the outbox.
    package private(set) var knowsSubject: Bool?

    /// - Parameter rows: The rows that are folded, if the condition is on the outbox.
    package init(
        _ condition: Condition, from start: Projector, folding rows: FoldedRows = FoldedRows(areAll: true)
    ) throws(SyncError) {
        self.condition = condition
        projector = start
        self.start = start.through
        outbox = try OutboxFold(from: start, folding: rows)
        let reader = start.reader(of: start.store.snapshot)
        count = try condition.count(in: reader)
        switch condition.subject {
        case .row(let focus, _): knowsSubject = try reader.entry(focus.table, focus.id) != nil
        case .count(let table, _): knowsSubject = try reader.tables().contains(table)
        case .pending: held = try reader.heldKeys()
        case .conflicts: break
        }
    }

    /// The count at this point.
    package var value: Int { count + trips }
    /// Whether it holds at this point.
    package var holds: Bool { condition.holds(value) }
    /// Whether all rows that must be folded were known in time. If not, the condition is as it was before.
    package var isExact: Bool { outbox.isExact }
    /// The rows that a further search must fold, if this one is not exact.
    package var rows: FoldedRows { outbox.rows }

    /// Takes the next record; returns whether the condition holds after it.
    package mutating func fold(_ record: UnsafeRawBufferPointer, number: UInt64) throws(SyncError) -> Bool {
        if let focus = condition.focus {
            var reader = try EventReader(record, projector.shapes)
            guard focus.mayConcern(record, kind: reader.kind) else { return holds }
            try projector.apply(try reader.event(), number: number, onlyTo: focus)
            let state = projector.reader(of: projector.store.snapshot)
            if knowsSubject == false { knowsSubject = try state.entry(focus.table, focus.id) != nil }
            count = try condition.count(in: state)
            return holds
        }
        let kind = try EventReader(record, projector.shapes).kind
        if condition.isOnOutbox {
            try follow(record, number, kind)
            return holds
        }
        if condition.mayChange(with: kind) {
            projector.store.beginChanges()
            try projector.apply(record, number: number)
            let changes = try StateChanges(projector, of: condition.scope)
            if knowsSubject == false, !changes.rows.isEmpty { knowsSubject = true }
            try count(changes, kind)
        } else if kind == .typed {
            // The rows are the same, and the condition may have another meaning.
            try projector.apply(record, number: number)
            count = try condition.count(in: projector.reader(of: projector.store.snapshot))
        } else {
            projector.store.endChanges()
            try projector.apply(record, number: number)
        }
        if number & 0xff == 0 { try projector.store.settle(above: 16 << 20) }
        return holds
    }

    private mutating func follow(
        _ record: UnsafeRawBufferPointer, _ number: UInt64, _ kind: EventKind
    ) throws(SyncError) {
        let effect = try outbox.take(record, number: number)
        if case .folded = effect {
            projector.store.beginChanges()
            try outbox.fold(record, number: number)
            try count(StateChanges(projector, of: condition.scope), kind)
        }
        if isExact, condition.subject == .pending { trips = outbox.tripCount }
    }

    private mutating func count(_ changes: StateChanges, _ kind: EventKind) throws(SyncError) {
        if condition.subject == .pending, kind == .configured || !held.isEmpty {
            let reader = projector.reader(of: projector.store.snapshot)
            let now = try reader.heldKeys()
            if now != held {
                held = now
                count = try condition.count(in: reader)
                return
            }
        }
        if kind == .declared {
            count = try condition.count(in: projector.reader(of: projector.store.snapshot))
        } else {
            count += condition.difference(
                changes, held: held, condition.table.map { projector.state.types[$0] } ?? TableTypes())
        }
    }
}
