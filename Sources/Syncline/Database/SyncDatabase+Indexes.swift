// Indexes of tables.

public import SynclineCore
import SynclineGround

extension SyncDatabase {
    /// Declares an index on a column of a table. Queries that compare the column with a value, or sort by it, use it
    /// automatically.
    @concurrent
    public func declareIndex(table: String, column: String) async throws(SyncError) {
        try await declareIndex(table: table, columns: [column])
    }

    /// Declares an index on several columns of a table, in this order. Queries use it if they compare the first
    /// columns with values, and the next one with values or a range, or sort by it. Strings are sorted by their
    /// Unicode scalars, as they are in a query without an index; nulls come first.
    ///
    /// The index also keeps the columns `including`. A query that selects, compares and sorts by columns of the index
    /// alone reads no rows.
    @concurrent
    public func declareIndex(
        table: String, columns: [String], including: [String] = []
    ) async throws(SyncError) {
        try SyncDatabase.check(columns, including)
        let change = IndexChange(table: table, columns: columns, including: including, isOn: true)
        try await perform { engine throws(SyncError) in
            try engine.projector.check(table: table)
            let known = try engine.reader.indexes(of: table)
            if known.contains(where: { $0.isCurrent(change) }) { return }
            guard known.count < SyncDatabase.indexLimit || known.contains(where: { $0.isSorted(by: columns) }) else {
                throw SyncError(
                    .invalidConfiguration, "the table \(table) has \(known.count) indexes, which is the maximum",
                    hint: "Drop one that no query needs.")
            }
            try engine.record(.indexed(change))
        }
    }

    /// Drops the index on a column.
    @concurrent
    public func dropIndex(table: String, column: String) async throws(SyncError) {
        try await dropIndex(table: table, columns: [column])
    }

    /// Drops the index on these columns.
    @concurrent
    public func dropIndex(table: String, columns: [String]) async throws(SyncError) {
        try await perform { engine throws(SyncError) in
            try engine.projector.check(table: table)
            let known = try engine.reader.indexes(of: table)
            guard known.contains(where: { $0.isSorted(by: columns) }) else { return }
            try engine.record(.indexed(IndexChange(table: table, columns: columns, isOn: false)))
        }
    }

    /// Each change of a row has to look at every index of its table.
    private static let indexLimit = 64

    private static func check(_ columns: [String], _ including: [String]) throws(SyncError) {
        let all = columns + including
        if columns.isEmpty {
            throw SyncError(.invalidConfiguration, "an index has no columns", hint: "Name at least one.")
        }
        if let twice = all.first(where: { name in all.filter { $0.hasSameBytes(as: name) }.count > 1 }) {
            throw SyncError(
                .invalidConfiguration, "an index names the column \"\(twice)\" twice", hint: "Name it once.")
        }
        if all.contains("id") {
            throw SyncError(
                .invalidConfiguration, "an index can't have the column \"id\"",
                hint: "Leave it out: rows are found by their id without an index, and every index knows the ids.")
        }
    }
}
