// A table of the store at a moment: the id, then the columns that its rows have.

import SynclineCore
import SynclineGround

/// What SQL has to know of a table of the store.
struct TableFacts {
    let outline: TableOutline
    /// The names of its columns in the store, without the id. Of very many, those that the store met first.
    let stored: [String]
    /// The columns for which SQLite has no room.
    let leftOut: [String]
    /// The types of those columns.
    let types: [ColumnType]
    /// The names of the id and its columns in SQL.
    let columns: [String]
    /// The statement that declares it to SQLite.
    let declaration: String
    /// The indexes that statements can use.
    let indexes: [TableIndex]
    let scan: ScanFacts

    init(_ reader: StateReader, _ table: String, _ outline: TableOutline) throws(SyncError) {
        self.outline = outline
        let declared = try reader.types(of: table)
        let seen = Set(outline.columns.map { ExactString($0) })
        let missing = declared.columns.map(\.name).filter { !seen.contains(ExactString($0)) }
        let all = outline.columns.filter { !$0.hasSameBytes(as: "id") } + missing
        let stored = Array(all.prefix(SQLName.columnLimit - 1))
        self.stored = stored
        types = stored.map { declared[$0] }
        leftOut = Array(all.dropFirst(stored.count))
        columns = ["id"] + SQLName.unambiguous(stored, besides: ["id"])
        // Without row numbers, SQLite tells rows apart by the id.
        let rest = zip(columns.dropFirst(), types).map { ", " + SQLName.quoted($0) + $1.declared }.joined()
        declaration = "CREATE TABLE x(\"id\" TEXT PRIMARY KEY NOT NULL\(rest)) WITHOUT ROWID"
        let sortsIDs = try reader.idComparison == .exact
        var scan = ScanFacts(
            count: outline.count, sortsIDs: sortsIDs, hasOneIDForm: try reader.idForms(of: table).count < 2)
        var indexes: [TableIndex] = []
        for index in try reader.indexes(of: table) {
            let content = try reader.contentOfFirstColumn(table, index)
            guard let facts = IndexFacts(index, stored, content) else { continue }
            indexes.append(index)
            scan.indexes.append(facts)
        }
        self.indexes = indexes
        self.scan = scan
    }
}

extension IndexFacts {
    /// Nil if no row has its first column. Columns after one that no row has are left out, because they have no name in
    /// SQL, and so are those after one that is there twice.
    /// - Parameter first: What the first column may have.
    fileprivate init?(_ index: TableIndex, _ stored: [String], _ first: IndexContent) {
        func place(_ name: String) -> Int? { stored.firstIndex { $0.hasSameBytes(as: name) }.map { $0 + 1 } }
        var columns: [Int] = []
        for name in index.distinctColumns {
            guard let place = place(name) else { break }
            columns.append(place)
        }
        if columns.isEmpty { return nil }
        self.init(
            columns: columns, content: [first] + columns.dropFirst().map { _ in .unknown })
        sortsIDs = columns.count == index.columns.count
        keepsValues = !index.including.isEmpty
        kept = (index.columns + index.including).compactMap(place).filter { $0 < 63 }.reduce(1) { $0 | 1 << UInt64($1) }
    }
}

/// A table of the store.
final class StoreTable: VirtualTable {
    let name: String
    private let source: SQLSource
    /// The names of its columns in the store, without the id.
    var stored: [String] { facts.stored }
    var leftOut: [String] { facts.leftOut }
    var types: [ColumnType] { facts.types }
    var reader: StateReader { source.reader }
    private let facts: TableFacts
    /// The known facts about it, which can become more while statements are planned.
    private var known: ScanFacts
    /// Indexes made for the time of the statement, by column; nil for one that would be too large.
    private var made: [Int: MadeIndex?] = [:]
    /// Whether an index has many strings that look like numbers, by its position.
    private var manyNumericStrings: [Int: Bool] = [:]

    init(_ source: SQLSource, name: String, _ facts: TableFacts) {
        self.source = source
        self.name = name
        self.facts = facts
        known = facts.scan
        super.init(columns: facts.columns)
    }

    override var declaration: String { facts.declaration }

    override func ignoresCase(_ column: Int) -> Bool { column > 0 && types[column - 1].isUUID }

    /// What SQLite makes of values that are compared with a column, of which 0 is the id.
    func affinity(_ column: Int) -> Affinity { column == 0 ? .text : types[column - 1].affinity }

    override func plan(_ request: PlanRequest) throws(SyncError) -> ScanPlan {
        var plan = known.plan(request)
        while !request.order.isEmpty, !plan.isOrdered, let place = known.indexToRead(for: request) {
            known.indexes[place].content = try source.contents(of: name, place, facts.indexes[place])
            known.indexes[place].isRead = true
            plan = known.plan(request)
        }
        return plan
    }

    override func scan() throws(SyncError) -> TableScan { StoreScan(self) }

    /// An index that is made on a column, of which 0 is the id; nil if it would be too large.
    func index(on column: Int) throws(SyncError) -> MadeIndex? {
        if let known = made[column] { return known }
        let index =
            column == 0
            ? try MadeIndex(reader, table: name, column: nil)
            : try MadeIndex(reader, table: name, column: stored[column - 1], types[column - 1])
        made[column] = .some(index)
        return index
    }

    // MARK: Parts of indexes

    /// Whether the entries of an index that covers a statement have the values as rows do.
    func keepsValues(_ part: IndexPart) -> Bool { known.indexes[part.index].keepsValues }

    /// The entries of a part of an index, for some lists of values.
    func cursor(_ part: IndexPart, _ values: [[Operand]]) throws(SyncError) -> IndexCursor {
        try IndexCursor(
            reader, table: name, facts.indexes[part.index], ranges(part, values), isBackward: part.choice.isBackward)
    }

    /// The keys of all rows that a part of an index can have for some lists of values. Nil if reading the whole table is
    /// faster.
    func keys(_ part: IndexPart, _ values: [[Operand]]) throws(SyncError) -> RowKeys? {
        let hasStrings = values.contains { ranges(of: part, $0).first?.includesNumericStrings ?? false }
        if hasStrings, try hasManyNumericStrings(part.index) { return nil }
        return try reader.rowKeys(name, facts.indexes[part.index], ranges(part, values))
    }

    private func ranges(_ part: IndexPart, _ values: [[Operand]]) -> [IndexRange] {
        let index = facts.indexes[part.index]
        let contents = known.indexes[part.index].content
        let ranges = values.map { values in
            index.ranges(name, zip(self.ranges(of: part, values), contents).map { $0.intervals($1) })
        }
        return ranges.count == 1 ? ranges[0] : IndexRange.joined(ranges.flatMap { $0 })
    }

    /// The ranges of the first columns of a part that some values say.
    private func ranges(of part: IndexPart, _ values: [Operand]) -> [ColumnRange] {
        part.ranges(values, isText: { affinity($0) == .text })
    }

    /// Whether the first column of an index has many strings that look like numbers. Each search for a number would read
    /// their rows again.
    private func hasManyNumericStrings(_ place: Int) throws(SyncError) -> Bool {
        guard known.indexes[place].content[0].contains(.numericString) else { return false }
        if let isKnown = manyNumericStrings[place] { return isKnown }
        let index = facts.indexes[place]
        let strings = index.ranges(name, [ColumnRange.numericStringIntervals])
        let cursor = try IndexCursor(reader, table: name, index, strings)
        var count = 0
        while cursor.id != nil, count <= StoreTable.numericStringLimit {
            count += 1
            try cursor.advance()
        }
        let isMany = count > StoreTable.numericStringLimit
        manyNumericStrings[place] = isMany
        return isMany
    }

    private static let numericStringLimit = 64
}
