// What the log holds: everything that ever happened to a store, each with all that is needed to fold it again or to
// explain it later. Times and ids are decided before an event is written; folding one draws on nothing but the state.

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
        /// The app changed rows: all of it or none.
        case local(LocalTransaction)
        /// The app took back a local transaction.
        case undone(event: UInt64)
        /// The server sent a page of a pull.
        case page(PulledPage)
        /// The app removed rows without telling the server.
        case purged(Purge)
        /// The app declared an index over a column of a table, or wants it no longer.
        case indexed(table: String, column: String, isOn: Bool)
        /// The app reset a query's cursor.
        case cursorReset(table: String, queryID: String)
        /// Operations are about to be sent.
        case sent([SentOperation])
        /// The fate of an operation is known.
        case answered(Answer)
        /// A conflict or a parked operation was decided.
        case resolved(Resolution)
        /// The app dropped what is pending on a row.
        case discarded(table: String, id: String)
        /// The server answered something while an operation was failing.
        case serverWorked
        /// The app's schema became another; the steps of its migrations change the rows that are there.
        case declared(Declaration, steps: [SchemaStep])
        /// History through an event may be let go of: the changes of its events that no server has confirmed.
        case carried(through: UInt64, [CarriedRow])
    }
}

/// Who writes the events that follow.
package struct Opening: Hashable, Sendable {
    /// Made once for a store on a device.
    package var device: String
    package var engineVersion: String
    /// The version of the fold and of the state's encoding.
    package var projectorVersion: UInt32
    /// The version of the app's schema; 0 for a process that says none.
    package var schemaVersion: UInt32
    /// Where the store is, as a mark that a copy of it does not share; nil if that can't be told.
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
    package var changes: [LocalChange]
    /// Whether it was made as a transaction: then it is undone as one.
    package var isGrouped: Bool

    package init(_ changes: [LocalChange], isGrouped: Bool) {
        self.changes = changes
        self.isGrouped = isGrouped
    }
}

/// A change of one row.
package struct LocalChange: Hashable, Sendable {
    package var kind: OperationKind
    package var table: String
    package var id: String
    /// An insert: all columns. An update: those that changed. A delete: none.
    package var columns: Row
    /// The version of the base it was made on, where there is one.
    package var baseVersion: Value?
    /// An insert of a row whose delete was pending.
    package var replaces: Bool
    /// A delete of a row the server never saw.
    package var cancels: Bool

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

/// A page of a pull: rows, removals and the cursor, which move together.
package struct PulledPage: Hashable, Sendable {
    package var table: String
    /// Nil for a pull that keeps no cursor.
    package var queryID: String?
    /// Rows as they came, with their system columns, each under its id.
    package var rows: [PulledRow]
    /// Where the query stands after this page; nil leaves it.
    package var cursor: CursorState?
    /// Rows that are gone were not told of: the server was asked for all it has, and they were not there.
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

    package init(id: String, row: Row?) {
        self.id = id
        self.row = row
    }
}

/// Rows removed locally.
package struct Purge: Hashable, Sendable {
    package var table: String
    /// The ids removed; nil for the whole table.
    package var ids: [String]?
    /// Whether pending changes went too.
    package var isForced: Bool

    package init(table: String, ids: [String]?, isForced: Bool) {
        self.table = table
        self.ids = ids
        self.isForced = isForced
    }
}
