// Collects the rows of a result. They are taken as they come if all are wanted and come in the order of their keys, or if
// only the wanted ones come, in order. Otherwise the first ones of the order are kept, and sorted when all matches are
// known.

struct ResultRows: ~Copyable {
    /// How the matches come.
    enum Coming {
        /// In no order.
        case anyhow
        /// In the order of their keys, which have their ids as they are shown.
        case byKey
        /// In the order of the query, and only as many as are wanted.
        case inOrder
    }

    private let skip: Int
    private let coming: Coming
    private let order: [RowQuery.Key]
    /// The first rows of the order; nil if all are taken as they come.
    private var first: FirstRows?
    private var rows: [StoredRow] = []
    private var selection: ColumnSelection?
    /// Whether the columns that are not wanted are dropped at once. The place of the last row needs those of the order.
    private let selectsAtOnce: Bool
    /// The form of the ids so far, and whether there was another: only ids of one form sort as their keys do.
    private var form: UInt8?
    private var hasForms = false

    /// - Parameter keys: The sort keys that decide.
    init(
        _ query: RowQuery, _ shapes: ShapeTable, _ types: TableTypes, keys: [RowQuery.Key], after: RowQuery.Place?,
        rowsCome coming: Coming
    ) {
        (skip, order, self.coming) = (query.skip, query.order, coming)
        selection = query.select.map { ColumnSelection($0, shapes) }
        selectsAtOnce = coming == .byKey && query.order.isEmpty && query.top == nil && query.after == nil
        if coming == .inOrder || selectsAtOnce { return }
        first = FirstRows(
            SortOrder(keys, types), limit: query.top.map { query.skip.addingOrMax($0) } ?? .max,
            after: after.map { SortOrder.position($0, keys, types) })
    }

    /// The position of the last row that is wanted, once there are enough rows.
    var bound: [UInt8]? { first?.isFull == true ? first?.bound : nil }

    /// An edge after which no row is wanted, and how many there were before it.
    var edge: (edge: OrderEdge?, number: Int) { (first?.edge, first?.edges ?? 0) }

    /// How many rows are taken before there are as many as are wanted; 0 if all are wanted.
    var missing: Int { first?.missing ?? 0 }

    /// Offers a row. Returns false if it comes after all rows that are wanted.
    @inline(__always)
    mutating func offer(_ row: borrowing VisitedRow) throws(SyncError) -> Bool {
        if let isWanted = try first?.offer(row) { return isWanted }
        // Most results have a few rows, and an array that grows from one row on is copied for each of them.
        if rows.isEmpty { rows.reserveCapacity(4) }
        let sight = row.sight
        let columns = if selectsAtOnce, let selected = try selection?.row(sight) { selected } else { try sight.row }
        rows.append(StoredRow(sight.compactID, columns: columns))
        if let form, row.form != form { hasForms = true }
        form = row.form
        return true
    }

    /// The same for a row whose sort keys may be known.
    mutating func offer(_ row: borrowing VisitedRow, sortKeys: Bytes?) throws(SyncError) -> Bool {
        if let sortKeys, let isWanted = try first?.offer(row, sortKeys: sortKeys) { return isWanted }
        return try offer(row)
    }

    /// The result of the query.
    mutating func finish(count: Int?) throws(SyncError) -> QueryResult {
        if var first {
            // The only one, so that sorting it copies nothing.
            self.first = nil
            rows = first.finish(skipping: skip)
        } else {
            if hasForms, coming == .byKey { rows.sortByID() }
            if skip > 0 { rows.removeFirst(min(skip, rows.count)) }
        }
        if selection == nil || selectsAtOnce { return QueryResult(rows: rows, count: count, order: order) }
        let end = rows.last.map { RowQuery.Place(of: $0, in: order) }
        for index in rows.indices { rows[index].columns = try selected(rows[index].columns) }
        return QueryResult(rows: rows, count: count, end: end)
    }

    private mutating func selected(_ row: Row) throws(SyncError) -> Row {
        try row.withView { view throws(SyncError) in
            let sight = EncodedRowView(id: Bytes(start: nil, count: 0), row: view)
            return try selection?.row(sight) ?? row
        }
    }
}
