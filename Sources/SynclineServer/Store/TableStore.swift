// Where the rows are: a database behind a handful of questions. Calls block; each is whole or has no effect.

import SynclineCore
import SynclineWire

protocol TableStore: Sendable {
    /// A table as it is now; nil if there is none of the name.
    func schema(_ table: String) -> TableSchema?
    /// Whether a row is found in no time to speak of, however much else is asked of the store.
    var findsRowsAtOnce: Bool { get }
    /// The row of an id, deleted or not.
    func row(_ table: String, id: String) throws(StoreFailure) -> TableRow?
    func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome
    /// Carries out writes in one transaction, durable when this returns. Of a group all are done or none. Rows that would
    /// make the answer too large come without their columns, and so do those that nobody wants.
    func write(
        _ groups: [[TableWrite]], stopsAtRefusal: Bool, wantsRows: Bool
    ) throws(StoreFailure) -> [[WriteOutcome]]
    func changes(_ plan: ChangePlan) throws(StoreFailure) -> ChangeOutcome
    /// Where the order of changes stands.
    func mark() throws(StoreFailure) -> ChangeMark
    /// Forgets tombstones that were made before a time, and operations that are older than a day.
    func purge(tombstonesBefore time: Int64?) throws(StoreFailure)
    /// Throws what keeps the store from being read. It needs nothing that requests wait for, and gives up soon.
    func check() throws(StoreFailure)
    /// Cuts short what waits for the database.
    func interrupt()
    func close()
    /// What it counts by itself.
    var measures: [Measure] { get }
    /// The name of the database's contents, as it was last seen.
    var epoch: String { get }
}

extension TableStore {
    func write(_ groups: [[TableWrite]], stopsAtRefusal: Bool) throws(StoreFailure) -> [[WriteOutcome]] {
        try write(groups, stopsAtRefusal: stopsAtRefusal, wantsRows: true)
    }
}

/// Which rows of a table are wanted.
struct ListPlan: Hashable, Sendable {
    var table: String
    var filter: Expression?
    var order: [Query.Key] = []
    var skip = 0
    /// Only rows behind this place; the count is of all.
    var after: PagePlace?
    var limit: Int
    var includesDeleted = false
    var counts = false
    var owner: String?

    init(table: String, limit: Int) {
        self.table = table
        self.limit = limit
    }
}

struct ListOutcome: Hashable, Sendable {
    var rows: [TableRow]
    /// Whether there are more behind them.
    var hasMore: Bool
    var count: Int?

    /// Adds the next row, if the page has room for it.
    mutating func add(_ row: TableRow, _ limit: Int, _ room: inout AnswerRoom) {
        if !hasMore, rows.count < limit, room.takes(row) { rows.append(row) } else { hasMore = true }
    }
}

/// Which changes of a table are wanted.
struct ChangePlan: Hashable, Sendable {
    var table: String
    /// Those behind this change.
    var since: Int64
    /// And not behind this one.
    var until: Int64?
    var limit: Int
    /// Rows that it does not match have left the view.
    var filter: Expression?
    var owner: String?
    var counts = false

    init(table: String, since: Int64, limit: Int) {
        self.table = table
        self.since = since
        self.limit = limit
    }
}

struct ChangeOutcome: Hashable, Sendable {
    var changes: [TableChange]
    var hasMore: Bool
    /// How many there are behind the cursor, where that was asked.
    var count: Int?
    /// Of the same moment.
    var mark: ChangeMark

    /// Adds the next change, if the page has room for it.
    mutating func add(_ change: TableChange, _ limit: Int, _ room: inout AnswerRoom) {
        if !hasMore, changes.count < limit, room.takes(change.row) { changes.append(change) } else { hasMore = true }
    }
}

/// Why a store could not do what it was asked.
enum StoreFailure: Error, Hashable, Sendable {
    /// It may work in a moment.
    case busy(FailureReason)
    /// The request can't be carried out on the tables as they are.
    case refused(Refusal)
    /// A statement does not fit the tables as they are: they were changed by hand. Another look at them helps, or tells.
    case changed(FailureReason)
    /// A defect, or a broken database.
    case broken(FailureReason)

    /// Nil if nothing failed but the request.
    var reason: FailureReason? {
        switch self {
        case .busy(let reason), .changed(let reason), .broken(let reason): reason
        case .refused: nil
        }
    }
}
