// Carries out one query: by ids, by an index, or by reading the table. An index is given up if it turns out to have so
// many entries that reading the table is faster.

import SynclineGround

final class QueryRun {
    /// A way to find the rows.
    private enum Way {
        case ids([[UInt8]])
        /// Reads all entries that can match.
        case entries(IndexScan)
        /// Reads entries in the order of the query until there are enough.
        case walk(IndexScan, IndexOrder)
    }

    private let reader: StateReader
    private let visitor: RowVisitor
    private let query: RowQuery
    private let meaning: FilterExpression?
    private let conditions: [ColumnCondition?]
    private let limit: Int
    // Unchecked: one thread runs a query, and nothing here is called from within itself.
    @exclusivity(unchecked) private(set) var plan = QueryPlan()
    @exclusivity(unchecked) private var matches = 0
    @exclusivity(unchecked) private var compiled: FilterProgram?

    init(_ reader: StateReader, _ query: RowQuery) throws(StateError) {
        self.reader = reader
        self.query = query
        visitor = RowVisitor(reader, query.table)
        meaning = try reader.asServerDivides(query.filter)
        conditions = (meaning?.conjuncts ?? []).map { ColumnCondition($0) }
        limit = query.top.map { query.skip.addingOrMax($0) } ?? .max
    }

    /// The filter, compiled when the first row has to be looked at.
    private var filter: FilterProgram {
        if let compiled { return compiled }
        let program = FilterProgram(meaning)
        compiled = program
        return program
    }

    // MARK: Rows

    func rows() throws(StateError) -> QueryResult {
        if limit == 0, !query.countsAll { return QueryResult(rows: []) }
        for way in try ways() {
            if let result = try rows(way) { return result }
            matches = 0
        }
        plan = QueryPlan(givenUp: plan.givenUp)
        var first = FirstRows(SortOrder(query.order), limit: limit, after: position(query.after, query.order))
        // Without a sort order, the rows of one id form are sorted by id: when one is not wanted, no later one is.
        let isByKey = query.order.isEmpty && !reader.spellsIDs && !query.countsAll
        try forEachInTable { row throws(StateError) in try first.offer(row) || !isByKey }
        return try result(&first)
    }

    private func rows(_ way: Way) throws(StateError) -> QueryResult? {
        switch way {
        case .ids(let keys):
            plan.access = .ids
            var first = FirstRows(SortOrder(query.order), limit: limit, after: position(query.after, query.order))
            try forEach(keys) { row throws(StateError) in _ = try first.offer(row) }
            return try result(&first)
        case .entries(let scan):
            let isCovering = covers(scan.index)
            plan.access = .index(columns: scan.index.columns, isOrdered: false, isCovering: isCovering)
            var first = FirstRows(SortOrder(query.order), limit: limit, after: position(query.after, query.order))
            let isDone = try forEachMatch(scan, isCovering) { row throws(StateError) in _ = try first.offer(row) }
            return isDone ? try result(&first, isCovering: isCovering) : nil
        case .walk(let scan, let order):
            return try walk(scan, order)
        }
    }

    private func walk(_ scan: IndexScan, _ order: IndexOrder) throws(StateError) -> QueryResult? {
        let isCovering = covers(scan.index)
        plan.access = .index(columns: scan.index.columns, isOrdered: true, isCovering: isCovering)
        var first = FirstRows(SortOrder(order.keys), limit: limit, after: position(order.after, order.keys))
        let left = order.places(scan.index).map { scan.limited(to: $0, isBackward: order.isBackward) } ?? scan
        let unpinned = scan.index.columns.count - scan.pins.count
        var known = ByteWriter(capacity: 256)
        let before = plan.entriesRead
        var isTooMuch = false
        try forEachEntry(left, isBackward: order.isBackward) { key, value throws(StateError) in
            plan.entriesRead += 1
            known.removeAll()
            var reader = ByteReader(key, at: scan.pinnedPrefix.count)
            do throws(MalformedBytes) {
                try order.appendKnown(&reader, unpinned, to: &known)
            } catch {
                throw .malformed("an index")
            }
            // From here on, every row comes after all that are wanted.
            if let bound = first.bound, known.isAfter(beginningOf: bound) { return false }
            isTooMuch = !isCovering && plan.entriesRead - before > budget
            if isTooMuch { return false }
            try visit(reader.rest, value, scan, isCovering) { row throws(StateError) in _ = try first.offer(row) }
            return true
        }
        if isTooMuch {
            plan.givenUp.append(scan.index.columns)
            return nil
        }
        return try result(&first, isCovering: isCovering)
    }

    private func position(_ place: RowQuery.Place?, _ keys: [RowQuery.Key]) -> [UInt8]? {
        place.map { SortOrder.position($0, keys) }
    }

    private func result(_ first: inout FirstRows, isCovering: Bool = false) throws(StateError) -> QueryResult {
        var rows: [StoredRow] = []
        var end: RowQuery.Place?
        let last = first.count - 1
        var place = query.skip
        try first.forEach(skipping: query.skip) { key, value throws(StateError) in
            func add(_ row: VisitedRow) -> Bool {
                rows.append(row.sight.stored(selecting: query.select))
                if place == last { end = query.place(of: row.sight) }
                return true
            }
            _ = isCovering ? try visitor.visit(entry: key, value, add) : try visitor.visit(key, value, add)
            place += 1
        }
        return QueryResult(rows: rows, count: query.countsAll ? matches : nil, end: end)
    }

    // MARK: Counting

    func count() throws(StateError) -> Int {
        if let exact = try scans(.narrowed).first(where: { $0.rank > 0 && $0.isExact }) {
            plan.access = .index(columns: exact.index.columns, isOrdered: false, isCovering: true)
            try forEachEntry(exact, isBackward: false) { _, _ in
                plan.entriesRead += 1
                return true
            }
            return plan.entriesRead
        }
        try forEachMatch(using: []) { _ in }
        return matches
    }

    /// The keys of all rows that can match, from an index; nil if no index narrows the filter, or if it has too many
    /// entries.
    func candidates() throws(StateError) -> [[UInt8]]? {
        guard let scan = try scans(.narrowed).first(where: { $0.rank > 0 }) else { return nil }
        return try keys(scan)
    }

    // MARK: All matches

    /// Calls `body` with every match, in no order. Of the matches it reads only columns of the filter and these.
    func forEachMatch(
        using columns: Set<String>, _ body: (VisitedRow) throws(StateError) -> Void
    ) throws(StateError) {
        if let ids = try ids() {
            plan.access = .ids
            return try forEach(ids, body)
        }
        let scan = try scans(.all).first { $0.rank > 0 || covers($0.index, columns) }
        if let scan {
            let isCovering = covers(scan.index, columns)
            plan.access = .index(columns: scan.index.columns, isOrdered: false, isCovering: isCovering)
            if try forEachMatch(scan, isCovering, body) { return }
            plan = QueryPlan(givenUp: plan.givenUp)
        }
        try forEachInTable { row throws(StateError) in
            try body(row)
            return true
        }
    }

    // MARK: Ways

    /// The ways to try, best first; reading the table is always left.
    private func ways() throws(StateError) -> [Way] {
        if let ids = try ids() { return [.ids(ids)] }
        let isWindow = limit < .max && !query.countsAll
        let scans = try scans(isWindow ? .all : .narrowed)
        let best = scans.first { $0.rank > 0 }
        var ways: [Way] = best.map { [.entries($0)] } ?? []
        if isWindow {
            let walks = scans.compactMap { scan in IndexOrder(query, scan).map { (scan, $0) } }
            // Of two that the filter narrows as much, the one that decides more of the order.
            let walk = walks.max { ($0.0.rank, $0.1.matched) < ($1.0.rank, $1.1.matched) }
            if let (scan, order) = walk {
                ways.insert(.walk(scan, order), at: scan.rank >= best?.rank ?? 0 ? 0 : ways.count)
            }
        }
        return ways
    }

    private enum Indexes {
        case all
        /// Those with a condition on their first column.
        case narrowed
    }

    /// What the filter leaves of indexes, the narrowest first.
    private func scans(_ which: Indexes) throws(StateError) -> [IndexScan] {
        // An id is no column of a row, so an index on one says nothing.
        let indexes = try reader.indexes(of: query.table).filter { index in
            !index.keeps("id") && (which == .all || conditions.contains { $0?.column == index.columns[0] })
        }
        return indexes.map { IndexScan($0, query.table, conditions) }.sorted { $0.rank > $1.rank }
    }

    /// The keys of the rows whose ids the filter names; nil if it names none.
    private func ids() throws(StateError) -> [[UInt8]]? {
        let condition = conditions.lazy.compactMap(\.self).first { $0.column == "id" && $0.choices != nil }
        guard let values = condition?.choices else { return nil }
        var keys: Set<[UInt8]> = []
        for value in values {
            if case .string(let id) = value { keys.insert(RowKey.bytes(query.table, id, try reader.idComparison)) }
        }
        return Array(keys)
    }

    private func covers(_ index: TableIndex) -> Bool {
        guard let select = query.select else { return false }
        return covers(index, select) && index.covers(query.order.map(\.column))
    }

    /// Whether an index has these columns and those of the filter.
    private func covers(_ index: TableIndex, _ columns: some Sequence<String>) -> Bool {
        index.covers(columns) && index.covers(query.filter?.columns ?? []) && !reader.spellsIDs
    }

    /// The number of entries that may be read if their rows are then looked up one by one.
    private var budget: Int { max(4096, reader.snapshot.layers.runEntries / 16) }

    // MARK: Reading

    private func forEachEntry(
        _ scan: IndexScan, isBackward: Bool, _ body: (Bytes, Bytes) throws(StateError) -> Bool
    ) throws(StateError) {
        for range in isBackward ? scan.ranges.reversed() : scan.ranges {
            var goesOn = true
            if isBackward {
                try reader.snapshot.forEachBackward(from: range.start, before: range.end) {
                    key, value throws(StateError) in
                    goesOn = try body(key, value)
                    return goesOn
                }
            } else {
                try reader.snapshot.forEach(from: range.start) { key, value throws(StateError) in
                    guard range.end.withBytes({ key.compare($0) < 0 }) else { return false }
                    goesOn = try body(key, value)
                    return goesOn
                }
            }
            if !goesOn { return }
        }
    }

    /// Calls `body` with each match that an index finds. Returns false if the index has too many entries.
    private func forEachMatch(
        _ scan: IndexScan, _ isCovering: Bool, _ body: (VisitedRow) throws(StateError) -> Void
    ) throws(StateError) -> Bool {
        guard isCovering else {
            guard let keys = try keys(scan) else { return false }
            try forEach(keys, unlessSure: scan, body)
            return true
        }
        let start = scan.index.prefix(query.table).count
        try forEachEntry(scan, isBackward: false) { key, value throws(StateError) in
            plan.entriesRead += 1
            try visit(try scan.index.rowID(in: key, from: start), value, scan, true, body)
            return true
        }
        return true
    }

    /// The keys of the rows that an index finds, so sorted that rows of one block are read one after another; nil if
    /// the index has too many entries.
    private func keys(_ scan: IndexScan) throws(StateError) -> [[UInt8]]? {
        let start = scan.index.prefix(query.table).count
        let before = plan.entriesRead
        var keys: [[UInt8]] = []
        try forEachEntry(scan, isBackward: false) { key, _ throws(StateError) in
            plan.entriesRead += 1
            keys.append(visitor.prefix + [UInt8](try scan.index.rowID(in: key, from: start)))
            return plan.entriesRead - before <= budget
        }
        guard plan.entriesRead - before <= budget else {
            plan.givenUp.append(scan.index.columns)
            return nil
        }
        keys.sort { IndexInterval.isBefore($0, $1) }
        return keys
    }

    /// Calls `body` with a row if it matches, found by an entry of an index.
    private func visit(
        _ id: Bytes, _ value: Bytes, _ scan: IndexScan, _ isCovering: Bool,
        _ body: (VisitedRow) throws(StateError) -> Void
    ) throws(StateError) {
        guard isCovering else { return try forEach([visitor.prefix + [UInt8](id)], unlessSure: scan, body) }
        _ = try visitor.visit(entry: id, value) { row throws(StateError) in
            if try isMatch(row, scan.isExact ? nil : filter) { try body(row) }
            return true
        }
    }

    private func forEach(
        _ keys: [[UInt8]], unlessSure scan: IndexScan? = nil, _ body: (VisitedRow) throws(StateError) -> Void
    ) throws(StateError) {
        let filter = scan?.isExact == true ? nil : filter
        for key in keys {
            guard let stored = try reader.value(key) else { continue }
            plan.rowsRead += 1
            try key.withBytes { key throws(StateError) in
                try stored.withBytes { value throws(StateError) in
                    _ = try visitor.visit(key, value) { row throws(StateError) in
                        if try isMatch(row, filter) { try body(row) }
                        return true
                    }
                }
            }
        }
    }

    /// Calls `body` with each match of the table, which may skip the rest of an id form.
    private func forEachInTable(_ body: (VisitedRow) throws(StateError) -> Bool) throws(StateError) {
        let filter = filter
        for form in RowKey.forms {
            try visitor.forEachRow(form: form) { row throws(StateError) in
                plan.rowsRead += 1
                return try isMatch(row, filter) ? try body(row) : true
            }
        }
    }

    /// - Parameter filter: Nil if only matches are found.
    private func isMatch(_ row: VisitedRow, _ filter: FilterProgram?) throws(StateError) -> Bool {
        if let filter, try !filter.matches(row.sight) { return false }
        matches += 1
        return true
    }
}

extension ByteWriter {
    /// Returns whether the bytes come after the beginning, of the same length, of others.
    fileprivate func isAfter(beginningOf other: [UInt8]) -> Bool {
        withView { mine in
            other.withBytes { mine.compare(Bytes(rebasing: $0.prefix(mine.count))) > 0 }
        }
    }
}
