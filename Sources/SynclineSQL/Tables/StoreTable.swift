// A table of the store at a moment: the id, then the columns that its rows have.

import Syncline
import SynclineCore

/// A table of the store.
final class StoreTable: VirtualTable {
    let reader: StateReader
    let name: String
    /// The names of its columns in the store, without the id.
    let stored: [String]
    private let facts: ScanFacts
    /// Indexes made for the time of the statement, by column; nil for one that would be too large.
    private var made: [Int: MadeIndex?] = [:]
    /// The keys of rows with strings that look like numbers, by column; nil for a column with too many.
    private var numeric: [Int: [[UInt8]]?] = [:]
    /// Whether an index on a column has the order of SQL.
    private var walkable: [Int: Bool] = [:]
    /// Whether a column with an index has only strings and null.
    private var text: [Int: Bool] = [:]

    init(_ reader: StateReader, name: String, _ outline: TableOutline) throws(StateError) {
        self.reader = reader
        self.name = name
        let stored = outline.columns.filter { !$0.utf8.elementsEqual("id".utf8) }
        let indexed = try reader.indexes(of: name).map { $0.columns[0] }
        self.stored = stored
        facts = ScanFacts(
            count: outline.count,
            indexed: Set(
                stored.indices.filter { place in
                    indexed.contains { $0.utf8.elementsEqual(stored[place].utf8) }
                }.map { $0 + 1 }),
            sortsIDs: try reader.idComparison == .exact)
        super.init(columns: ["id"] + SQLName.unambiguous(stored, besides: ["id"]))
    }

    override var declaration: String {
        // Without row numbers, SQLite tells rows apart by the id.
        let rest = columns.dropFirst().map { ", " + SQLName.quoted($0) }.joined()
        return "CREATE TABLE x(\"id\" PRIMARY KEY NOT NULL\(rest)) WITHOUT ROWID"
    }

    override func plan(_ request: PlanRequest) throws(SyncError) -> ScanPlan {
        var facts = facts
        if request.hasLimit, let order = request.order, facts.indexed.contains(order.column),
            try isWalkable(order.column)
        {
            facts.walkable = order.column
        }
        if let order = request.order, facts.indexed.contains(order.column), request.readsOnly(order.column),
            try hasText(order.column)
        {
            facts.text = order.column
        }
        return facts.plan(request)
    }

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

    private func hasText(_ column: Int) throws(SyncError) -> Bool {
        if let known = text[column] { return known }
        let found = try mapErrors { () throws(StateError) in try entries(column) != nil }
        text[column] = found
        return found
    }

    private func isWalkable(_ column: Int) throws(SyncError) -> Bool {
        if let known = walkable[column] { return known }
        let found = try mapErrors { () throws(StateError) in
            try walk(column, isBackward: false)?.hasOneKind ?? false
        }
        walkable[column] = found
        return found
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
