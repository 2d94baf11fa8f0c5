// Collects the rows of a result. If all matches are wanted and come in the order of their keys, each is decoded as it is
// found. Otherwise the first ones of the order are kept encoded, and decoded when all matches are known.

import SynclineGround

struct ResultRows: ~Copyable {
    private let skip: Int
    private let order: [RowQuery.Key]
    /// The rows kept encoded; nil if all are decoded as they come.
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
    var bound: [UInt8]? { first?.bound }

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
        rows.append(try decoded(row.sight))
        if let form, row.form != form { hasForms = true }
        form = row.form
        return true
    }

    /// The same for a row whose sort keys may be known.
    mutating func offer(_ row: borrowing VisitedRow, sortKeys: Bytes?) throws(SyncError) -> Bool {
        if let sortKeys, let isWanted = try first?.offer(row, sortKeys: sortKeys) { return isWanted }
        return try offer(row)
    }

    private mutating func decoded(_ sight: EncodedRowView) throws(SyncError) -> StoredRow {
        let columns = try selection?.row(sight) ?? sight.row
        return StoredRow(sight.compactID, columns: columns)
    }

    /// Whether all rows are decoded as they come.
    var isDecoded: Bool { first == nil }

    /// The rows of the result, and the place of the last one, if all rows are decoded.
    mutating func finish() -> (rows: [StoredRow], end: RowQuery.Place?) {
        if hasForms { rows.sortByID() }
        if skip > 0 { rows.removeFirst(min(skip, rows.count)) }
        return (rows, rows.last.map { RowQuery.Place(values: [], id: $0.id) })
    }

    /// The same if the first rows of the order are kept encoded.
    mutating func finish(
        _ visitor: RowVisitor, isCovering: Bool
    ) throws(SyncError) -> (rows: [StoredRow], end: RowQuery.Place?) {
        guard var first else { return ([], nil) }
        // The only one, so that sorting it copies nothing.
        self.first = nil
        var end: RowQuery.Place?
        var left = first.count - skip
        rows.reserveCapacity(max(0, left))
        try first.forEach(skipping: skip) { key, value throws(SyncError) in
            func add(_ row: borrowing VisitedRow) throws(SyncError) {
                rows.append(try decoded(row.sight))
                left -= 1
                if left == 0 { end = RowQuery.Place(of: row.sight, in: order) }
            }
            if isCovering {
                try visitor.visit(entry: key, value, add)
            } else {
                try visitor.visit(key, ValueView(value), add)
            }
        }
        return (rows, end)
    }
}
