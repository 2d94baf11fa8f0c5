// What a store asks of a server, in the words of neither protocol: the machines decide in these and in its replies, and
// SynclineWire turns them into requests and back.

/// Something a store asks of a server.
package enum ServerRequest: Hashable, Sendable {
    case write(WriteRequest)
    /// One row; of a server that can show a deleted one, also that.
    case row(table: String, id: String, includesDeleted: Bool = false)
    case list(ListRequest)
    case changes(ChangesRequest)
    /// Several writes in one request; each has a reply of its own.
    case batch([WriteRequest])
}

/// An operation on its way to the server.
package struct WriteRequest: Hashable, Sendable {
    package var kind: OperationKind
    package var table: String
    package var id: String
    /// The columns of the body, without the id and without system columns; empty for a delete.
    package var body: Row
    /// The version the server's row must have, where the base has one.
    package var version: String?
    /// The same on every repeat.
    package var operationID: String
    /// Of an insert that met a tombstone: how the server is asked to bring the row back.
    package var undelete: Undelete?

    package enum Undelete: Hashable, Sendable {
        /// By a request without a body: the row comes back as it was. The tombstone, if the server showed it.
        case bare(tombstone: Row?)
        /// By a request that carries the whole row.
        case whole
    }

    package init(
        kind: OperationKind, table: String, id: String, body: Row, version: String?, operationID: String
    ) {
        self.kind = kind
        self.table = table
        self.id = id
        self.body = body
        self.version = version
        self.operationID = operationID
    }
}

/// A page of a table.
package struct ListRequest: Hashable, Sendable {
    package var table: String
    package var filter: Expression?
    package var order: [Query.Key] = []
    package var top: Int?
    package var skip = 0
    /// Where the page before ended, in the words of the server that said so.
    package var after: String?
    /// The columns wanted; nil for all.
    package var select: [String]?
    package var includesDeleted = true
    /// Whether the answer tells how many rows match in all.
    package var counts = true
    /// The parameters a server gave for the next page, in place of all of the above.
    package var continuation: String?

    package init(table: String, filter: Expression? = nil) {
        self.table = table
        self.filter = filter
    }
}

/// A page of a table's changes, in the order of their commits.
package struct ChangesRequest: Hashable, Sendable {
    package var table: String
    /// The cursor behind which they begin, in the server's words; empty for the beginning.
    package var since: String
    /// The view: of a changed row that is not in it, only that it has left is told.
    package var filter: Expression?
    package var top: Int
    /// Whether the answer is to tell how many there are.
    package var counts = false

    package init(table: String, since: String, filter: Expression?, top: Int) {
        self.table = table
        self.since = since
        self.filter = filter
        self.top = top
    }
}
