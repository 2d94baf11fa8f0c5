// The result of a query, kept up to date from the rows that changed. It holds the first matches of the order, some more
// than are asked for, and decides from each changed row whether it enters, leaves or moves. Only if too many have left
// is the query run again.

import SynclineGround

package struct LiveWindow: LiveContent {
    private struct Item {
        let position: [UInt8]
        var row: StoredRow
    }

    private let query: RowQuery
    /// How many matches the result and what it skips consist of.
    private let limit: Int
    /// How many are held at most, so that some may leave before the query has to be run again.
    private let capacity: Int
    private var after: [UInt8]?
    private var types = TableTypes()
    private var order: SortOrder
    private var filter: FilterExpression?
    /// The sort keys as the state has them.
    private var sorting: [RowQuery.Key]
    /// The other tables that the filter and the order ask.
    private let relatedTables: [String]
    /// The commit of the state that it was loaded from.
    private var loaded: UInt64 = 0
    /// The filter, compiled when the first changed row has to be looked at.
    private var program: FilterProgram?
    /// The first matches, in order. Every match that is not held comes after the last of them.
    private var items: [Item] = []
    /// Whether all matches are held.
    private var isWhole = false
    /// The number of matches.
    private var total = 0
    private var position = ByteWriter(capacity: 256)
    /// How many times the query was run.
    package private(set) var loads = 0

    /// - Parameter spare: How many matches to hold beyond those that are asked for.
    package init(_ query: RowQuery, spare: Int? = nil) {
        self.query = query
        limit = query.top.map { query.skip.addingOrMax($0) } ?? .max
        capacity = limit.addingOrMax(spare ?? max(32, limit / 4))
        order = SortOrder(query.order, types)
        filter = query.filter
        sorting = query.order
        relatedTables = query.relatedTables
    }

    package var tables: [String]? { .joined([query.table], relatedTables) }

    /// Runs the query.
    package mutating func load(_ reader: StateReader) throws(SyncError) {
        loads += 1
        types = try reader.types(of: query.table)
        filter = try reader.resolved(query.filter, in: query.table)
        loaded = reader.snapshot.commit
        program = nil
        sorting = try reader.resolved(query.order)
        order = SortOrder(sorting, types)
        after = query.after.map { SortOrder.position($0, sorting, types) }
        var wide = query
        wide.skip = 0
        wide.top = capacity == .max ? nil : capacity
        wide.select = nil
        let result = try reader.run(wide)
        items = result.rows.map { row in
            Item(position: SortOrder.position(RowQuery.Place(of: row, in: sorting), sorting, types), row: row)
        }
        isWhole = items.count < capacity
        total = result.count ?? 0
    }

    /// The current result.
    package var result: QueryResult {
        let shown = items.dropFirst(query.skip).prefix(query.top ?? .max).map(\.row)
        let count = query.countsAll ? total : nil
        guard let columns = query.select else { return QueryResult(rows: shown, count: count, order: sorting) }
        let end = shown.last.map { RowQuery.Place(of: $0, in: sorting) }
        return QueryResult(rows: shown.map { $0.selecting(columns) }, count: count, end: end)
    }

    /// Takes changed rows into account. Returns whether the result may have changed.
    package mutating func update(_ changes: TableChanges) throws(SyncError) -> Bool {
        // Changes of several tables lead to one state, and another of them may have led there already.
        if changes.after.snapshot.commit == loaded { return false }
        if try mustLoad(changes) {
            try load(changes.after)
            return true
        }
        guard changes.table.hasSameBytes(as: query.table) else { return false }
        var isChanged = false
        let (before, after) = (RowVisitor(changes.before, query.table), RowVisitor(changes.after, query.table))
        for row in try changes.rows {
            if let value = row.before, try remove(row.key, value, before) { isChanged = true }
            if let value = row.after, try insert(row.key, value, after) { isChanged = true }
        }
        if items.count < limit, !isWhole { try load(changes.after) }
        return isChanged
    }

    /// Whether running the query again is faster, or its columns or the filter have another meaning.
    private func mustLoad(_ changes: TableChanges) throws(SyncError) -> Bool {
        if try changes.after.types(of: query.table) != types { return true }
        if changes.count > 64, items.count > 4096 { return true }
        let isRelated = relatedTables.containsExactly(changes.table)
        if isRelated, try changes.after.resolved(query.order) != sorting { return true }
        guard let filter = query.filter, filter.divides || isRelated else { return false }
        return try changes.after.resolved(filter, in: query.table) != self.filter
    }

    // MARK: Changed rows

    /// Removes a row as it was. Returns whether that is seen.
    private mutating func remove(
        _ key: [UInt8], _ value: [UInt8], _ visitor: RowVisitor
    ) throws(SyncError) -> Bool {
        guard try find(key, value, visitor, { _ in }) else { return false }
        total -= 1
        let index = firstIndex()
        guard index < items.count, position.order(against: items[index].position) == 0 else { return query.countsAll }
        items.remove(at: index)
        return index < limit || query.countsAll
    }

    /// Inserts a row as it is. Returns whether that is seen.
    private mutating func insert(
        _ key: [UInt8], _ value: [UInt8], _ visitor: RowVisitor
    ) throws(SyncError) -> Bool {
        var stored: StoredRow?
        guard try find(key, value, visitor, { row throws(SyncError) in stored = try row.stored }) else { return false }
        total += 1
        guard let stored else { return query.countsAll }
        let index = firstIndex()
        items.insert(Item(position: position.bytes, row: stored), at: index)
        if items.count > capacity {
            items.removeLast()
            isWhole = false
        }
        return index < limit || query.countsAll
    }

    /// Returns whether a row matches. If it belongs to the rows that are held, calls `body` with it. Leaves its position
    /// in `position`.
    private mutating func find(
        _ key: [UInt8], _ value: [UInt8], _ visitor: RowVisitor, _ body: (EncodedRowView) throws(SyncError) -> Void
    ) throws(SyncError) -> Bool {
        let program = program ?? FilterProgram(filter, types)
        self.program = program
        var isMatch = false
        try key.withBytes { key throws(SyncError) in
            try value.withBytes { value throws(SyncError) in
                try visitor.visit(key, ValueView(value)) { row throws(SyncError) in
                    isMatch = try program.matches(row.place)
                    guard isMatch else { return }
                    position.removeAll()
                    try order.append(row.sight, to: &position)
                    row.sight.withID { position.append($0) }
                    if isHeld { try body(row.sight) }
                }
            }
        }
        return isMatch
    }

    /// Whether a match at `position` belongs to the rows that are held.
    private var isHeld: Bool {
        if let after, position.order(against: after) <= 0 { return false }
        if isWhole { return true }
        return items.last.map { position.order(against: $0.position) < 0 } ?? false
    }

    /// The index of the first item that is not before `position`.
    private func firstIndex() -> Int {
        items.countOfFirst { position.order(against: $0.position) > 0 }
    }
}

extension ByteWriter {
    fileprivate func order(against other: [UInt8]) -> Int {
        withView { mine in other.withBytes { mine.compare($0) } }
    }
}

extension StoredRow: FilterSubject {
    package func value(ofColumn name: String) -> Value {
        name == "id" ? .string(id) : columns[name] ?? .null
    }

    fileprivate func selecting(_ names: [String]) -> StoredRow {
        var builder = RowBuilder()
        for name in names where name != "id" {
            if let value = columns[name] { builder.set(name, value) }
        }
        return StoredRow(compactID, columns: builder.row)
    }
}
