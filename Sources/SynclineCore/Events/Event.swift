// What the log holds: everything that ever happened to a store, each with all that is needed to fold it again or to
// explain it later. Times and ids are decided before an event is written; folding one draws on nothing but the state.

/// One record of the log.
public struct Event: Hashable, Sendable {
    /// The wall clock of the device that wrote it, in milliseconds since 1970. Its logical time is its number.
    public var time: Int64
    public var body: Body

    public init(time: Int64, _ body: Body) {
        self.time = time
        self.body = body
    }

    public enum Body: Hashable, Sendable {
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
        /// The app's schema became another; the steps of its migrations change the rows that are there.
        case declared(Declaration, steps: [Migration.Step])
    }
}

/// Who writes the events that follow.
public struct Opening: Hashable, Sendable {
    /// Made once for a store on a device.
    public var device: String
    public var engineVersion: String
    /// The version of the fold and of the state's encoding.
    public var projectorVersion: UInt32
    /// The version of the app's schema; 0 for a process that says none.
    public var schemaVersion: UInt32

    public init(device: String, engineVersion: String, projectorVersion: UInt32, schemaVersion: UInt32) {
        self.device = device
        self.engineVersion = engineVersion
        self.projectorVersion = projectorVersion
        self.schemaVersion = schemaVersion
    }
}

/// Changes made together.
public struct LocalTransaction: Hashable, Sendable {
    public var changes: [LocalChange]
    /// Whether it was made as a transaction: then it is undone as one.
    public var isGrouped: Bool

    public init(_ changes: [LocalChange], isGrouped: Bool) {
        self.changes = changes
        self.isGrouped = isGrouped
    }
}

/// A change of one row.
public struct LocalChange: Hashable, Sendable {
    public var kind: OperationKind
    public var table: String
    public var id: String
    /// An insert: all columns. An update: those that changed. A delete: none.
    public var columns: Row
    /// The version of the base it was made on, where there is one.
    public var baseVersion: Value?
    /// An insert of a row whose delete was pending.
    public var replaces: Bool
    /// A delete of a row the server never saw.
    public var cancels: Bool

    public init(
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
public struct PulledPage: Hashable, Sendable {
    public var table: String
    /// Nil for a pull that keeps no cursor.
    public var queryID: String?
    /// Rows as they came, with their system columns, each under its id.
    public var rows: [PulledRow]
    /// Where the query stands after this page; nil leaves it.
    public var cursor: CursorState?
    /// Rows that are gone were not told of: the server was asked for all it has, and they were not there.
    public var isAudit: Bool

    public init(
        table: String, queryID: String?, rows: [PulledRow], cursor: CursorState?, isAudit: Bool = false
    ) {
        self.table = table
        self.queryID = queryID
        self.rows = rows
        self.cursor = cursor
        self.isAudit = isAudit
    }
}

public struct PulledRow: Hashable, Sendable {
    public var id: String
    /// Nil for a row that is gone.
    public var row: Row?

    public init(id: String, row: Row?) {
        self.id = id
        self.row = row
    }
}

/// Where an incremental pull goes on.
public struct CursorState: Hashable, Sendable {
    /// The server's own text of the newest moment seen.
    public var position: String
    /// The query in canonical form: the same id with another query is refused.
    public var query: String
    /// Where a moment that spans pages goes on, by id.
    public var drain: String?
    /// When it was last moved, in milliseconds since 1970.
    public var updated: Int64

    public init(position: String, query: String, drain: String? = nil, updated: Int64) {
        self.position = position
        self.query = query
        self.drain = drain
        self.updated = updated
    }
}

/// Rows removed locally.
public struct Purge: Hashable, Sendable {
    public var table: String
    /// The ids removed; nil for the whole table.
    public var ids: [String]?
    /// Whether pending changes went too.
    public var isForced: Bool

    public init(table: String, ids: [String]?, isForced: Bool) {
        self.table = table
        self.ids = ids
        self.isForced = isForced
    }
}
