// The log's events about talking to a server: operations sent, their results, and decisions.

/// An operation that is being sent. From here on its content and id stay the same until its result is known.
package struct SentOperation: Hashable, Sendable {
    package var table: String
    package var id: String
    /// Nil for changes without a remaining effect: they leave the outbox, and nothing is sent.
    package var operationID: String?
    /// Its position in the order of the push.
    package var position: Position
    /// The last change it includes; later changes follow it.
    package var through: Position

    package init(table: String, id: String, operationID: String?, position: Position, through: Position) {
        self.table = table
        self.id = id
        self.operationID = operationID
        self.position = position
        self.through = through
    }
}

/// The result of an operation that was sent.
package struct Answer: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// The server has applied it. The row has the server's spelling of the id, and no columns if it is gone.
        case done(PulledRow)
        /// The server's row is not the one the operation was made on; nil if it is gone.
        case conflict(server: Row?, code: String)
        /// The server refused it.
        case parked
        /// It certainly did not reach the server.
        case notReceived
        /// The server keeps a tombstone of the row, which it may have returned: the insert continues as an undelete.
        case tombstone(Row?)
        /// The undelete restored the row as it was; the differences are sent as an update.
        case revived(PulledRow)
        /// The server answered 500 to every attempt, and the push stopped.
        case failing
        /// The push stopped for another reason, after the operation had stopped an earlier push by failing.
        case interrupted
    }

    package var table: String
    package var id: String
    package var operationID: String
    /// The response's status.
    package var status: Int
    package var outcome: Outcome
    /// The server's message.
    package var message: String?
    /// If the operation continues, the operation id of the next request.
    package var nextOperationID: String?
    /// For a conflict: whether an earlier attempt, whose response was lost, may have been applied before the
    /// server's row changed.
    package var mayHaveBeenDone = false

    package init(
        table: String, id: String, operationID: String, status: Int, outcome: Outcome, message: String? = nil
    ) {
        self.table = table
        self.id = id
        self.operationID = operationID
        self.status = status
        self.outcome = outcome
        self.message = message
    }
}

extension Answer.Outcome {
    /// Whether the server has shown its row, or that there is none.
    var showsRow: Bool {
        switch self {
        case .done, .conflict, .tombstone, .revived: true
        case .parked, .notReceived, .failing, .interrupted: false
        }
    }

    /// Whether the operation continues at once with another request.
    package var goesOn: Bool {
        switch self {
        case .tombstone, .revived: true
        case .done, .conflict, .parked, .notReceived, .failing, .interrupted: false
        }
    }
}

/// How a conflict or a parked operation was decided.
package struct Resolution: Hashable, Sendable {
    package enum Choice: UInt8, Hashable, Sendable, CaseIterable {
        /// The local operation was dropped.
        case takeServer
        /// The local operation was applied to the server's row.
        case keepMine
        /// The changes of both sides were merged.
        case merge
        /// The app supplied a row.
        case row
    }

    /// What remains to be pushed.
    package struct Change: Hashable, Sendable {
        package var kind: OperationKind
        package var columns: Row
    }

    package var table: String
    package var id: String
    package var choice: Choice
    /// Nil if nothing remains to be pushed.
    package var change: Change?
    /// The policy that decided; nil if the app did.
    package var policy: String?
}

extension Answer.Outcome {
    /// Its name in reports.
    package var name: String {
        switch self {
        case .done: "done"
        case .conflict: "conflict"
        case .parked: "parked"
        case .notReceived: "not received"
        case .tombstone: "tombstone"
        case .revived: "revived"
        case .failing: "failing"
        case .interrupted: "interrupted"
        }
    }
}
