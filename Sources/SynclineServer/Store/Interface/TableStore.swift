// The interface to the rows: a database reduced to a few operations. Calls block; each takes effect completely or not
// at all.

import SynclineCore
import SynclineWire

protocol TableStore: Sendable {
    /// The current schema of a table; nil if there is no table with this name.
    func schema(_ table: String) -> TableSchema?
    /// Whether reading a row takes almost no time, regardless of the load on the store.
    var findsRowsAtOnce: Bool { get }
    /// The row with an id, deleted or not.
    func row(_ table: String, id: String) throws(StoreFailure) -> TableRow?
    func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome
    /// Carries out writes in one transaction, durable when this returns. All writes of a group are carried out or none.
    /// Rows that would make the answer too large are returned without their columns, and so are rows that were not
    /// requested.
    func write(
        _ groups: [[TableWrite]], stopsAtRefusal: Bool, wantsRows: Bool
    ) throws(StoreFailure) -> [[WriteOutcome]]
    func changes(_ plan: ChangePlan) throws(StoreFailure) -> ChangeOutcome
    /// The current change mark.
    func mark() throws(StoreFailure) -> ChangeMark
    /// Removes tombstones that were made before a time, and operations that are older than a day.
    func purge(tombstonesBefore time: Int64?) throws(StoreFailure)
    /// Throws the reason why the store can't be read. It needs nothing that requests wait for, and gives up soon.
    func check() throws(StoreFailure)
    /// The same for writing.
    func checkWrites() throws(StoreFailure)
    /// Interrupts waits for the database.
    func interrupt()
    func close()
    /// Its own metrics.
    var measures: [Measure] { get }
    /// The epoch of the database, as last read.
    var epoch: String { get }
}

extension TableStore {
    func write(_ groups: [[TableWrite]], stopsAtRefusal: Bool) throws(StoreFailure) -> [[WriteOutcome]] {
        try write(groups, stopsAtRefusal: stopsAtRefusal, wantsRows: true)
    }
}

/// Describes which rows of a table are wanted.
struct ListPlan: Hashable, Sendable {
    var table: String
    var filter: FilterExpression?
    var order: [RowQuery.Key] = []
    var skip = 0
    /// Only rows after this place; the count includes all rows.
    var after: PagePlace?
    var limit: Int
    var includesDeleted = false
    var counts = false
    var owner: String?
}

struct ListOutcome: Hashable, Sendable {
    var rows: [TableRow]
    /// Whether more rows follow.
    var hasMore: Bool
    var count: Int?

    /// Adds the next row, if the page has room for it.
    mutating func add(_ row: TableRow, _ limit: Int, _ room: inout AnswerBudget) {
        if !hasMore, rows.count < limit, room.takes(row) { rows.append(row) } else { hasMore = true }
    }
}

/// Describes which changes of a table are wanted.
struct ChangePlan: Hashable, Sendable {
    var table: String
    /// Changes after this one.
    var since: Int64
    /// Also the changes of that number of rows with ids after this one.
    var sinceID: String?
    /// Changes up to this one.
    var until: Int64?
    var limit: Int
    /// Rows that it does not match have left the view.
    var filter: FilterExpression?
    var owner: String?
    var counts = false
}

struct ChangeOutcome: Hashable, Sendable {
    var changes: [TableChange]
    var hasMore: Bool
    /// The number of changes after the cursor, if it was requested.
    var count: Int?
    /// From the same moment.
    var mark: ChangeMark

    /// Adds the next change, if the page has room for it.
    mutating func add(_ change: TableChange, _ limit: Int, _ room: inout AnswerBudget) {
        if !hasMore, changes.count < limit, room.takes(change.row) { changes.append(change) } else { hasMore = true }
    }
}
