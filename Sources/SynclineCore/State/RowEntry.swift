// The state's entry of a row: the base (the server's latest row); while changes are pending, the columns that cover it,
// the operation that the changes collapse to, and the operation that was sent or awaits a decision; and the local
// columns. It answers what an app sees.

package struct RowEntry: Hashable, Sendable {
    /// The spelling of the id, if the key does not have it.
    package var spelling: String?
    package var base: Row?
    package var pending: PendingRow?
    /// Columns that never leave the device. They are removed with the row.
    package var local: Row?
    /// States of the server's row that own writes have replaced, until the server shows another one.
    package internal(set) var overtaken: [Overtaken] = []
    /// Whether the server's row was deleted by this store: an insert then restores it without a decision. Reset when
    /// the row is seen live.
    package var isOwnTombstone = false
    /// Whether the base came with the answer to an own write, not with a page.
    package var isAnswered = false
    /// Whether the server said that the user lost the right to the row. It is remembered for as long as a change waits.
    package var isRightLost = false

    /// Whether the entry holds nothing.
    package var isEmpty: Bool { base == nil && pending == nil && overtaken.isEmpty && !isOwnTombstone }

    /// Whether an app sees the row.
    package var isPresent: Bool { pending?.isPresent ?? (base != nil) }

    /// The server's row after the sent operation is done.
    package var expected: Row {
        let base = base ?? .empty
        guard let frozen = pending?.frozen else { return base }
        return frozen.kind == .delete ? .empty : base.merged(with: frozen.columns)
    }

    /// Whether an operation on the row awaits a decision.
    package var isUndecided: Bool { pending?.frozen.map { $0.status != .inFlight } ?? false }

    /// The row as an app sees it.
    package var visible: Row? {
        guard let local else { return shared }
        return shared?.merged(with: local)
    }

    /// The columns that the app sees and the server knows, too.
    var shared: Row? {
        guard isPresent else { return nil }
        guard let pending else { return base }
        guard let under = base ?? lostBase, !pending.hidesBase else { return pending.overlay }
        return under.merged(with: pending.overlay)
    }

    /// The base of a row that the server no longer shows while the app has changes to it: the app still sees it.
    private var lostBase: Row? {
        guard let frozen = pending?.frozen, frozen.kind == .update,
            isRightLost || frozen.status == .conflict && frozen.server == nil
        else { return nil }
        return frozen.ancestor
    }
}
