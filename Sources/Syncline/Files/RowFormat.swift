// A format of files with rows, and what each format implements: CSV and JSON Lines here, SQLite in another module.

package import SynclineCore

/// A format of files with rows. `SynclineSQL` adds `sqlite`.
public struct RowFormat: Sendable {
    let files: any RowFileFormat

    package init(_ files: any RowFileFormat) { self.files = files }

    /// A heading and one line per row, of one table.
    ///
    /// The form of a cell says what it holds: a string that looks like a number, `true` or `false` is quoted, and one
    /// that a spreadsheet would run has an apostrophe before it. Null and a missing column are the same.
    public static let csv = RowFormat(CSVFormat())

    /// One JSON object per line: `{"table":…,"row":{…}}`.
    public static let jsonLines = RowFormat(JSONLinesFormat())
}

/// How rows are written to a file of a format, and read from one.
package protocol RowFileFormat: Sendable {
    /// Writes tables to a file that is empty, durably, and returns the number of rows.
    func write(_ tables: [ExportedTable], to file: FilePlace) throws(SyncError) -> Int

    /// The rows of a file. If `table` is not nil, they belong to that table.
    func rows(in file: FilePlace, of table: String?) throws(SyncError) -> any RowFileReading
}

/// Reads the rows of a file one after another.
package protocol RowFileReading: AnyObject {
    /// The next row; nil at the end.
    func next() throws(SyncError) -> FileRow?
}

/// A row of a file.
package struct FileRow: Sendable {
    package var table: String
    package var item: Value
    /// About how many bytes it takes.
    package var size: Int

    package init(table: String, item: Value, size: Int) {
        (self.table, self.item, self.size) = (table, item, size)
    }
}
