// Combines the changes of a branch into one transaction of its store, whose rows may have changed meanwhile. The code
// is pure: it reads three states.

/// The changes of a branch, as one transaction in its store.
package struct Landing: Sendable {
    package struct Change: Hashable, Sendable {
        package var table: String
        package var id: String
        /// The change to the current row of the store.
        package var kind: OperationKind
        /// For an insert, all columns; for an update, those that the branch changed; for a delete, none.
        package var columns: Row
        /// Whether the store's row has changed since the branch was created.
        package var hasMoved: Bool
    }

    package private(set) var changes: [Change] = []

    /// The changes to rows that have changed in the store since the branch was created.
    package var moved: [Change] { changes.filter(\.hasMoved) }

    /// - Parameters:
    ///   - base: The state that the branch was created from.
    ///   - branch: Its current state.
    ///   - store: The current state of the store.
    package init(from base: StateReader, to branch: StateReader, onto store: StateReader) throws(SyncError) {
        var changes: [Change] = []
        try base.differences(to: branch) { difference throws(SyncError) in
            let (before, after) = (difference.before?.own, difference.after?.own)
            let now = try store.row(difference.table, difference.id)?.columns.own
            // The row is already the same: both made the same change, or the branch took its own back.
            if Landing.same(before, after) || Landing.same(now, after) { return }
            let hasMoved = !Landing.same(before, now)
            func add(_ kind: OperationKind, _ columns: Row) {
                changes.append(
                    Change(
                        table: difference.table, id: difference.id, kind: kind, columns: columns, hasMoved: hasMoved))
            }
            guard let after else { return add(.delete, .empty) }
            if now == nil { return add(.insert, after) }
            let fields = difference.fields.filter { !Item.systemColumns.contains($0.name) }
            add(.update, Row(fields.map { .init($0.name, $0.after ?? .null) }))
        }
        self.changes = changes
    }

    /// Whether two rows have the same values, in whatever order.
    private static func same(_ one: Row?, _ other: Row?) -> Bool {
        RowDifference(table: "", id: "", before: one, after: other, TableTypes()).isEmpty
    }
}

extension Event.Body {
    /// Whether it may be in the log of a branch. A landing compares rows, so other events of rows would land as changes
    /// of the app.
    package var isForBranches: Bool {
        switch self {
        case .opened, .configured, .local, .undone, .indexed, .typed, .declared, .carried: true
        case .page, .purged, .cursorReset, .sent, .answered, .resolved, .discarded, .serverWorked: false
        }
    }
}
