// Keys of rows, whose rows are looked up a few at a time. Sorted, the rows of one block are read one after another; in the
// order of an index, each key may have the sort keys of its row.

import SynclineGround

package struct RowKeys {
    /// Where the parts of a key are in the memory: the sort keys of its row, then the key.
    private struct Item {
        /// The first bytes of the id, which decide most comparisons.
        let head: UInt64
        let start: Int
        let keyStart: Int
        let end: Int
        /// Whether the sort keys of the row are known.
        let isPlaced: Bool

        func key(_ memory: Bytes) -> Bytes { Bytes(rebasing: memory[keyStart..<end]) }

        func sortKeys(_ memory: Bytes) -> Bytes? {
            isPlaced ? Bytes(rebasing: memory[start..<keyStart]) : nil
        }
    }

    private let prefix: [UInt8]
    /// Few enough that what is fetched for the last of them is still in the processor's cache when it is their turn.
    static let few = 16
    private var items: [Item] = []
    private var memory = ByteWriter(capacity: 1024)

    /// - Parameter prefix: The beginning of all the keys.
    init(prefix: [UInt8]) {
        self.prefix = prefix
    }

    /// No keys of rows of a table.
    package init(table: String) {
        self.init(prefix: RowKey.prefix(table))
    }

    /// Adds the key of the row with an id, in the form that keys have.
    /// - Parameter sortKeys: The sort keys of the row, if they are known.
    @inline(__always)
    package mutating func append(id: Bytes, sortKeys: Bytes? = nil) {
        let start = memory.count
        if let sortKeys { memory.append(sortKeys) }
        let keyStart = memory.count
        memory.append(prefix)
        memory.append(id)
        items.append(
            Item(head: id.head(), start: start, keyStart: keyStart, end: memory.count, isPlaced: sortKeys != nil))
    }

    /// Adds a key.
    package mutating func append(key: [UInt8]) {
        key.withBytes { append(id: Bytes(rebasing: $0[prefix.count...])) }
    }

    /// Reverses those from one on.
    mutating func reverse(from start: Int) { items[start...].reverse() }

    mutating func cut(to count: Int) { if count < items.count { items.removeSubrange(count...) } }

    mutating func removeAll() {
        items.removeAll(keepingCapacity: true)
        memory.removeAll()
    }

    /// Sorts the keys, and keeps each only once.
    package mutating func sort() {
        let all = memory.inPlace
        func isSame(_ one: Item, _ other: Item) -> Bool {
            one.head == other.head && one.key(all).hasSameBytes(as: other.key(all))
        }
        items.sort { one, other in
            one.head == other.head ? one.key(all).compare(other.key(all)) < 0 : one.head < other.head
        }
        guard zip(items, items.dropFirst()).contains(where: isSame) else { return }
        var kept: [Item] = []
        for item in items where kept.last.map({ !isSame($0, item) }) ?? true { kept.append(item) }
        items = kept
    }

    var count: Int { items.count }
    var isFew: Bool { items.count < RowKeys.few }

    /// A key, valid while the list is kept as it is.
    subscript(_ place: Int) -> Bytes { items[place].key(memory.inPlace) }

    /// Calls `body` with each row that there is, in order: its key and its value, and its sort keys if they are known.
    /// - Parameter areKnown: Whether the keys are known to have values, as those of an index are.
    @inline(__always)
    func forEachValue(
        in snapshot: StateSnapshot, areKnown: Bool,
        _ body: (_ key: Bytes, _ value: ValueView, _ sortKeys: Bytes?) throws(SyncError) -> Void
    ) throws(SyncError) {
        try memory.withView { memory throws(SyncError) in
            let columns = ColumnRow()
            var keys: [Bytes] = []
            keys.reserveCapacity(min(items.count, RowKeys.few))
            for start in stride(from: 0, to: items.count, by: RowKeys.few) {
                keys.removeAll(keepingCapacity: true)
                for item in items[start..<min(start + RowKeys.few, items.count)] { keys.append(item.key(memory)) }
                try snapshot.forEachValue(of: keys, areKnown: areKnown) { place, stored throws(SyncError) in
                    defer { extendLifetime(stored) }
                    try body(keys[place], stored.view(columns), items[start + place].sortKeys(memory))
                }
            }
        }
    }
}
