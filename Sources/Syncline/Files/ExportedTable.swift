// The rows of one table for an export: read once for their number and columns, and again to be written, so that they are
// never in memory together.

package import SynclineCore
import SynclineGround

package struct ExportedTable {
    package let table: String
    private let reader: StateReader
    private let change: (StoredRow) -> StoredRow

    /// - Parameter change: What is written instead of a row.
    package init(
        _ table: String, _ reader: StateReader, change: @escaping (StoredRow) -> StoredRow = { $0 }
    ) {
        (self.table, self.reader, self.change) = (table, reader, change)
    }

    /// Reads the rows from the first.
    package func read() throws(SyncError) -> Reading {
        // Ids that differ only in case are in the order of their keys.
        let byID = try reader.idComparison != .ignoreCase
        return Reading(try RowCursor(reader, table: table, byID: byID), change)
    }

    /// Reads all rows, and tells after each how many were read.
    package func columns(_ read: (Int) -> Void = { _ in }) throws(SyncError) -> (names: [String], rows: Int) {
        var names: [String] = []
        var known: Set<ExactString> = []
        var shapes: Set<RowShape> = []
        var count = 0
        let rows = try self.read()
        while let row = try rows.next() {
            count += 1
            read(count)
            guard shapes.insert(row.columns.shape).inserted else { continue }
            for name in row.columns.columns where known.insert(ExactString(name)).inserted { names.append(name) }
        }
        return (names, count)
    }

    /// One row after another, in the order of the ids.
    package final class Reading {
        private let cursor: RowCursor
        private let change: (StoredRow) -> StoredRow
        private var count = 0

        fileprivate init(_ cursor: RowCursor, _ change: @escaping (StoredRow) -> StoredRow) {
            (self.cursor, self.change) = (cursor, change)
        }

        /// The next row; nil at the end.
        package func next() throws(SyncError) -> StoredRow? {
            let row = try count == 0 ? cursor.row : cursor.advance()
            count += 1
            if count & 255 == 0, Task.isCancelled { throw SyncError(.cancelled, "the export was cancelled") }
            return try row.map { row throws(SyncError) in change(try row.stored) }
        }
    }
}
