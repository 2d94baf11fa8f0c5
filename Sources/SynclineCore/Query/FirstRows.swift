// The first rows of an order, found in one pass over rows in any order. It keeps the encoded rows, at most twice as many
// as are wanted: when there are more, it drops those that come last, and from then on it takes only rows that come
// before the last one kept.

import SynclineGround

struct FirstRows {
    /// Where a row's parts are in the memory.
    private struct Item {
        /// The first bytes of the position, which decide most comparisons.
        let head: UInt64
        let start: Int
        /// The length of the position, the key and the value.
        let position: Int
        let key: Int
        let value: Int

        var end: Int { start + position + key + value }

        func isBefore(_ other: Item, _ memory: Bytes) -> Bool {
            head == other.head ? position(memory).compare(other.position(memory)) < 0 : head < other.head
        }

        func position(_ memory: Bytes) -> Bytes { part(memory, 0, position) }
        func key(_ memory: Bytes) -> Bytes { part(memory, position, key) }
        func value(_ memory: Bytes) -> Bytes { part(memory, position + key, value) }

        private func part(_ memory: Bytes, _ offset: Int, _ length: Int) -> Bytes {
            Bytes(rebasing: memory[start + offset..<start + offset + length])
        }
    }

    private var order: SortOrder
    private let limit: Int
    /// Rows up to and including this position are not wanted.
    private let after: [UInt8]?
    private var items: [Item] = []
    private var memory = ByteWriter(capacity: 512)
    private var position = ByteWriter(capacity: 256)
    /// The position of the last row kept, once there are as many as are wanted.
    private(set) var bound: [UInt8]?
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
        if let bound, isAfter(bound) { return false }
        row.sight.withID { position.append($0) }
        if let bound, isAfter(bound) { return false }
        if let after, !isAfter(after) { return true }
        try add(row.key, row.value)
        return true
    }

    private func isAfter(_ other: [UInt8]) -> Bool {
        position.withView { mine in other.withBytes { mine.compare($0) > 0 } }
    }

    private mutating func add(_ key: Bytes, _ view: ValueView) throws(SyncError) {
        let start = memory.count
        let (head, length) = position.withView { ($0.head, $0.count) }
        position.withView { memory.append($0) }
        memory.append(key)
        let valueStart = memory.count
        try view.append(to: &memory)
        items.append(
            Item(head: head, start: start, position: length, key: key.count, value: memory.count - valueStart))
        // A place for each row wanted, and as many again, so that sorting is rare.
        if items.count == limit || items.count >= limit.addingOrMax(max(limit, 32)) { cut() }
    }

    /// Sorts the rows and drops those that are not wanted.
    private mutating func cut() {
        sort()
        guard items.count >= limit else { return }
        items.removeSubrange(limit...)
        guard let last = items.last else { return }
        let position = memory.withView { [UInt8](last.position($0)) }
        bound = position
        edge = order.edge(position)
        edges += 1
        if items.reduce(0, { $0 + $1.end - $1.start }) < memory.count / 2 { compact() }
    }

    private mutating func sort() {
        memory.withView { memory in items.sort { $0.isBefore($1, memory) } }
    }

    /// Moves the rows that are kept to memory of their own.
    private mutating func compact() {
        var kept = ByteWriter(capacity: memory.count)
        memory.withView { old in
            for index in items.indices {
                let item = items[index]
                items[index] = Item(
                    head: item.head, start: kept.count, position: item.position, key: item.key, value: item.value)
                kept.append(Bytes(rebasing: old[item.start..<item.end]))
            }
        }
        memory = kept
    }

    /// How many rows are taken before there are as many as are wanted.
    var missing: Int { max(0, limit - items.count) }

    /// The number of rows that are wanted and there.
    var count: Int { min(items.count, limit) }

    /// Calls `body` with what the rows were read from, in order, without the first `skip`.
    mutating func forEach(
        skipping skip: Int, _ body: (_ key: Bytes, _ value: Bytes) throws(SyncError) -> Void
    ) throws(SyncError) {
        sort()
        let wanted = items.prefix(limit).dropFirst(skip)
        try memory.withView { memory throws(SyncError) in
            for item in wanted { try body(item.key(memory), item.value(memory)) }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The first eight bytes as a number that sorts as they do.
    var head: UInt64 {
        if count >= 8 { return UInt64(bigEndian: loadUnaligned(as: UInt64.self)) }
        return (0..<8).reduce(0) { word, place in word << 8 | (place < count ? UInt64(self[place]) : 0) }
    }
}

extension Int {
    /// The sum, or the largest number if it is too large.
    func addingOrMax(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
