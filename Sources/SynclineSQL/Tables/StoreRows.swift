// The rows that a scan of a table of the store shows, from one of its sources: the table, a list of keys, or the entries of
// an index.

import SynclineCore
import SynclineGround

/// The rows of a scan of a table of the store.
class StoreRows: ScanRows {
    fileprivate let columns: ScanColumns
    /// The current row; nil at the end. It is valid until the next one.
    // Unchecked: SQLite calls the functions of a scan one after another.
    @exclusivity(unchecked) final fileprivate var row: EncodedRowView?

    init(_ columns: ScanColumns) {
        self.columns = columns
    }

    final override var isAtEnd: Bool { row == nil }

    override func advance() throws(SyncError) { row = nil }

    override func write(_ column: Int, to sink: ResultSink) {
        guard let row else { return sink.null() }
        columns.write(column, of: row, to: sink)
    }
}

/// Where the columns of a table are in its rows.
final class ScanColumns {
    @exclusivity(unchecked) private var places: [ColumnPlaces]
    private let types: [ColumnType]

    init(_ names: [String], _ types: [ColumnType]) {
        places = names.map { ColumnPlaces($0) }
        self.types = types
    }

    var count: Int { types.count }

    @inline(__always)
    fileprivate func write(_ column: Int, of row: EncodedRowView, to sink: ResultSink) {
        if column == 0 { return row.withID { sink.text($0) } }
        guard let value = row.encoded(&places[column - 1]) else { return sink.null() }
        sink.write(encoded: value, as: types[column - 1])
    }
}

/// The rows of the table, up to an id.
final class TableRows: StoreRows {
    private let cursor: RowCursor
    private let end: [UInt8]?

    /// - Parameters:
    ///   - cursor: In the order of ids if there is an end.
    ///   - end: The last id.
    init(_ columns: ScanColumns, _ cursor: RowCursor, through end: String? = nil) {
        self.cursor = cursor
        self.end = end.map { Array($0.utf8) }
        super.init(columns)
        show(cursor.row)
    }

    override func advance() throws(SyncError) { show(try cursor.advance()) }

    private func show(_ found: EncodedRowView?) {
        row = found
        guard let end, let found else { return }
        found.withID { id in if end.withUnsafeBytes({ id.compare($0) > 0 }) { row = nil } }
    }
}

/// Rows with some keys, or with one id.
final class FoundRows: StoreRows {
    private let lookup: RowLookup

    init(_ columns: ScanColumns, _ lookup: RowLookup) {
        self.lookup = lookup
        super.init(columns)
    }

    /// Begins with the row that has an id, given as UTF-8.
    func begin(id: UnsafeRawBufferPointer) throws(SyncError) {
        lookup.end()
        row = try lookup.row(id: id)
    }

    /// Begins with the rows that have some keys.
    func begin(_ keys: RowKeys, areKnown: Bool) throws(SyncError) {
        lookup.begin(keys, areKnown: areKnown)
        try advance()
    }

    override func advance() throws(SyncError) { row = try lookup.nextRow() }
}

/// The rows of the entries of an index, in its order.
class IndexedRows: StoreRows {
    fileprivate let cursor: IndexCursor
    private let lookup: RowLookup

    init(_ columns: ScanColumns, _ cursor: IndexCursor, _ lookup: RowLookup) throws(SyncError) {
        self.cursor = cursor
        self.lookup = lookup
        super.init(columns)
        try show()
    }

    final override func advance() throws(SyncError) {
        try cursor.advance()
        try show()
    }

    /// Shows the current entry.
    fileprivate func show() throws(SyncError) { try find() }

    /// Finds the row of the current entry, or of the first one after it that has one.
    fileprivate final func find() throws(SyncError) {
        row = nil
        while row == nil, let id = cursor.id {
            row = try lookup.row(formAndID: id)
            if row == nil { try cursor.advance() }
        }
    }
}

/// The entries of an index that includes columns, which have all that is read as rows have it.
final class IncludedRows: IndexedRows {
    fileprivate override func show() throws(SyncError) { row = try cursor.includedRow() }
}

/// The entries of an index whose keys have all that is read. A row is looked up if its key does not have all values.
final class EntryRows: IndexedRows {
    /// The position of each column in the index.
    private let places: [Int?]
    private var isEntry = false

    init(
        _ columns: ScanColumns, _ cursor: IndexCursor, _ lookup: RowLookup, sortedBy indexed: [Int]
    ) throws(SyncError) {
        places = (0...columns.count).map { indexed.firstIndex(of: $0) }
        try super.init(columns, cursor, lookup)
    }

    fileprivate override func show() throws(SyncError) {
        isEntry = !cursor.needsRow
        if isEntry { row = cursor.row } else { try find() }
    }

    override func write(_ column: Int, to sink: ResultSink) {
        guard isEntry, column > 0 else { return super.write(column, to: sink) }
        guard let place = places[column] else { return sink.null() }
        sink.write(cursor.value(place))
    }
}
