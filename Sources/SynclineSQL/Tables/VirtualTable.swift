// A table that SQLite reads through callbacks, a scan of it, and its rows.

import CSQLite
import SynclineCore

/// A table.
class VirtualTable {
    /// The names of its columns in SQL.
    let columns: [String]
    /// The plans that SQLite was given, by their numbers.
    final var plans: [ScanPlan] = []

    init(columns: [String]) {
        self.columns = columns
    }

    /// The statement that declares it to SQLite.
    var declaration: String { "CREATE TABLE x(\(columns.map(SQLName.quoted).joined(separator: ", ")))" }

    /// Whether the case of letters does not matter in a column.
    func ignoresCase(_ column: Int) -> Bool { false }

    /// Chooses how to find the rows for some conditions.
    func plan(_ request: PlanRequest) throws(SyncError) -> ScanPlan { ScanPlan(access: .all, cost: 1000, rows: 1000) }

    /// Returns a scan that has not begun.
    func scan() throws(SyncError) -> TableScan { TableScan(self) }

    /// The rows of a plan, for the values that it uses.
    func rows(_ plan: ScanPlan, _ values: [OpaquePointer]) throws(SyncError) -> ScanRows {
        preconditionFailure("a table reads its rows in its own way")
    }
}

/// A scan of a table, which SQLite begins again and again in a join.
class TableScan {
    private let table: VirtualTable

    init(_ table: VirtualTable) {
        self.table = table
    }

    /// Returns the rows of a plan, for the values that it uses. They are valid until it begins again.
    func begin(_ plan: ScanPlan, _ values: [OpaquePointer]) throws(SyncError) -> ScanRows {
        try table.rows(plan, values)
    }

    /// Begins again with the row that has an id, which is text, as the rows that it returned last. Returns whether there is
    /// none.
    func begin(id: OpaquePointer) throws(SyncError) -> Bool { true }
}

/// The rows of a scan, one after another.
class ScanRows {
    /// The number of the current row, for tables that have no id.
    final var number: Int64 = 0

    /// Whether there is no current row.
    var isAtEnd: Bool { true }

    /// Moves to the next row.
    func advance() throws(SyncError) {}

    /// Writes a column of the current row.
    func write(_ column: Int, to sink: ResultSink) {}
}
