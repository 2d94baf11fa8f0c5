// What the log holds of talking to a server: operations on their way, what became of them, and what was decided.

/// An operation on its way to the server. From here on it is sent as it is now, with this id, until its fate is known.
package struct SentOperation: Hashable, Sendable {
    package var table: String
    package var id: String
    /// Nil for changes that came to nothing: they leave the outbox, and nothing is sent.
    package var operationID: String?
    /// Its place in the order of the push.
    package var position: Position
    /// The last change it takes along; later ones follow behind it.
    package var through: Position

    package init(table: String, id: String, operationID: String?, position: Position, through: Position) {
        self.table = table
        self.id = id
        self.operationID = operationID
        self.position = position
        self.through = through
    }
}

/// What became of an operation that was sent.
package struct Answer: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// The server has it. Its row under its id as the server spells it; none if the row is gone.
        case done(PulledRow)
        /// The server's row is another than the one it was made on; nil if it is gone.
        case conflict(server: Row?, code: String)
        /// The server refused it.
        case parked
        /// It certainly did not reach the server.
        case notReceived
        /// The server keeps a tombstone of the row, which it may have shown: the insert goes on as an undelete.
        case tombstone(Row?)
        /// The undelete brought the row back as it was: what differs goes on as an update.
        case revived(PulledRow)
        /// The server answered 500 to every try, and the push stopped.
        case failing
        /// The push stopped for another reason, after one that the operation had stopped by failing.
        case interrupted
    }

    package var table: String
    package var id: String
    package var operationID: String
    /// The status of the answer.
    package var status: Int
    package var outcome: Outcome
    /// The server's words.
    package var message: String?
    /// The operation id of what is sent next, of an outcome that goes on.
    package var nextOperationID: String?
    /// Of a conflict: an earlier try, whose answer was lost, may have been done before the server's row changed.
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
    /// Whether the operation goes on at once, as another request.
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
        /// Mine is dropped.
        case takeServer
        /// Mine goes on, on top of the server's row.
        case keepMine
        /// What both sides changed, joined.
        case merge
        /// A row of the app's choosing.
        case row
    }

    /// What is left to be pushed.
    package struct Change: Hashable, Sendable {
        package var kind: OperationKind
        package var columns: Row

        package init(kind: OperationKind, columns: Row) {
            self.kind = kind
            self.columns = columns
        }
    }

    package var table: String
    package var id: String
    package var choice: Choice
    /// Nil where nothing is left to be pushed.
    package var change: Change?
    /// The policy that decided; nil if the app did.
    package var policy: String?

    package init(table: String, id: String, choice: Choice, change: Change?, policy: String?) {
        self.table = table
        self.id = id
        self.choice = choice
        self.change = change
        self.policy = policy
    }
}
