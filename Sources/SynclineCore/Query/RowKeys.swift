// Keys of rows that were found in any order. Sorted, the rows of one block are read one after another.

import SynclineGround

struct RowKeys {
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

    /// Adds a key.
    mutating func append(key: [UInt8]) {
        key.withBytes { append(id: Bytes(rebasing: $0[prefix.count...])) }
    }

    mutating func sort() {
        memory.withView { memory in
            items.sort { one, other in
                one.head == other.head ? one.key(memory).compare(other.key(memory)) < 0 : one.head < other.head
            }
        }
    }

    /// Calls `body` with a few keys after another, in order. A key that follows itself is skipped.
    func forEachFew(_ body: ([Bytes]) throws(SyncError) -> Void) throws(SyncError) {
        try memory.withView { memory throws(SyncError) in
            var few: [Bytes] = []
            few.reserveCapacity(min(items.count, RowKeys.few))
            var last: Bytes?
            for item in items {
                let key = item.key(memory)
                if let last, last.hasSameBytes(as: key) { continue }
                last = key
                few.append(key)
                if few.count == RowKeys.few {
                    try body(few)
                    few.removeAll(keepingCapacity: true)
                }
            }
            if !few.isEmpty { try body(few) }
        }
    }

    /// Copies of the keys.
    var all: [[UInt8]] { memory.withView { memory in items.map { [UInt8]($0.key(memory)) } } }
}
