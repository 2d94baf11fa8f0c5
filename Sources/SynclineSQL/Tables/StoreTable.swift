// A table of the store at a moment: the id, then the columns that its rows have.

import Syncline
import SynclineCore
import SynclineGround

/// What SQL has to know of a table of the store.
struct TableFacts {
    let outline: TableOutline
    /// The names of its columns in the store, without the id.
    let stored: [String]
    /// The names of the id and its columns in SQL.
    let columns: [String]
    /// The statement that declares it to SQLite.
    let declaration: String
    let scan: ScanFacts

    init(_ reader: StateReader, _ table: String, _ outline: TableOutline) throws(StateError) {
        self.outline = outline
        let stored = outline.columns.filter { !$0.hasSameBytes(as: "id") }
        let indexed = try reader.indexes(of: table).map { $0.columns[0] }
        self.stored = stored
        columns = ["id"] + SQLName.unambiguous(stored, besides: ["id"])
        // Without row numbers, SQLite tells rows apart by the id.
        let rest = columns.dropFirst().map { ", " + SQLName.quoted($0) }.joined()
        declaration = "CREATE TABLE x(\"id\" PRIMARY KEY NOT NULL\(rest)) WITHOUT ROWID"
        var scan = ScanFacts(count: outline.count, sortsIDs: try reader.idComparison == .exact)
        for (place, name) in stored.enumerated() where indexed.contains(where: { $0.hasSameBytes(as: name) }) {
            scan.indexed.insert(place + 1)
            guard let walk = try IndexWalk(reader, table: table, column: name, isBackward: false) else { continue }
            if try walk.hasOneKind { scan.walkable.insert(place + 1) }
            if scan.sortsIDs, try walk.hasStringsOnly { scan.text.insert(place + 1) }
        }
        self.scan = scan
    }
}

/// A table of the store.
final class StoreTable: VirtualTable {
    let reader: StateReader
    let name: String
    /// The names of its columns in the store, without the id.
    var stored: [String] { facts.stored }
    private let facts: TableFacts
    /// Indexes made for the time of the statement, by column; nil for one that would be too large.
    private var made: [Int: MadeIndex?] = [:]
    /// The keys of rows with strings that look like numbers, by column; nil for a column with too many.
    private var numeric: [Int: [[UInt8]]?] = [:]

    init(_ reader: StateReader, name: String, _ facts: TableFacts) {
        self.reader = reader
        self.name = name
        self.facts = facts
        super.init(columns: facts.columns)
    }

    override var declaration: String { facts.declaration }

    override func plan(_ request: PlanRequest) throws(SyncError) -> ScanPlan { facts.scan.plan(request) }

    override func scan() throws(SyncError) -> TableScan { StoreScan(self) }

    /// An index that is made on a column, of which 0 is the id; nil if it would be too large.
    func index(on column: Int) throws(StateError) -> MadeIndex? {
        if let known = made[column] { return known }
        let index = try MadeIndex(reader, table: name, column: column == 0 ? nil : stored[column - 1])
        made[column] = .some(index)
        return index
    }

    /// A walk through the index on a column.
    func walk(_ column: Int, isBackward: Bool) throws(StateError) -> IndexWalk? {
        try IndexWalk(reader, table: name, column: stored[column - 1], isBackward: isBackward)
    }

    /// The entries of an index on a column with strings and null.
    func entries(_ column: Int) throws(StateError) -> IndexEntries? {
        try IndexEntries(reader, table: name, column: stored[column - 1])
    }

    /// The keys of all rows that can have a value in a range, read from an index; nil if an index can't tell, or if
    /// reading the whole table is faster.
    func keys(_ column: Int, _ ends: (lower: Operand?, upper: Operand?)) throws(StateError) -> [[UInt8]]? {
        let range = ColumnRange(column: stored[column - 1], lower: ends.lower, upper: ends.upper)
        guard let filters = range.filters else { return nil }
        var found: [[UInt8]] = []
        if range.includesNumericStrings {
            guard let strings = try numericStrings(column) else { return nil }
            found = strings
        }
        for filter in filters {
            guard let some = try reader.candidates(RowQuery(table: name, filter: filter)) else { return nil }
            found += some
        }
        return found
    }

    /// The keys of rows with strings that look like numbers, which SQL may compare as numbers. Nil if there are many.
    private func numericStrings(_ column: Int) throws(StateError) -> [[UInt8]]? {
        if let known = numeric[column] { return known }
        let filter = ColumnRange.numericStrings(in: stored[column - 1])
        var found = try reader.candidates(RowQuery(table: name, filter: filter))
        if found?.count ?? 0 > StoreTable.numericStringLimit { found = nil }
        numeric[column] = .some(found)
        return found
    }

    /// Each search for a number reads these rows again.
    private static let numericStringLimit = 64
}
