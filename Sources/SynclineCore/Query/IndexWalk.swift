// The keys of a table's rows in the order of one column, read from an index some at a time: for a caller that stops when
// it has enough rows.

import SynclineGround

package struct IndexWalk {
    private let reader: StateReader
    let index: TableIndex
    /// What the keys of the index's entries, and of the table's rows, begin with.
    let prefix: [UInt8]
    private let rowPrefix: [UInt8]
    private let isBackward: Bool
    /// What is left: from a key to the first key after it.
    private var low: [UInt8]
    private var high: [UInt8]
    /// How many entries are read next: more each time.
    private var size = 64

    /// Walks an index that is sorted by a column, from its first or its last entry on; nil if there is none.
    package init?(_ reader: StateReader, table: String, column: String, isBackward: Bool) throws(StateError) {
        let found = try reader.indexes(of: table).first { index in
            // Indexes of the older form lack some rows.
            index.number != nil && index.columns[0].hasSameBytes(as: column)
        }
        guard let found else { return nil }
        self.reader = reader
        self.isBackward = isBackward
        index = found
        prefix = found.prefix(table)
        rowPrefix = RowKey.prefix(table)
        low = prefix
        high = prefix + [IndexInterval.highest]
    }

    /// Whether the column has nothing but null and numbers, or null and dates.
    package var hasOneKind: Bool {
        get throws(StateError) {
            let numbers = try has(SortTag.number..<SortTag.date)
            let dates = try has(SortTag.date..<SortTag.string)
            let booleans = try has(SortTag.bool..<SortTag.number)
            let others = try has(SortTag.string..<IndexInterval.highest)
            return !booleans && !others && !(numbers && dates)
        }
    }

    /// Whether the column has nothing but null and strings.
    package var hasStringsOnly: Bool {
        get throws(StateError) {
            let (before, after) = (SortTag.bool..<SortTag.string, SortTag.bytes..<IndexInterval.highest)
            if try has(before) { return false }
            return try !has(after)
        }
    }

    private func has(_ kinds: Range<UInt8>) throws(StateError) -> Bool {
        var isFound = false
        try reader.snapshot.forEach(from: prefix + [kinds.lowerBound]) { [prefix] key, _ in
            isFound = (prefix + [kinds.upperBound]).withBytes { key.compare($0) < 0 }
            return false
        }
        return isFound
    }

    /// Leaves only values of a kind from one value to another. Before the first step only.
    package mutating func limit(from lower: Value?, through upper: Value?) {
        // Null is in no range.
        low = prefix + (lower.flatMap { index.place(of: $0)?.bytes } ?? [SortTag.null + 1])
        if let place = upper.flatMap({ index.place(of: $0)?.bytes }) { high = prefix + place + [IndexInterval.highest] }
    }

    /// Returns the keys of the next rows; none at the end.
    package mutating func next() throws(StateError) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        var last: [UInt8] = []
        try forEachEntry { key throws(StateError) in
            keys.append(rowPrefix + [UInt8](try index.rowID(in: key, from: prefix.count)))
            if keys.count == size { last = [UInt8](key) }
            return keys.count < size
        }
        if keys.count < size {
            high = low
        } else if isBackward {
            high = last
        } else {
            low = last + [0]
        }
        size = min(size * 4, 4096)
        return keys
    }

    private func forEachEntry(_ body: (Bytes) throws(StateError) -> Bool) throws(StateError) {
        if isBackward {
            try reader.snapshot.forEachBackward(from: low, before: high) { key, _ throws(StateError) in try body(key) }
        } else {
            try reader.snapshot.forEach(from: low) { key, _ throws(StateError) in
                guard high.withBytes({ key.compare($0) < 0 }) else { return false }
                return try body(key)
            }
        }
    }
}
