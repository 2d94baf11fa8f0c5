// Keys of rows that were found in any order. Sorted, the rows of one block are read one after another.

import SynclineGround

package struct RowKeys {
    private struct Item {
        /// The first bytes of the id, which decide most comparisons.
        let head: UInt64
        let start: Int
        let length: Int

        func key(_ memory: Bytes) -> Bytes { Bytes(rebasing: memory[start..<start + length]) }
    }

    private let prefix: [UInt8]
    /// Few enough that what is fetched for the last of them is still in the processor's cache when it is their turn.
    static let few = 16
    private var items: [Item] = []
    private var memory = ByteWriter(capacity: 1024)

    /// - Parameter prefix: What all the keys begin with.
    init(prefix: [UInt8]) {
        self.prefix = prefix
    }

    /// Adds the key of the row with an id, in the form that keys have.
    mutating func append(id: Bytes) {
        items.append(Item(head: id.head, start: memory.count, length: prefix.count + id.count))
        memory.append(prefix)
        memory.append(id)
    }

    /// No keys of rows of a table.
    package init(table: String) {
        self.init(prefix: RowKey.prefix(table))
    }

    /// Adds a key.
    package mutating func append(key: [UInt8]) {
        key.withBytes { append(id: Bytes(rebasing: $0[prefix.count...])) }
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

    /// A key, valid while the list is kept as it is.
    subscript(_ place: Int) -> Bytes { items[place].key(memory.inPlace) }

    /// Calls `body` with a few keys after another, in order.
    func forEachFew(_ body: ([Bytes]) throws(SyncError) -> Void) throws(SyncError) {
        try memory.withView { memory throws(SyncError) in
            var few: [Bytes] = []
            few.reserveCapacity(min(items.count, RowKeys.few))
            for item in items {
                few.append(item.key(memory))
                if few.count == RowKeys.few {
                    try body(few)
                    few.removeAll(keepingCapacity: true)
                }
            }
            if !few.isEmpty { try body(few) }
        }
    }
}
