// Entries of an index, in its order, whose rows are looked up together.

import SynclineGround

struct FewEntries {
    /// Where an entry's parts are in the memory: its sort keys, then the key of its row.
    private struct Item {
        let start: Int
        let keyStart: Int
        let end: Int
        /// Whether the sort keys of the row are known.
        let isKnown: Bool

        func sortKeys(_ memory: Bytes) -> Bytes? {
            isKnown ? Bytes(rebasing: memory[start..<keyStart]) : nil
        }

        func key(_ memory: Bytes) -> Bytes { Bytes(rebasing: memory[keyStart..<end]) }
    }

    private let rowPrefix: [UInt8]
    private var items: [Item] = []
    private var memory = ByteWriter(capacity: 1024)

    /// - Parameter rowPrefix: What the keys of the table's rows begin with.
    init(rowPrefix: [UInt8]) {
        self.rowPrefix = rowPrefix
    }

    var count: Int { items.count }
    var isFull: Bool { items.count >= RowKeys.few }

    /// - Parameters:
    ///   - sortKeys: The sort keys of the row, if the entry has all of them.
    ///   - id: The row's id, in the form that keys have.
    mutating func append(sortKeys: Bytes?, id: Bytes) {
        let start = memory.count
        if let sortKeys { memory.append(sortKeys) }
        let keyStart = memory.count
        memory.append(rowPrefix)
        memory.append(id)
        items.append(Item(start: start, keyStart: keyStart, end: memory.count, isKnown: sortKeys != nil))
    }

    mutating func removeAll() {
        items.removeAll(keepingCapacity: true)
        memory.removeAll()
    }

    /// Calls `body` with each row that there is, in order: its key and its value, and its sort keys if they are known.
    func forEachRow(
        _ snapshot: StateSnapshot, _ body: (_ key: Bytes, _ value: Bytes, _ sortKeys: Bytes?) throws(SyncError) -> Void
    ) throws(SyncError) {
        try memory.withView { memory throws(SyncError) in
            let keys = items.map { $0.key(memory) }
            try snapshot.forEachValue(of: keys, areKnown: true) { place, stored throws(SyncError) in
                try stored.withBytes { value throws(SyncError) in
                    try body(keys[place], value, items[place].sortKeys(memory))
                }
            }
        }
    }
}
