// A scan of a table of the store. Either a cursor goes through the table, or the rows of a list of keys are looked up.

import CSQLite
import SynclineCore
import SynclineGround

final class StoreScan: TableScan {
    private let table: StoreTable
    // Unchecked: SQLite calls the functions of a scan one after another.
    @exclusivity(unchecked) private var places: [ColumnPlaces]
    @exclusivity(unchecked) private var row: EncodedRowView?
    /// The entry of an index that the row is, unless the row has all columns.
    @exclusivity(unchecked) private var entry: IndexEntries.Entry?
    /// Where rows come from; nil while keys are looked up.
    @exclusivity(unchecked) private var source: Source?
    @exclusivity(unchecked) private var cursor: RowCursor?
    /// The last id of a range.
    @exclusivity(unchecked) private var end: [UInt8]?
    @exclusivity(unchecked) private var finder: RowFinder?
    @exclusivity(unchecked) private var keys: [[UInt8]] = []
    @exclusivity(unchecked) private var nextKey = 0
    /// The entries of an index whose rows are looked up one by one, or that have all that is read.
    @exclusivity(unchecked) private var indexCursor: IndexCursor?
    /// The position of each column in the index whose keys are read.
    @exclusivity(unchecked) private var keyPlaces: [Int?] = []
    /// Whether the current row's columns are read from the key of its entry.
    @exclusivity(unchecked) private var isKey = false
    /// Nil unless only entries of an index are read.
    @exclusivity(unchecked) private var entries: IndexEntries?
    /// How often rows with one value were asked for without an index.
    @exclusivity(unchecked) private var asked = 0

    /// The cursor or the entries, which the scan retains.
    private enum Source {
        case cursor(Unmanaged<RowCursor>)
        case entries(Unmanaged<IndexEntries>)
        /// Entries of an index that have all that is read, as rows have it.
        case covering(Unmanaged<IndexCursor>)
        /// Entries of an index whose keys have all that is read.
        case keys(Unmanaged<IndexCursor>)
        /// Entries of an index whose rows are looked up.
        case index(Unmanaged<IndexCursor>)
    }

    init(_ table: StoreTable) {
        self.table = table
        places = table.stored.map { ColumnPlaces($0) }
    }

    override var isAtEnd: Bool { row == nil }

    override func begin(_ plan: ScanPlan, _ values: [OpaquePointer]) throws(SyncError) {
        (row, entry, source, cursor, end, keys, nextKey, indexCursor, entries, isKey) =
            (nil, nil, nil, nil, nil, [], 0, nil, nil, false)
        if plan.isList { return try beginList(plan.access, values.first) }
        switch plan.access {
        case .all: try beginAll(byID: plan.isOrdered)
        case .id: try beginID(values.first, byID: plan.isOrdered)
        case .idRange(let ends): try beginIDs(ends.of(values.map(Operand.init)), byID: plan.isOrdered)
        case .index(let part): try beginIndex(part, values.map(Operand.init))
        case .entries(let column):
            guard let found = try table.entries(column) else { throw .malformed("an index") }
            (entries, source) = (found, .entries(.passUnretained(found)))
            show(found.current)
        case .made(let column): try beginMade(column, values.first.map(Operand.init) ?? .null)
        }
    }

    override func advance() throws(SyncError) {
        switch source {
        case .cursor(let cursor):
            show(try cursor.borrowed { cursor throws(SyncError) in try cursor.advance() })
        case .entries(let entries):
            show(try entries.borrowed { entries throws(SyncError) in try entries.advance() })
        case .covering(let cursor):
            row = try cursor.borrowed { cursor throws(SyncError) in
                try cursor.advance()
                return try cursor.includedRow()
            }
        case .keys(let cursor):
            try cursor.borrowed { cursor throws(SyncError) in
                try cursor.advance()
                try show(cursor)
            }
        case .index(let cursor):
            try cursor.borrowed { cursor throws(SyncError) in try cursor.advance() }
            try findEntry()
        case nil: try findNext()
        }
    }

    override func write(_ column: Int, to sink: ResultSink) {
        guard let row else { return sink.null() }
        if column == 0 { return row.withID { sink.text($0) } }
        if let entry { return entry.text.map { sink.text($0) } ?? sink.null() }
        if isKey, case .keys(let cursor)? = source {
            guard let place = keyPlaces[column] else { return sink.null() }
            return cursor.borrowed { sink.write($0.value(place)) }
        }
        guard let value = row.encoded(&places[column - 1]) else { return sink.null() }
        sink.write(encoded: value, as: table.types[column - 1])
    }

    // MARK: Through the table

    private func beginAll(from id: String? = nil, byID: Bool = false) throws(SyncError) {
        let cursor = try RowCursor(table.reader, table: table.name, from: id, byID: byID)
        (self.cursor, source) = (cursor, .cursor(.passUnretained(cursor)))
        show(cursor.row)
    }

    private func show(_ entry: IndexEntries.Entry?) {
        row = entry?.row
        self.entry = entry.flatMap { $0.isWhole ? nil : $0 }
    }

    private func show(_ found: EncodedRowView?) {
        row = found
        guard let end, let row else { return }
        var isPast = false
        row.withID { id in isPast = end.withUnsafeBytes { id.compare($0) > 0 } }
        if isPast { self.row = nil }
    }

    private func beginIDs(_ ends: (lower: Operand?, upper: Operand?), byID: Bool) throws(SyncError) {
        // An id is a string, which is less than all bytes. It is greater than every number, unless SQL compares it as a
        // number.
        var first: String?
        switch ends.lower {
        case .null, .blob: return
        case .text(let id): first = id
        case .number, .brokenText, nil: break
        }
        switch ends.upper {
        case .null: return
        case .text(let id): end = Array(id.utf8)
        case .number, .blob, .brokenText, nil: break
        }
        // The end can be seen only in the order of ids.
        try beginAll(from: first, byID: byID || end != nil)
    }

    // MARK: By keys

    private func beginID(_ value: OpaquePointer?, byID: Bool) throws(SyncError) {
        guard let value else { return }
        switch sqlite3_value_type(value) {
        case SQLITE_TEXT:
            let text = UnsafeRawPointer(sqlite3_value_text(value))
            row = try rowFinder().row(id: UnsafeRawBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))))
        // An id that looks like a number equals it if SQL compares both as numbers.
        case SQLITE_INTEGER, SQLITE_FLOAT: try beginMade(0, Operand(value), byID: byID)
        default: return
        }
    }

    /// An index that is made pays from the second time on. It finds ids that look like numbers, and keys, in their order.
    private func beginMade(_ column: Int, _ value: Operand, byID: Bool = false) throws(SyncError) {
        asked += 1
        guard asked > 1, let index = try table.index(on: column) else { return try beginAll(byID: byID) }
        try begin(keys: index.keys(of: value))
    }

    /// A longer list is not looked up: all rows are read, and SQLite looks for their values in the list.
    private static let listLimit = 10_000

    private func beginList(_ access: ScanPlan.Access, _ value: OpaquePointer?) throws(SyncError) {
        asked += 1
        guard let value, let list = try list(value) else { return try beginAll() }
        // Two values may find the same row.
        var all: Set<[UInt8]> = []
        for operand in list {
            guard let some = try keys(access, operand) else { return try beginAll() }
            all.formUnion(some)
        }
        try begin(keys: Array(all))
    }

    private func list(_ value: OpaquePointer) throws(SyncError) -> [Operand]? {
        do throws(SyncError) {
            return try Operand.list(value, limit: StoreScan.listLimit)
        } catch {
            throw error
        }
    }

    /// The keys of the rows that can have a value; nil if all rows must be read.
    private func keys(_ access: ScanPlan.Access, _ value: Operand) throws(SyncError) -> [[UInt8]]? {
        switch (access, value) {
        case (.id, .text(let id)): return [RowKey.bytes(table.name, id, try table.reader.idComparison)]
        case (.id, .number): return try madeKeys(0, value)
        case (.id, _): return []
        case (.index(let part), _):
            if let found = try table.keys(part, [value]) { return found }
            return try madeKeys(part.columns[0], value)
        case (.made(let column), _): return try madeKeys(column, value)
        default: return nil
        }
    }

    private func madeKeys(_ column: Int, _ value: Operand) throws(SyncError) -> [[UInt8]]? {
        asked > 1 ? try table.index(on: column)?.keys(of: value) : nil
    }

    private func beginIndex(_ part: IndexPart, _ values: [Operand]) throws(SyncError) {
        if !part.isCovering, !part.isOrdered {
            if let found = try table.keys(part, values) { return try begin(keys: found) }
            if part.equal > 0, let value = values.first { return try beginMade(part.columns[0], value) }
            return try beginAll()
        }
        let found = try table.cursor(part, values)
        indexCursor = found
        if part.isCovering, table.keepsValues(part) {
            source = .covering(.passUnretained(found))
            row = try found.includedRow()
        } else if part.isCovering {
            source = .keys(.passUnretained(found))
            keyPlaces = (0...table.stored.count).map { part.columns.firstIndex(of: $0) }
            try show(found)
        } else {
            source = .index(.passUnretained(found))
            try findEntry()
        }
    }

    /// Shows the current entry. Its row is looked up if its key does not have all values.
    private func show(_ cursor: IndexCursor) throws(SyncError) {
        isKey = !cursor.needsRow
        if isKey { row = cursor.row } else { try findEntry() }
    }

    /// Finds the row of the current entry, or of the first one after it that has one.
    private func findEntry() throws(SyncError) {
        row = nil
        while row == nil, let cursor = indexCursor, let id = cursor.id {
            row = try rowFinder().row(formAndID: id)
            if row == nil { try cursor.advance() }
        }
    }

    private func begin(keys: [[UInt8]]) throws(SyncError) {
        self.keys = keys
        try findNext()
    }

    private func findNext() throws(SyncError) {
        row = nil
        while row == nil {
            if nextKey == keys.count { return }
            row = try rowFinder().row(key: keys[nextKey])
            nextKey += 1
        }
    }

    private func rowFinder() throws(SyncError) -> RowFinder {
        if let finder { return finder }
        let made = try RowFinder(table.reader, table: table.name)
        finder = made
        return made
    }
}
