// The place of an update in the order of a push. It may refer to a row that was inserted after the update's first
// change. So it moves to its last change if another row's insert lies between the two.

/// The positions of all inserts of a plan, for plans of any size.
struct PlannedInserts {
    private let positions: [Position]

    init(_ positions: [Position]) {
        self.positions = positions.sorted()
    }

    /// The place of an update with these first and last changes.
    func place(ofUpdate first: Position, through last: Position) -> Position {
        let next = positions.countOfFirst { $0 <= first }
        // A row has at most one insert, which comes before its update: the first insert between the two belongs to
        // another row.
        return next < positions.count && positions[next] < last ? last : first
    }
}

extension StateReader {
    /// The place of a row's operation that was not sent, without a plan of the whole outbox.
    func place(of operation: PendingRow.Operation, in pending: PendingRow, _ key: [UInt8]) throws(SyncError)
        -> Position
    {
        guard operation.kind == .update, pending.last > operation.first else { return operation.first }
        var place = operation.first
        try forEachChange(from: operation.first.event) { position, change throws(SyncError) in
            guard position < pending.last else { return false }
            guard position > operation.first, change.kind == .insert, change.rowKey != key else { return true }
            // Later changes may have made something else of an insert.
            let other = try entry(key: change.rowKey)?.pending
            let isSent = other?.frozen.map { $0.kind == .insert && $0.position == position } ?? false
            let isUnsent = other?.operation.map { $0.kind == .insert && $0.first == position } ?? false
            guard isSent || isUnsent else { return true }
            place = pending.last
            return false
        }
        return place
    }
}
