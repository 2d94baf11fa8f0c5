// An operation as it was sent, and as it is sent again.

package struct FrozenOperation: Hashable, Sendable {
    package enum Status: UInt8, Hashable, Sendable {
        case inFlight, conflict, parked
    }

    package var kind: OperationKind
    package var status: Status
    /// Whether the server may have seen it.
    package var maybeSent: Bool
    /// Its place in the outbox.
    package var position: Position
    /// The last change that it contains; later ones are follow-ups.
    package var through: Position
    package var operationID: String
    /// The columns that are sent.
    package var columns: Row
    /// The base that it was made on.
    package var ancestor: Row?
    /// The progress of an insert that met a tombstone on the server; nil if it is sent as an insert.
    package var revival: Revival?
    /// Whether it was decided to restore the row if the server has deleted it.
    package var isDecided = false
    /// For a conflict: whether an earlier attempt with a lost answer may have been applied before the server's row
    /// changed.
    package var mayHaveBeenDone = false
    /// How many pushes in a row it stopped because the server answered 500 to every attempt.
    package var failures = 0
    /// Whether the server has answered otherwise since it began to fail: then the server works, and this operation is
    /// the cause.
    package var serverWorks = false
    /// The server's answer: its row (nil if it is gone), status, code and message.
    package var server: Row?
    /// For a conflict with a change of another process on this device: what the app had pending.
    package var rival: Rival?
    package var httpStatus: Int?
    package var code: String?
    package var message: String?

    package init(
        kind: OperationKind, status: Status, maybeSent: Bool, position: Position, through: Position,
        operationID: String, columns: Row, ancestor: Row?
    ) {
        self.kind = kind
        self.status = status
        self.maybeSent = maybeSent
        self.position = position
        self.through = through
        self.operationID = operationID
        self.columns = columns
        self.ancestor = ancestor
    }

    /// The row after the operation; nil for a delete without an ancestor.
    package var row: Row? {
        kind == .delete ? ancestor : (ancestor ?? .empty).merged(with: columns)
    }
}

/// An insert that continues as an undelete, because the server has a tombstone of the row.
package struct Revival: Hashable, Sendable {
    /// The tombstone, if the server showed it.
    package var tombstone: Row?

    package init(tombstone: Row? = nil) { self.tombstone = tombstone }
}
