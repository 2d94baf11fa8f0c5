// A store's requests to a server, independent of the protocol: the machines work with these and with the replies, and
// SynclineWire converts them to HTTP requests and back.

/// A request to a server.
package enum ServerRequest: Hashable, Sendable {
    case write(WriteRequest)
    /// One row; if the server can show deleted rows, also a deleted one.
    case row(table: String, id: String, includesDeleted: Bool = false)
    case list(ListRequest)
    case changes(ChangesRequest)
    /// Several writes in one request, each with a reply of its own.
    case batch([WriteRequest])
}

/// An operation being sent to the server.
package struct WriteRequest: Hashable, Sendable {
    package var kind: OperationKind
    package var table: String
    package var id: String
    /// The columns of the body, without the id and system columns; empty for a delete.
    package var body: Row
    /// The columns that it changes: those of the body, unless the body is the whole row.
    package var changes: Row
    /// The version the server's row must have, if the base has one.
    package var version: String?
    /// The row that the changes were made on.
    package var ancestor: Row?
    /// The same on every repeat.
    package var operationID: String
    /// For an insert that met a tombstone: how to ask the server to restore the row.
    package var undelete: Undelete?
    /// The types by which the server's row is compared with the sent one.
    package var types = TableTypes()

    package enum Undelete: Hashable, Sendable {
        /// With a request without a body, which restores the row as it was; `tombstone` is set if the server
        /// returned it.
        case bare(tombstone: Row?)
        /// With a request that has the whole row.
        case whole
    }

    package init(
        kind: OperationKind, table: String, id: String, body: Row, version: String?, operationID: String
    ) {
        self.kind = kind
        self.table = table
        self.id = id
        self.body = body
        changes = body
        self.version = version
        self.operationID = operationID
    }
}

/// A page of a table.
package struct ListRequest: Hashable, Sendable {
    package var table: String
    package var filter: FilterExpression?
    package var order: [RowQuery.Key] = []
    package var top: Int?
    package var skip = 0
    /// Where the previous page ended, as the server said.
    package var after: String?
    /// The columns wanted; nil for all.
    package var select: [String]?
    package var includesDeleted = true
    /// Whether the response has the total number of matching rows.
    package var counts = true
    /// The server's parameters for the next page, in place of all of the above.
    package var continuation: String?

    package init(table: String, filter: FilterExpression? = nil) {
        self.table = table
        self.filter = filter
    }
}

/// A page of a table's changes, in commit order.
package struct ChangesRequest: Hashable, Sendable {
    package var table: String
    /// The server's cursor after which they begin; empty for the beginning.
    package var since: String
    /// The view: for a changed row outside of it, the server only reports that it left.
    package var filter: FilterExpression?
    package var top: Int
    /// Whether the response has the total number of changes.
    package var counts = false
    /// The members of the rows that are wanted; empty for all.
    package var select: [String] = []

    package init(table: String, since: String, filter: FilterExpression?, top: Int) {
        self.table = table
        self.since = since
        self.filter = filter
        self.top = top
    }
}
