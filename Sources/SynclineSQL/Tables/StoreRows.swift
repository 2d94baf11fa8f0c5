// The rows that a scan of a table of the store shows, from one of its sources: the table, a list of keys, or the entries of
// an index.

import CSQLite
import SynclineCore

/// The rows of a scan of a table of the store.
class StoreRows: ScanRows {
    fileprivate let columns: ScanColumns
    /// The current row; nil at the end. It is valid until the next one.
    // Unchecked: SQLite calls the functions of a scan one after another.
    @exclusivity(unchecked) final fileprivate var row: EncodedRowView?

    init(_ columns: ScanColumns) {
        self.columns = columns
    }

    override var isAtEnd: Bool { row == nil }

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
        if let value = row.entryValue(&places[column - 1]), types[column - 1].shows(value) { return sink.write(value) }
        guard let value = row.encoded(&places[column - 1]) else { return sink.null() }
        sink.write(encoded: value, as: types[column - 1])
    }
}

extension ColumnType {
    /// Whether SQL sees a value of a kind as it is in a column of the type.
    @inline(__always)
    fileprivate func shows(_ value: EntryValue) -> Bool {
        switch (self, value) {
        case (.any, _), (.string, .text), (_, .null), (.integer, .integer), (.boolean, .bool), (.date, .date): true
        default: false
        }
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

    override func advance() throws(SyncError) {
        if cursor.moveInBlock() { checkEnd() } else { show(try cursor.advance()) }
    }

    private func show(_ found: EncodedRowView?) {
        row = found
        checkEnd()
    }

    private func checkEnd() {
        guard let end, let row else { return }
        row.withID { id in if end.withUnsafeBytes({ id.compare($0) > 0 }) { self.row = nil } }
    }
}

/// Rows with some keys, or with one id.
final class FoundRows: StoreRows {
    private let lookup: RowLookup

    init(_ columns: ScanColumns, _ lookup: RowLookup) {
        self.lookup = lookup
        super.init(columns)
    }

    /// Begins with the row that has an id, which is text.
    func begin(id: OpaquePointer) throws(SyncError) {
        let text = UnsafeRawPointer(sqlite3_value_text(id))
        lookup.end()
        row = try lookup.row(id: UnsafeRawBufferPointer(start: text, count: Int(sqlite3_value_bytes(id))))
    }

    /// Begins with the rows that have some keys.
    func begin(_ keys: RowKeys, areKnown: Bool) throws(SyncError) {
        lookup.begin(keys, areKnown: areKnown)
        try advance()
    }

    override func advance() throws(SyncError) { row = try lookup.nextRow() }
}

/// The rows of the entries of an index, in its order. They are looked up a few at a time, more and more.
final class OrderedRows: StoreRows {
    private let cursor: IndexCursor
    private let lookup: RowLookup
    private let table: String
    private var count = 4

    private static let most = 64

    init(_ columns: ScanColumns, _ cursor: IndexCursor, _ lookup: RowLookup, table: String) throws(SyncError) {
        (self.cursor, self.lookup, self.table) = (cursor, lookup, table)
        super.init(columns)
        try advance()
    }

    override func advance() throws(SyncError) {
        row = try lookup.nextRow()
        while row == nil, cursor.id != nil {
            var keys = RowKeys(table: table)
            for _ in 0..<count {
                guard let id = cursor.id else { break }
                keys.append(id: id)
                try cursor.advance()
            }
            count = min(2 * count, OrderedRows.most)
            lookup.begin(keys, areKnown: true)
            row = try lookup.nextRow()
        }
    }
}

/// The entries of an index that includes columns, which have all that is read as rows have it.
final class IncludedRows: StoreRows {
    private let cursor: IndexCursor

    init(_ columns: ScanColumns, _ cursor: IndexCursor) throws(SyncError) {
        self.cursor = cursor
        super.init(columns)
        row = try cursor.includedRow()
    }

    override func advance() throws(SyncError) {
        try cursor.advance()
        row = try cursor.includedRow()
    }
}

/// The entries of an index whose keys have all that is read. A row is looked up if its key does not have all values.
final class EntryRows: StoreRows {
    private let cursor: IndexCursor
    private let lookup: RowLookup
    /// The position of each column in the index.
    private let places: [Int?]

    init(
        _ columns: ScanColumns, _ cursor: IndexCursor, _ lookup: RowLookup, sortedBy indexed: [Int]
    ) throws(SyncError) {
        (self.cursor, self.lookup) = (cursor, lookup)
        places = (0...columns.count).map { indexed.firstIndex(of: $0) }
        super.init(columns)
        try show()
    }

    /// Whether the current entry has all values, or its row was looked up.
    override var isAtEnd: Bool { row == nil && cursor.id == nil }

    override func advance() throws(SyncError) {
        try cursor.advance()
        try show()
    }

    /// Finds the row of the current entry if it is needed, or of the first one after it that has one.
    private func show() throws(SyncError) {
        row = nil
        while cursor.needsRow, let id = cursor.id {
            row = try lookup.row(formAndID: id)
            if row != nil { return }
            try cursor.advance()
        }
    }

    override func write(_ column: Int, to sink: ResultSink) {
        if row != nil { return super.write(column, to: sink) }
        if column == 0 {
            cursor.row?.withID { sink.text($0) }
            return
        }
        guard let place = places[column] else { return sink.null() }
        sink.write(cursor.value(place))
    }
}
