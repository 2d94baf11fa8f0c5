// Carries out one query: by ids, by an index, or by reading the table. An index is given up if it turns out to have so
// many entries that reading the table is faster.

import SynclineGround

final class QueryRun {
    let reader: StateReader
    let visitor: RowVisitor
    let query: RowQuery
    let types: TableTypes
    private let conditions: FilterConditions
    /// The keys of rows of which some may match; nil if any may.
    private let given: RowKeys?
    // Unchecked: one thread runs a query, and nothing here is called from within itself.
    @exclusivity(unchecked) var plan = QueryPlan()
    @exclusivity(unchecked) var matches = 0
    @exclusivity(unchecked) private var compiled: FilterProgram?
    @exclusivity(unchecked) private var knownForms: [UInt8]?

    /// - Parameter given: The keys of the only rows that may match, sorted; nil if any may.
    init(_ reader: StateReader, _ query: RowQuery, among given: RowKeys? = nil) throws(SyncError) {
        self.reader = reader
        self.given = given
        let asked = FilterConditions(query.filter)
        if asked.dependOnState || query.order.asksOthers {
            var resolved = query
            resolved.filter = try reader.resolved(query.filter, in: query.table)
            resolved.order = try reader.resolved(query.order)
            (self.query, conditions) = (resolved, FilterConditions(resolved.filter))
        } else {
            (self.query, conditions) = (query, asked)
        }
        types = try reader.types(of: query.table)
        visitor = RowVisitor(reader, query.table)
    }

    /// The filter, compiled when the first row has to be looked at; nil if there is none. The run retains it.
    var filter: Unmanaged<FilterProgram>? {
        get throws(SyncError) {
            if query.filter == nil { return nil }
            if let compiled { return .passUnretained(compiled) }
            let program = FilterProgram(query.filter, types)
            compiled = program
            return .passUnretained(program)
        }
    }

    /// A filter of blocks in columns.
    func blockFilter(_ taker: (any BlockTaker)? = nil) throws(SyncError) -> BlockFilter {
        BlockFilter(try filter?.takeUnretainedValue(), visitor.shapes, taker)
    }

    // MARK: Rows

    func rows() throws(SyncError) -> QueryResult {
        if query.top == 0 { return QueryResult(rows: [], count: query.countsAll ? try count() : nil) }
        if let ids = try ids() { return try rows(ids) }
        if let result = try indexedRows() { return result }
        plan = QueryPlan(givenUp: plan.givenUp)
        return query.order.isEmpty ? try rowsByKey() : try orderedRows()
    }

    /// The rows of the table in the order of their ids.
    private func rowsByKey() throws(SyncError) -> QueryResult {
        var found = collector(comeByKey: true)
        // The rows of one id form are sorted by id: when one is not wanted, no later one is.
        let isSorted = !reader.spellsIDs && !query.countsAll
        try forEachByKey { row throws(SyncError) in try found.offer(row) || !isSorted }
        return try result(&found)
    }

    /// The rows of the table in another order.
    private func orderedRows() throws(SyncError) -> QueryResult {
        var found = collector(comeByKey: false)
        let wanted = try blockFilter()
        var edges = 0
        try forEachInTable(wanted) { row throws(SyncError) in
            _ = try found.offer(row)
            if found.edge.number == edges { return }
            edges = found.edge.number
            if let edge = found.edge.edge, !query.countsAll, let key = query.order.first {
                wanted.leaveOut(after: edge, by: key.column)
            }
        }
        return try result(&found)
    }

    /// The rows found by the cheapest index; nil if reading the table is cheaper.
    private func indexedRows() throws(SyncError) -> QueryResult? {
        guard isWindow else { return try cheapestScan().flatMap { scan throws(SyncError) in try rows(scan) } }
        // One that is given up costs as much as it may, so a third one is not tried.
        for (scan, order) in try uses().prefix(2) {
            if let order {
                if let result = try walk(scan, order) { return result }
            } else if let result = try rows(scan) {
                return result
            }
        }
        return nil
    }

    /// Whether only the first rows of an order are wanted, and no number of all.
    private var isWindow: Bool { query.top != nil && !query.countsAll }

    private func rows(_ ids: RowKeys) throws(SyncError) -> QueryResult {
        plan.access = .ids
        var found = collector(comeByKey: true)
        try forEach(ids, areMatches: try onlyNamesIDs) { row throws(SyncError) in _ = try found.offer(row) }
        return try result(&found)
    }

    /// Reads all entries of a scan that can match; nil if there are too many.
    private func rows(_ scan: IndexScan) throws(SyncError) -> QueryResult? {
        let isCovering = scan.choice.isCovering
        plan.access = .index(columns: scan.index.columns, isOrdered: false, isCovering: isCovering)
        var found = collector(comeByKey: !isCovering || scan.isPinned)
        let isDone = try forEachMatch(scan, isCovering) { row throws(SyncError) in _ = try found.offer(row) }
        if !isDone { matches = 0 }
        return isDone ? try result(&found) : nil
    }

    /// Reads entries in the order of the query until there are enough rows; nil if there are too many.
    private func walk(_ scan: IndexScan, _ order: IndexOrder) throws(SyncError) -> QueryResult? {
        let isCovering = scan.choice.isCovering
        plan.access = .index(columns: scan.index.columns, isOrdered: true, isCovering: isCovering)
        let edge = try order.places(scan.index) { id throws(SyncError) in
            // Ids that sort as keys do are compared exactly. Another one may be of another form.
            let id = keyForm(ofID: id)
            return try idForms.contains(id[0]) ? id : []
        }
        let ranges = edge.map { scan.ranges(limitedTo: $0.bytes, isBackward: order.isBackward) } ?? scan.ranges
        if let keys = try firstKeys(scan, order, ranges, edge) { return try rows(keys, inOrderOf: scan) }
        var found = ResultRows(query, reader.shapes, types, keys: order.keys, after: order.after, rowsCome: .anyhow)
        let unpinned = scan.index.columns.count - scan.pins
        let (start, knownKeys, filter) = (scan.pinnedPrefix.count, order.known, scan.isExact ? nil : try filter)
        var known = ByteWriter(capacity: 128)
        var few = RowKeys(prefix: visitor.prefix)
        let limit = isCovering ? Int.max : plan.entriesRead.addingOrMax(reader.lookupBudget)
        var isTooMuch = false
        try forEachEntry(ranges, isBackward: order.isBackward) { key, value throws(SyncError) in
            plan.entriesRead += 1
            known.removeAll()
            var reader = ByteReader(key, at: start)
            let isAll: Bool
            do throws(MalformedBytes) {
                isAll = try knownKeys.append(&reader, of: unpinned, to: &known)
            } catch {
                throw .malformed("an index")
            }
            // From here on, every row comes after all that are wanted.
            if let bound = found.bound, order.isByID || known.isAfter(beginningOf: bound) { return false }
            isTooMuch = plan.entriesRead > limit
            if isTooMuch { return false }
            if isCovering {
                try known.withView { known throws(SyncError) in
                    try visit(entry: reader.rest, value, filter) { row throws(SyncError) in
                        _ = try found.offer(row, sortKeys: isAll ? known : nil)
                    }
                }
                return true
            }
            known.withView { few.append(id: reader.rest, sortKeys: isAll ? $0 : nil) }
            // All of these rows are needed in any case.
            if !few.isFew || few.count >= found.missing { try look(&few, filter, &found) }
            return true
        }
        if isTooMuch {
            plan.givenUp.append(scan.index.columns)
            matches = 0
            return nil
        }
        try look(&few, filter, &found)
        return try result(&found)
    }

    /// The keys of the first rows in order, if the entries of an index say which these are.
    private func firstKeys(
        _ scan: IndexScan, _ order: IndexOrder, _ ranges: [IndexRange], _ edge: (bytes: [UInt8], isExact: Bool)?
    ) throws(SyncError) -> RowKeys? {
        let unpinned = scan.index.columns.count - scan.pins
        guard scan.isExact, order.isWhole, order.matched == unpinned, !reader.spellsIDs, !scan.choice.isCovering,
            edge?.isExact ?? true, let limit = query.top.map({ query.skip.addingOrMax($0) })
        else { return nil }
        let after = order.after.map {
            (sortKeys: order.isByID ? [] : edge?.bytes ?? [], id: keyForm(ofID: $0.id))
        }
        var first = FirstEntries(
            RowKeys(prefix: visitor.prefix), limit: limit, isBackward: order.isBackward, after: after)
        let (start, budget) = (scan.pinnedPrefix.count, reader.lookupBudget)
        var (step, read) = (FirstEntries.Step.more, 0)
        try forEachEntry(ranges, isBackward: order.isBackward) { key, _ throws(SyncError) in
            var place = ByteReader(key, at: start)
            do throws(MalformedBytes) {
                for _ in 0..<unpinned where try place.skipSortValue() != nil { step = .unsure }
            } catch {
                throw .malformed("an index")
            }
            read += 1
            if read > budget { step = .unsure }
            guard step == .more else { return false }
            step = try first.offer(sortKeys: key.slice(start, place.offset - start), id: place.rest) {
                () throws(SyncError) in try idForms.count < 2
            }
            return step == .more
        }
        guard step != .unsure else { return nil }
        plan.entriesRead += read
        return first.finish()
    }

    private func rows(_ keys: RowKeys, inOrderOf scan: IndexScan) throws(SyncError) -> QueryResult {
        var found = ResultRows(query, reader.shapes, types, keys: [], after: nil, rowsCome: .inOrder)
        try forEach(keys, areKnown: true, areMatches: scan.isExact) { row throws(SyncError) in
            _ = try found.offer(row)
        }
        return try result(&found)
    }

    /// The form that an id has in keys.
    private func keyForm(ofID id: String) -> [UInt8] {
        Array(RowKey.bytes(query.table, id, .exact)[visitor.prefix.count...])
    }

    /// Looks up the rows of some entries, offers those that match, and removes the entries.
    private func look(
        _ few: inout RowKeys, _ filter: Unmanaged<FilterProgram>?, _ found: inout ResultRows
    ) throws(SyncError) {
        try few.forEachValue(in: reader.snapshot, areKnown: true) { key, value, sortKeys throws(SyncError) in
            try visit(row: key, value, filter) { row throws(SyncError) in
                _ = try found.offer(row, sortKeys: sortKeys)
            }
        }
        few.removeAll()
    }

    private func collector(comeByKey: Bool) -> ResultRows {
        ResultRows(
            query, reader.shapes, types, keys: query.order, after: query.after,
            rowsCome: comeByKey && !reader.spellsIDs ? .byKey : .anyhow)
    }

    private func result(_ found: inout ResultRows) throws(SyncError) -> QueryResult {
        try found.finish(count: query.countsAll ? matches : nil)
    }

    // MARK: Counting

    func count() throws(SyncError) -> Int {
        if let exact = try scan(covering: [], where: { $0.choice.isNarrowed && $0.isExact }) {
            plan.access = .index(columns: exact.index.columns, isOrdered: false, isCovering: true)
            for range in exact.ranges {
                plan.entriesRead += try reader.snapshot.count(from: range.start, before: range.end)
            }
            return plan.entriesRead
        }
        let wanted = try blockFilter(BlockCount())
        try forEachMatch(using: [], wanted) { _ in }
        return matches + wanted.taken
    }

    // MARK: All matches

    /// Calls `body` with every match, in no order. Of the matches it reads only columns of the filter and these.
    func forEachMatch(
        using columns: [String], _ wanted: BlockFilter,
        _ body: (borrowing VisitedRow) throws(SyncError) -> Void
    ) throws(SyncError) {
        if let ids = try ids() {
            plan.access = .ids
            return try forEach(ids, areMatches: try onlyNamesIDs, body)
        }
        if let scan = try scan(covering: columns, where: \.choice.isOfUse) {
            plan.access = .index(columns: scan.index.columns, isOrdered: false, isCovering: scan.choice.isCovering)
            if try forEachMatch(scan, scan.choice.isCovering, body) { return }
            plan = QueryPlan(givenUp: plan.givenUp)
        }
        try forEachInTable(wanted, body)
    }

    // MARK: Ways

    /// The forms that ids of the table have in keys.
    private var idForms: [UInt8] {
        get throws(SyncError) {
            if let knownForms { return knownForms }
            let forms = try reader.idForms(of: query.table)
            knownForms = forms
            return forms
        }
    }

    /// Returns whether an index can be of use for the rows.
    private func isCandidate(_ index: TableIndex) -> Bool {
        conditions.contain(index.columns[0]) || !index.including.isEmpty
            || query.order.first?.column.hasSameBytes(as: index.columns[0]) == true
    }

    /// The cheapest index for all rows; nil if reading the table is cheaper.
    private func cheapestScan() throws(SyncError) -> IndexScan? {
        var best: IndexScan?
        var bestPrice: Double?
        for index in try indexes() where isCandidate(index) {
            let scan = IndexScan(index, query.table, conditions)
            scan.choice.isCovering = covers(scan)
            guard let other = best else {
                best = scan
                continue
            }
            let otherPrice = if let bestPrice { bestPrice } else { try price(other).price }
            let price = try price(scan).price
            (best, bestPrice) = price < otherPrice ? (scan, price) : (other, otherPrice)
        }
        guard let best else { return nil }
        // A part of an index is always cheaper than the table.
        if best.choice.isNarrowed { return best }
        let price = if let bestPrice { bestPrice } else { try price(best).price }
        return best.choice.isOfUse && price < tablePrice ? best : nil
    }

    /// The indexes that are cheaper than reading the table for the first rows, the cheapest first, each with the order of
    /// its entries if that is of use.
    private func uses() throws(SyncError) -> [(scan: IndexScan, order: IndexOrder?)] {
        var uses: [(scan: IndexScan, order: IndexOrder?, price: Double)] = []
        for index in try indexes() where isCandidate(index) {
            let scan = IndexScan(index, query.table, conditions)
            scan.choice.isCovering = covers(scan)
            let (price, order) = try price(scan)
            if scan.choice.isOfUse, price < tablePrice {
                uses.append((scan, scan.choice.readsFirst ? order : nil, price))
            }
        }
        // Of two that cost the same, the one that decides more of the order.
        if uses.count > 1 {
            uses.sort { ($0.price, -($0.order?.matched ?? 0)) < ($1.price, -($1.order?.matched ?? 0)) }
        }
        return uses.map { ($0.scan, $0.order) }
    }

    /// The price of a use of an index, which then has the order of the query if its entries do.
    private func price(_ scan: IndexScan) throws(SyncError) -> (price: Double, order: IndexOrder?) {
        scan.choice.isFiltered = conditions.containEquality(outside: scan.index.columns.prefix(scan.choice.equal))
        let order = try IndexOrder(query, scan) { () throws(SyncError) in
            reader.spellsIDs ? false : try idForms.count < 2
        }
        // The first keys of an order are of use only until there are enough rows.
        if let order, isWindow || order.isWhole {
            scan.choice.setOrder(isBackward: order.isBackward, hasLimit: isWindow, hasOthers: scan.hasOthers)
        }
        return (scan.choice.price(sorts: true), order)
    }

    private var tablePrice: Double {
        IndexChoice.tablePrice(sorts: !query.order.isEmpty, isFiltered: conditions.containEquality())
    }

    /// The cheapest index for all matches; nil if the table is read.
    /// - Parameter columns: The columns that are read besides those of the filter.
    private func scan(
        covering columns: [String], where suits: (IndexScan) -> Bool
    ) throws(SyncError) -> IndexScan? {
        var best: IndexScan?
        for index in try indexes() {
            guard conditions.contain(index.columns[0]) || !index.including.isEmpty else { continue }
            let scan = IndexScan(index, query.table, conditions)
            scan.choice.isCovering = covers(index, columns)
            guard suits(scan), best.map({ scan.choice.price(sorts: false) < $0.choice.price(sorts: false) }) ?? true
            else { continue }
            best = scan
        }
        return best
    }

    private func indexes() throws(SyncError) -> LazyFilterSequence<[TableIndex]> {
        try reader.indexes(of: query.table).lazy.filter { !$0.keepsID }
    }

    /// The keys of the rows whose ids the filter names, sorted; nil if it names none.
    private func ids() throws(SyncError) -> RowKeys? {
        if let given { return given }
        let condition = conditions.columns.first { $0.column == "id" && $0.choices != nil }
        guard let values = condition?.choices else { return nil }
        var keys = RowKeys(prefix: visitor.prefix)
        for value in values {
            if case .string(let id) = value { keys.append(key: RowKey.bytes(query.table, id, try reader.idComparison)) }
        }
        keys.sort()
        return keys
    }

    /// Whether a row matches if its id is one that the filter names. Keys that ignore case also find other spellings.
    private var onlyNamesIDs: Bool {
        get throws(SyncError) {
            if given != nil { return conditions.count == 0 }
            return conditions.count == 1 ? try reader.idComparison == .exact : false
        }
    }

    private func covers(_ scan: IndexScan) -> Bool {
        guard let select = query.select, query.order.allSatisfy({ scan.index.covers($0.column) }) else { return false }
        // The conditions of a filter that says no more than the scan are about columns of the index.
        if scan.isExact { return !reader.spellsIDs && scan.index.covers(select) }
        return covers(scan.index, select)
    }

    /// Whether an index has these columns and those of the filter.
    private func covers(_ index: TableIndex, _ columns: some Sequence<String>) -> Bool {
        guard index.covers(columns), !reader.spellsIDs else { return false }
        var hasAll = true
        query.filter?.forEachColumn { if !index.covers($0) { hasAll = false } }
        return hasAll
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
