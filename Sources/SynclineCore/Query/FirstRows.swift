// The first rows of an order, found in one pass over rows in any order. It keeps at most twice as many as are wanted:
// when there are more, it drops those that come last, and from then on it takes only rows that come before the last one
// kept.

import SynclineGround

struct FirstRows {
    /// A row, and where its position is in the memory.
    private struct Item {
        /// The first bytes of the position, which decide most comparisons.
        let head: UInt64
        var place: Range<Int>
        var row: Int

        func isBefore(_ other: Item, _ memory: Bytes) -> Bool {
            head == other.head ? position(memory).compare(other.position(memory)) < 0 : head < other.head
        }

        func position(_ memory: Bytes) -> Bytes { Bytes(rebasing: memory[place]) }
    }

    private var order: SortOrder
    private let limit: Int
    /// Rows up to and including this position are not wanted.
    private let after: [UInt8]?
    private var items: [Item] = []
    private var rows: [StoredRow] = []
    /// Whether the items are in order, and the rows in that of the items.
    private var isSorted = true
    private var memory = ByteWriter(capacity: 512)
    private var position = ByteWriter(capacity: 256)
    /// The position of the last row kept, once there are as many as are wanted.
    private(set) var bound: [UInt8]? { didSet { isFull = bound != nil } }
    /// Whether there are as many as are wanted.
    private(set) var isFull = false
    private(set) var edge: OrderEdge?
    /// How often the edge was set.
    private(set) var edges = 0

    init(_ order: SortOrder, limit: Int, after: [UInt8]? = nil) {
        self.order = order
        self.limit = limit
        self.after = after
    }

    /// Offers a row. Returns false if it comes after all rows that are wanted.
    @inline(__always)
    mutating func offer(_ row: borrowing VisitedRow) throws(SyncError) -> Bool {
        if let edge, order.isAfter(edge, row.sight) { return false }
        return try place(row)
    }

    /// Offers a row whose sort keys are known.
    mutating func offer(_ row: borrowing VisitedRow, sortKeys: Bytes) throws(SyncError) -> Bool {
        position.removeAll()
        position.append(sortKeys)
        return try addAtPosition(row)
    }

    private mutating func place(_ row: borrowing VisitedRow) throws(SyncError) -> Bool {
        position.removeAll()
        try order.append(row.sight, to: &position)
        return try addAtPosition(row)
    }

    /// Adds a row whose sort keys are in `position`, if it is wanted.
    private mutating func addAtPosition(_ row: borrowing VisitedRow) throws(SyncError) -> Bool {
        // The sort keys alone exclude most rows.
        if isFull, isAfterBound { return false }
        row.sight.withID { position.append($0) }
        if isFull, isAfterBound { return false }
        if let after, !isAfter(after) { return true }
        add(StoredRow(row.sight.compactID, columns: try row.sight.row))
        return true
    }

    private var isAfterBound: Bool { bound.map(isAfter) ?? false }

    private func isAfter(_ other: [UInt8]) -> Bool {
        position.withView { mine in other.withBytes { mine.compare($0) > 0 } }
    }

    private mutating func add(_ row: StoredRow) {
        let start = memory.count
        let head = position.withView { position in
            memory.append(position)
            return position.head()
        }
        let item = Item(head: head, place: start..<memory.count, row: rows.count)
        if isSorted, let last = items.last { isSorted = memory.withView { !item.isBefore(last, $0) } }
        items.append(item)
        rows.append(row)
        // A place for each row wanted, and as many again, so that sorting is rare.
        if items.count == limit || items.count >= limit.addingOrMax(max(limit, 32)) { cut() }
    }

    /// Sorts the rows and drops those that are not wanted.
    private mutating func cut() {
        sort()
        guard items.count >= limit else { return }
        let hasOthers = items.count > limit
        items.removeSubrange(limit...)
        rows.removeSubrange(limit...)
        guard let last = items.last else { return }
        let position = memory.withView { [UInt8](last.position($0)) }
        bound = position
        edge = order.edge(position)
        edges += 1
        if hasOthers { compact() }
    }

    private mutating func sort() {
        if isSorted { return }
        memory.withView { memory in items.sort { $0.isBefore($1, memory) } }
        // The rows follow them in cycles. They are moved, so that no reference is counted.
        rows.withUnsafeMutableBufferPointer { rows in
            for first in items.indices where items[first].row != first {
                let row = rows.moveElement(from: first)
                var place = first
                while items[place].row != first {
                    let next = items[place].row
                    rows.initializeElement(at: place, to: rows.moveElement(from: next))
                    items[place].row = place
                    place = next
                }
                rows.initializeElement(at: place, to: row)
                items[place].row = place
            }
        }
        isSorted = true
    }

    /// Moves the positions that are kept to memory of their own.
    private mutating func compact() {
        var kept = ByteWriter(capacity: memory.count / 2)
        memory.withView { old in
            for index in items.indices {
                let start = kept.count
                kept.append(items[index].position(old))
                items[index].place = start..<kept.count
            }
        }
        memory = kept
    }

    /// How many rows are taken before there are as many as are wanted.
    var missing: Int { max(0, limit - items.count) }

    /// The wanted rows in order, without the first `skip`.
    mutating func finish(skipping skip: Int) -> [StoredRow] {
        sort()
        rows.removeSubrange(min(limit, rows.count)...)
        rows.removeFirst(min(skip, rows.count))
        return rows
    }
}

extension Int {
    /// The sum, or the largest number if it is too large.
    func addingOrMax(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
