// An operation of the outbox with the changes that led to it, and what the compactor made of each, in words.

/// A change that is part of an operation.
package struct CollapsedChange: Hashable, Sendable {
    package var position: Position
    package var kind: OperationKind
    package var columns: [String]
    /// The rule that combined it with the changes before it.
    package var rule: String
    /// The combined effect of the changes up to this one; nil for nothing.
    package var result: OperationKind?
}

/// An operation as `pending` lists it, with its changes.
package struct CollapsedOperation: Hashable, Sendable {
    package var operation: PlannedOperation
    package var fields: [String]
    package var changes: [CollapsedChange]
    /// Why it has this position in the order.
    package var place: String
}

extension StateReader {
    /// Returns the operations of the plan, or of a part of it, each with its changes.
    package func outbox(_ part: Range<Int>? = nil) throws(SyncError) -> [CollapsedOperation] {
        let plan = try PushPlan(self).operations
        let operations = plan[part?.clamped(to: plan.indices) ?? plan.indices]
        let rows = Set(operations.map(\.rowKey))
        var chains: [[UInt8]: [(Position, JournalEntry)]] = [:]
        try forEachChange { position, change throws(SyncError) in
            if rows.contains(change.rowKey) { chains[change.rowKey, default: []].append((position, change)) }
            return true
        }
        return try operations.map { operation throws(SyncError) in
            let changes = (chains[operation.rowKey] ?? []).filter { position, change in
                operation.isFrozen ? change.isFrozen : !change.isFrozen
            }
            let pending = try entry(key: operation.rowKey)?.pending
            return CollapsedOperation(
                operation: operation, fields: try PushPlan.fields(of: operation, self),
                changes: CollapsedChange.list(changes, only: pending?.overlay.columns ?? []),
                place: operation.placeReason(first: changes.first?.0))
        }
    }
}

extension CollapsedChange {
    /// Names the rule for each change in turn.
    static func list(_ changes: [(Position, JournalEntry)], only columns: [String]) -> [CollapsedChange] {
        var result: OperationKind?
        return changes.map { position, change in
            let rule = CompactorRule(change, after: result)
            result = rule.operation
            // The columns of a row's only change are stored in the row.
            let own = change.kind == .delete ? [] : change.content?.columns ?? columns
            return CollapsedChange(
                position: position, kind: change.kind, columns: own,
                rule: change.isResolution ? "made by a resolution" : rule.words, result: result)
        }
    }
}

extension PlannedOperation {
    fileprivate func placeReason(first: Position?) -> String {
        let waits = state == .conflict || state == .parked
        if isFrozen { return maybeSent || !waits ? "where it was sent" : "where it waits for a decision" }
        return position == first || first == nil
            ? "at its first change" : "at its last change: a row was inserted between its first and its last"
    }
}
