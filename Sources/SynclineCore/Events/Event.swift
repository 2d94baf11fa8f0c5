// The events in the log: everything that happened to a store, with all that is needed to fold and explain it later.
// Times and ids are chosen before an event is written; folding depends on nothing but the state.

/// One record of the log.
package struct Event: Hashable, Sendable {
    /// The wall clock of the device that wrote it, in milliseconds since 1970. Its logical time is its number.
    package var time: Int64
    package var body: Body

    package init(time: Int64, _ body: Body) {
        self.time = time
        self.body = body
    }

    package enum Body: Hashable, Sendable {
        /// A process opened the store for writing.
        case opened(Opening)
        /// A setting changed; nil removes it.
        case configured(name: String, value: Value?)
        /// The app changed rows, atomically.
        case local(LocalTransaction)
        /// The app undid a local transaction.
        case undone(event: UInt64)
        /// The server sent a page of a pull.
        case page(PulledPage)
        /// The app removed rows without telling the server.
        case purged(Purge)
        /// The app declared or dropped an index.
        case indexed(IndexChange)
        /// The app declared the types of columns.
        case typed(TypeDeclaration)
        /// The app reset a query's cursor.
        case cursorReset(table: String, queryID: String)
        /// Operations are about to be sent.
        case sent([SentOperation])
        /// The result of an operation is known.
        case answered(Answer)
        /// A conflict or a parked operation was decided.
        case resolved(Resolution)
        /// The app dropped the pending operations of a row.
        case discarded(table: String, id: String)
        /// The server answered another request while an operation was failing.
        case serverWorked
        /// The app's schema changed; the migration steps change the existing rows.
        case declared(Declaration, steps: [SchemaStep])
        /// History through an event may be removed: the unconfirmed changes of its events.
        case carried(through: UInt64, [CarriedRow])
    }
}

/// Identifies the writer of the following events.
package struct Opening: Hashable, Sendable {
    /// The device's name, created once for a store on a device.
    package var device: String
    package var engineVersion: String
    /// The version of the fold and of the state's encoding.
    package var projectorVersion: UInt32
    /// The version of the app's schema; 0 if the process has none.
    package var schemaVersion: UInt32
    /// The store's location, as a mark that a copy of it does not have; nil if it is not known.
    package var place: String?

    package init(
        device: String, engineVersion: String, projectorVersion: UInt32, schemaVersion: UInt32, place: String? = nil
    ) {
        self.device = device
        self.place = place
        self.engineVersion = engineVersion
        self.projectorVersion = projectorVersion
        self.schemaVersion = schemaVersion
    }
}

/// Changes made together.
package struct LocalTransaction: Hashable, Sendable {
    package var heading: TransactionHeading
    package var changes: [LocalChange]

    package init(_ changes: [LocalChange], _ heading: TransactionHeading) {
        self.heading = heading
        self.changes = changes
    }

    package init(_ changes: [LocalChange], isGrouped: Bool) {
        self.init(changes, TransactionHeading(isGrouped: isGrouped))
    }
}

/// A change of one row.
package struct LocalChange: Hashable, Sendable {
    package var kind: OperationKind
    package var table: String
    package var id: String
    /// For an insert, all columns; for an update, those that changed; for a delete, none.
    package var columns: Row
    /// The version of the base it was made on, if there is one.
    package var baseVersion: Value?
    /// Whether it inserts a row whose delete was pending.
    package var replaces: Bool
    /// Whether it deletes a row the server never saw.
    package var cancels: Bool
    /// For a change of another process: the row that it saw; nil if it saw none.
    package var seen: Row?
    /// Whether the row, or another of its transaction, had changed in a way that the other process had not seen.
    package var isContested = false

    package init(
        kind: OperationKind, table: String, id: String, columns: Row = .empty, baseVersion: Value? = nil,
        replaces: Bool = false, cancels: Bool = false
    ) {
        self.kind = kind
        self.table = table
        self.id = id
        self.columns = columns
        self.baseVersion = baseVersion
        self.replaces = replaces
        self.cancels = cancels
    }
}

/// A page of a pull: rows, removals and the cursor, which are applied together.
package struct PulledPage: Hashable, Sendable {
    package var table: String
    /// Nil for a pull that keeps no cursor.
    package var queryID: String?
    /// Rows as received, with their system columns, each with its id.
    package var rows: [PulledRow]
    /// Rows that can't be read.
    package var unreadable: [UnreadableRow] = []
    /// The hashes of listed rows without an id that the server no longer sends.
    package var vanished: [UInt64] = []
    /// The query's cursor after this page; nil to leave it unchanged.
    package var cursor: CursorState?
    /// Whether missing rows have no tombstones: all rows were requested from the server, and these were not among
    /// them.
    package var isAudit: Bool

    package init(
        table: String, queryID: String?, rows: [PulledRow], cursor: CursorState?, isAudit: Bool = false
    ) {
        self.table = table
        self.queryID = queryID
        self.rows = rows
        self.cursor = cursor
        self.isAudit = isAudit
    }
}

package struct PulledRow: Hashable, Sendable {
    package var id: String
    /// Nil for a row that is gone.
    package var row: Row?
    /// Whether it is gone only from the view of the query: the server has it, and it no longer matches.
    package var hasLeft: Bool
    /// Whether it has left because the user lost the right to it.
    package var isByRight: Bool

    package init(id: String, row: Row?, hasLeft: Bool = false, isByRight: Bool = false) {
        self.id = id
        self.row = row
        self.hasLeft = hasLeft
        self.isByRight = isByRight
    }
}

/// An index that was declared or dropped.
package struct IndexChange: Hashable, Sendable {
    package var table: String
    /// The columns it is sorted by.
    package var columns: [String]
    /// Columns that it keeps beside those.
    package var including: [String]
    package var isOn: Bool

    package init(table: String, columns: [String], including: [String] = [], isOn: Bool) {
        self.table = table
        self.columns = columns
        self.including = including
        self.isOn = isOn
    }
}

/// Rows removed locally.
package struct Purge: Hashable, Sendable {
    package var table: String
    /// The ids removed; nil for the whole table.
    package var ids: [String]?
    /// Whether pending changes were removed, too.
    package var isForced: Bool

    package init(table: String, ids: [String]?, isForced: Bool) {
        self.table = table
        self.ids = ids
        self.isForced = isForced
    }
}
