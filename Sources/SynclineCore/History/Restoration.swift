// Restorations: the changes that put rows back as they were, computed before they are made, so that an app can show
// them. The code is pure: it reads states.

import SynclineGround

/// The rows that a restoration puts back.
public enum RestorationScope: Hashable, Sendable {
    /// One row of a table.
    case row(String, id: String)
    /// The rows of a table that match a query now, or matched it then. The query has no window.
    case rows(RowQuery)
    /// All rows of a table.
    case table(String)
}

/// The changes that put rows back as they were. They are made by `restore` of a database.
public struct Restoration: Hashable, Sendable {
    /// A row, and what is written of it.
    package struct Part: Hashable, Sendable {
        package var difference: RowDifference
        /// For an insert, the row; for an update, the columns that differ.
        package var columns: Row
    }

    package private(set) var parts: [Part] = []
    private let schemaVersion: UInt32

    /// The rows that the restoration changes, with the columns of the app as they are and as they will be. Without a row
    /// before, it is inserted; without a row after, it is deleted.
    public var changes: [RowDifference] { parts.map(\.difference) }

    /// - Parameter steps: The migrations of the store since the past state.
    package init(
        of scope: RestorationScope, to past: StateReader, from present: StateReader, since steps: [SchemaStep]
    ) throws(SyncError) {
        schemaVersion = try present.declaration?.version ?? 0
        let table = try RestoredTable(scope.table, present)
        let rows = try PastRows(of: table, in: past, since: steps)
        switch scope {
        case .row(_, let id):
            try Item.check(id: id)
            try add(try table.part(id, to: try rows.row(id)))
        case .rows(let query):
            try query.check()
            guard query.top == nil, query.skip == 0, query.after == nil else {
                throw SyncError(
                    .invalidQuery, "a restoration takes all rows of a query", hint: "Leave out top, skip and after.")
            }
            let program = FilterProgram(try present.resolved(query.filter, in: query.table), table.types)
            try add(table, rows) { id, row throws(SyncError) in try program.matches(id, row) }
        case .table: try add(table, rows) { _, _ in true }
        }
    }

    /// What takes back the changes that an event made to rows. Columns that it did not change stay as they are.
    /// - Parameters:
    ///   - rows: The rows that the event changed, in its order.
    ///   - steps: The migrations of the store since the state before the event, and since the state after it.
    package init(
        undoing rows: [RowKey], before: StateReader, after: StateReader, from present: StateReader,
        since steps: (before: [SchemaStep], after: [SchemaStep])
    ) throws(SyncError) {
        schemaVersion = try present.declaration?.version ?? 0
        var tables: [ExactString: (now: RestoredTable, before: PastRows, after: PastRows)] = [:]
        // A row that refers to another one is removed before it, and returns after it.
        for row in rows.reversed() {
            let name = ExactString(row.table)
            if tables[name] == nil {
                let table = try RestoredTable(row.table, present)
                tables[name] = (
                    table, try PastRows(of: table, in: before, since: steps.before),
                    try PastRows(of: table, in: after, since: steps.after)
                )
            }
            guard let (table, before, after) = tables[name] else { continue }
            try add(try table.part(row.id, undoing: try before.row(row.id), to: try after.row(row.id)))
        }
    }

    private mutating func add(_ part: Part?) throws(SyncError) {
        if let part { parts.append(part) }
    }

    /// Adds the rows of a table that are wanted, now or then.
    private mutating func add(
        _ table: RestoredTable, _ rows: PastRows, _ isWanted: (String, Row) throws(SyncError) -> Bool
    ) throws(SyncError) {
        let present = table.present
        // Ids that differed by case may be one by now.
        let comparison = try present.idComparison
        let isFolded = try comparison != rows.past.idComparison
        var known: Set<[UInt8]> = []
        try rows.past.forEachEntry(of: table.name) { id, entry throws(SyncError) in
            guard let row = rows.row(entry) else { return }
            if isFolded { known.insert(RowKey.bytes(table.name, id, comparison)) }
            if try !isWanted(id, table.filled(row)) {
                guard let now = try present.row(table.name, id), try isWanted(now.id, now.columns) else { return }
            }
            try add(try table.part(id, to: row))
        }
        try present.forEachEntry(of: table.name) { id, entry throws(SyncError) in
            guard let now = entry.visible, try rows.past.entry(table.name, id)?.isPresent != true else { return }
            if isFolded, known.contains(RowKey.bytes(table.name, id, comparison)) { return }
            if try isWanted(id, now) { try add(try table.part(id, to: nil)) }
        }
    }

    /// Throws if a row is not as the restoration found it.
    package func check(_ reader: StateReader) throws(SyncError) {
        guard try schemaVersion == reader.declaration?.version ?? 0 else {
            throw SyncError(
                .staleItem, "the schema has changed since the restoration was made", hint: Restoration.hint)
        }
        var moved: [RowKey] = []
        for change in changes {
            var found = change
            found.after = try reader.row(change.table, change.id)?.columns.own
            if !found.isEmpty { moved.append(RowKey(table: change.table, id: change.id)) }
        }
        if moved.isEmpty { return }
        throw SyncError(
            .staleItem, "rows have changed since the restoration was made: \(moved.shown)", hint: Restoration.hint)
    }

    private static let hint = "Make the restoration again, and look at its changes."
}

extension RestorationScope {
    fileprivate var table: String {
        switch self {
        case .row(let table, _), .table(let table): table
        case .rows(let query): query.table
        }
    }
}

extension [RowKey] {
    /// The first rows, for a message.
    package var shown: String {
        prefix(10).map { "\($0.table)/\($0.id)" }.joined(separator: ", ")
            + (count > 10 ? " and \(count - 10) more" : "")
    }
}

extension FilterProgram {
    fileprivate func matches(_ id: String, _ row: Row) throws(SyncError) -> Bool {
        try Array(id.utf8).withBytes { id throws(SyncError) in
            try row.withView { row throws(SyncError) in try matches(EncodedRowView(id: id, row: row)) }
        }
    }
}
