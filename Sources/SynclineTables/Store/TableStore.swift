// The interface to the rows: a database reduced to a few operations. Calls block; each takes effect completely or not
// at all.

package import SynclineCore
import SynclineGround
package import SynclineWire

package protocol TableStore: Sendable {
    /// The current schema of a table; nil if there is no table with this name.
    func schema(_ table: String) -> ServedTable?
    /// Whether reading a row takes almost no time, regardless of the load on the store.
    var findsRowsAtOnce: Bool { get }
    /// The row with an id, deleted or not, whether or not a caller may see it.
    func row(_ table: String, id: String) throws(StoreFailure) -> TableRow?
    /// The row as a caller sees it; nil if it is hidden.
    func row(_ table: String, id: String, seenBy caller: Caller?) throws(StoreFailure) -> TableRow?
    /// The same for rows that different requests ask for, in tables without rules.
    func rows(together reads: [RowRead]) -> [Result<TableRow?, StoreFailure>]
    /// The writes that a caller may carry out on a row as it is; nil if it is hidden, or there is none.
    func permitted(
        _ table: String, id: String, to caller: Caller?
    ) throws(StoreFailure) -> Set<RuleOperation>?
    func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome
    /// Carries out writes in one transaction, durable when this returns. All writes of a group are carried out or none.
    /// Rows that would make the answer too large are returned without their columns, and so are rows that were not
    /// requested.
    func write(
        _ groups: [[TableWrite]], stopsAtRefusal: Bool, wantsRows: Bool
    ) throws(StoreFailure) -> [[WriteOutcome]]
    /// Carries out writes of different requests, each as if it were alone, and with its row.
    func write(together writes: [TableWrite]) -> [Result<WriteOutcome, StoreFailure>]
    func changes(_ plan: ChangePlan) throws(StoreFailure) -> ChangeOutcome
    /// The current change mark.
    func mark() throws(StoreFailure) -> ChangeMark
    /// Throws the reason why the store can't be read. It needs nothing that requests wait for, and gives up soon.
    func check() throws(StoreFailure)
    /// The same for writing.
    func checkWrites() throws(StoreFailure)
    /// The latest change mark, and the tables with changes since another one. By default, any may have some.
    /// - Parameter isWhole: Whether every committed change must be part of it. Otherwise the latest may be told later.
    func news(since known: ChangeMark?, isWhole: Bool) throws(StoreFailure) -> ChangeNews
    /// Calls the body as soon as readers may see more changes; nil: no more. The changes of other processes may be told
    /// later.
    func listen(_ body: (@Sendable () -> Void)?)
    /// The buckets of a table with rules in which rows changed after a number, up to another; nil if they are not known.
    func touched(_ table: String, after change: Int64, through last: Int64) -> Set<NamedBucket>?
    /// The buckets of such a table to which a caller has a right at a change; nil if they are not known.
    func buckets(_ table: String, of subject: String, at change: Int64) -> HeldBuckets?
    /// The epoch of the database, as last read.
    var epoch: String { get }
    /// Whether readers of changes must say what they have seen.
    var hasReplicas: Bool { get }
}

extension TableStore {
    package func listen(_ body: (@Sendable () -> Void)?) {}
    package var hasReplicas: Bool { false }

    package func rows(together reads: [RowRead]) -> [Result<TableRow?, StoreFailure>] {
        reads.map { one in
            Result { () throws(StoreFailure) in try row(one.table, id: one.id, seenBy: one.caller) }
        }
    }

    package func write(together writes: [TableWrite]) -> [Result<WriteOutcome, StoreFailure>] {
        writes.map { one in
            Result { () throws(StoreFailure) in try write([[one]], stopsAtRefusal: false, wantsRows: true)[0][0] }
        }
    }
}

/// A row that a caller asks for.
package struct RowRead: Sendable {
    package let table: String
    package let id: String
    package let caller: Caller?
}

/// Describes which rows of a table are wanted.
package struct ListPlan: Hashable, Sendable {
    package var table: String
    package var filter: FilterExpression?
    package var order: [RowQuery.Key] = []
    package var skip = 0
    /// Only rows after this place; the count includes all rows.
    package var after: PagePlace?
    package var limit: Int
    package var includesDeleted = false
    /// Only rows whose time is closed.
    package var until: ClosedInstant?
    package var counts = false
    /// The caller, who may not see all rows.
    package var subject: String?
}

/// A time up to which the rows with their times are final.
package struct ClosedInstant: Hashable, Sendable {
    package var time: Int64
    /// Rows with numbers up to this one have times that were not given in order.
    package var firstChange: Int64

    package init(_ time: Int64, firstChange: Int64) { (self.time, self.firstChange) = (time, firstChange) }
}

extension ListPlan {
    /// Whether it filters or orders by the time of the latest change.
    package var namesTime: Bool {
        let names = order.map(\.column) + (filter?.columns ?? []).map(\.text)
        return names.contains { SystemColumn(anyCase: $0) == .updatedAt }
    }

    /// Whether its order is the one of the latest changes.
    package var isByTime: Bool {
        guard let first = order.first, !first.isDescending, SystemColumn(anyCase: first.column) == .updatedAt else {
            return false
        }
        guard let next = order.dropFirst().first else { return true }
        return !next.isDescending && SystemColumn(anyCase: next.column) == .id
    }
}

package struct ListOutcome: Hashable, Sendable {
    package var rows: [TableRow] = []
    /// Whether more rows follow.
    package var hasMore = false
    package var count: Int?

    package init() {}

    /// Adds the next row, if the page has room for it.
    package mutating func add(_ row: consuming TableRow, _ limit: Int, _ room: inout AnswerBudget) {
        if !hasMore, rows.count < limit, room.takes(row) { rows.append(row) } else { hasMore = true }
    }
}

/// Describes which changes of a table are wanted.
package struct ChangePlan: Hashable, Sendable {
    package var table: String
    /// Changes after this one.
    package var since: Int64
    /// Also the changes of that number of rows with ids after this one.
    package var sinceID: String?
    /// Changes up to this one.
    package var until: Int64?
    package var limit: Int
    /// Rows that it does not match have left the view.
    package var filter: FilterExpression?
    /// The caller, who may not see all rows.
    package var subject: String?
    package var counts = false
    /// The latest change that the reader may have seen; the largest number if that is not known.
    package var seen = Int64.max

    /// The same without changes after a number.
    package func through(_ last: Int64) -> ChangePlan {
        var plan = self
        plan.until = min(until ?? .max, last)
        return plan
    }

    /// Whether nothing can be in it.
    package var isOver: Bool { sinceID == nil && until.map { $0 <= since } ?? false }
}

package struct ChangeOutcome: Hashable, Sendable {
    package var changes: [TableChange] = []
    package var hasMore = false
    /// The number of changes after the cursor, if it was requested.
    package var count: Int?
    /// From the same moment.
    package var mark: ChangeMark

    package init(count: Int?, _ mark: ChangeMark) { (self.count, self.mark) = (count, mark) }

    /// Adds the next change, if the page has room for it.
    package mutating func add(_ change: consuming TableChange, _ limit: Int, _ room: inout AnswerBudget) {
        if !hasMore, changes.count < limit, room.takes(change.row) { changes.append(change) } else { hasMore = true }
    }
}
