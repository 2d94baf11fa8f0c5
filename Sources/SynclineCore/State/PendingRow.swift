// The pending changes of a row, as its entry has them.

package struct PendingRow: Hashable, Sendable {
    /// The first and the last change of the row in the journal, and their number.
    package var first: Position
    package var last: Position
    package var count: Int
    /// Whether an app sees the row.
    package var isPresent: Bool
    /// Whether the base is hidden: the row was deleted and inserted again.
    package var hidesBase = false
    /// The columns that the changes set; later changes win.
    package var overlay: Row = .empty
    /// The operation that the unsent changes collapse to; nil if they cancel each other out.
    package var operation: Operation?
    /// The operation that was sent, is in conflict, or parked. Few rows have one, and it is large, so it is stored
    /// separately.
    package var frozen: FrozenOperation? {
        get { frozenBox?.content }
        set { frozenBox = newValue.map(Box.init) }
    }
    private var frozenBox: Box<FrozenOperation>?

    package struct Operation: Hashable, Sendable {
        package var kind: OperationKind
        /// Its first change.
        package var first: Position
    }

    package init(first: Position, last: Position, count: Int, isPresent: Bool) {
        self.first = first
        self.last = last
        self.count = count
        self.isPresent = isPresent
    }
}

/// A value stored by reference.
private final class Box<Content: Hashable & Sendable>: Hashable, Sendable {
    let content: Content

    init(_ content: Content) {
        self.content = content
    }

    static func == (left: Box, right: Box) -> Bool { left.content == right.content }

    func hash(into hasher: inout Hasher) { hasher.combine(content) }
}
