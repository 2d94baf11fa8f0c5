// Collects the rows of a result. If all matches are wanted and come in the order of their keys, they are taken as they
// come. Otherwise the first ones of the order are kept, and sorted when all matches are known.

import SynclineGround

struct ResultRows: ~Copyable {
    private let skip: Int
    private let order: [RowQuery.Key]
    /// The first rows of the order; nil if all are taken as they come.
    private var first: FirstRows?
    private var rows: [StoredRow] = []
    private var selection: ColumnSelection?
    /// The form of the ids so far, and whether there was another: only ids of one form sort as their keys do.
    private var form: UInt8?
    private var hasForms = false

    /// - Parameters:
    ///   - keys: The sort keys that decide.
    ///   - comeByKey: Whether matches come in the order of their keys, which have their ids as they are shown.
    init(
        _ query: RowQuery, _ shapes: ShapeTable, _ types: TableTypes, keys: [RowQuery.Key], after: RowQuery.Place?,
        comeByKey: Bool
    ) {
        (skip, order) = (query.skip, query.order)
        selection = query.select.map { ColumnSelection($0, shapes) }
        if comeByKey, query.order.isEmpty, query.top == nil, query.after == nil { return }
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
        let columns = if let selected = try selection?.row(sight) { selected } else { try sight.row }
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

    /// The rows of the result, and the place of the last one.
    mutating func finish() throws(SyncError) -> (rows: [StoredRow], end: RowQuery.Place?) {
        guard var first else { return finishByKey() }
        // The only one, so that sorting it copies nothing.
        self.first = nil
        rows = first.finish(skipping: skip)
        let end = rows.last.map { RowQuery.Place(of: $0, in: order) }
        if selection != nil {
            for index in rows.indices { rows[index].columns = try selected(rows[index].columns) }
        }
        return (rows, end)
    }

    private mutating func selected(_ row: Row) throws(SyncError) -> Row {
        try row.withView { view throws(SyncError) in
            let sight = EncodedRowView(id: Bytes(start: nil, count: 0), row: view)
            return try selection?.row(sight) ?? row
        }
    }

    private mutating func finishByKey() -> (rows: [StoredRow], end: RowQuery.Place?) {
        if hasForms { rows.sortByID() }
        if skip > 0 { rows.removeFirst(min(skip, rows.count)) }
        return (rows, rows.last.map { RowQuery.Place(of: $0, in: []) })
    }
}
