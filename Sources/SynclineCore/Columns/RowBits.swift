// A bit for each row of a block in columns: the rows that are wanted so far.

struct RowBits: ~Copyable {
    private var words = UnsafeMutablePointer<UInt64>.allocate(capacity: 16)
    private var capacity = 16
    private(set) var rows = 0..<0

    deinit { words.deallocate() }

    /// Begins with all of some rows.
    mutating func begin(_ rows: Range<Int>) {
        self.rows = rows
        if rows.upperBound > capacity * 64 {
            words.deallocate()
            capacity = (rows.upperBound + 63) / 64
            words = .allocate(capacity: capacity)
        }
        let (first, last) = (rows.lowerBound >> 6, (rows.upperBound + 63) >> 6)
        for word in first..<last { words[word] = .max }
        words[first] &= .max << UInt64(rows.lowerBound & 63)
        if rows.upperBound & 63 != 0 { words[last - 1] &= ~(.max << UInt64(rows.upperBound & 63)) }
    }

    /// Keeps the rows for which `isWanted` is true.
    @inline(__always)
    func keep(_ isWanted: (Int) -> Bool) {
        var row = rows.lowerBound
        while row < rows.upperBound {
            let word = row >> 6
            let end = min(rows.upperBound, (word + 1) << 6)
            if words[word] == 0 {
                row = end
                continue
            }
            var kept: UInt64 = 0
            while row < end {
                kept |= (isWanted(row) ? 1 : 0) << UInt64(row & 63)
                row += 1
            }
            words[word] &= kept
        }
    }

    /// Calls `body` with each row that is left.
    @inline(__always)
    func forEach<Failure: Error>(_ body: (Int) throws(Failure) -> Void) throws(Failure) {
        var word = rows.lowerBound >> 6
        while word << 6 < rows.upperBound {
            var bits = words[word]
            while bits != 0 {
                try body(word << 6 + bits.trailingZeroBitCount)
                bits &= bits &- 1
            }
            word += 1
        }
    }

    /// Begins with the same rows.
    mutating func begin(_ other: borrowing RowBits) {
        begin(other.rows)
        keepWords { other.words[$0] }
    }

    /// Keeps those of the 64 rows of each word that `mask` says.
    @inline(__always)
    func keepWords(_ mask: (Int) -> UInt64) {
        var word = rows.lowerBound >> 6
        while word << 6 < rows.upperBound {
            if words[word] != 0 { words[word] &= mask(word) }
            word += 1
        }
    }

    /// Calls `body` with the rows that are left of each word with some.
    @inline(__always)
    func forEachWord(_ body: (Int, UInt64) -> Void) {
        var word = rows.lowerBound >> 6
        while word << 6 < rows.upperBound {
            if words[word] != 0 { body(word, words[word]) }
            word += 1
        }
    }

    /// Removes the rows whose bit is set, or is not set, among bits in memory that can be read eight bytes at a time.
    @inline(__always)
    func remove(_ bits: UnsafeRawPointer, where isSet: Bool) {
        var word = rows.lowerBound >> 6
        while word << 6 < rows.upperBound {
            let other = UInt64(littleEndian: bits.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self))
            words[word] &= isSet ? ~other : other
            word += 1
        }
    }

    func removeAll() {
        var word = rows.lowerBound >> 6
        while word << 6 < rows.upperBound {
            words[word] = 0
            word += 1
        }
    }

    /// Adds a row that was removed.
    @inline(__always)
    func add(_ row: Int) { words[row >> 6] |= 1 << UInt64(row & 63) }

    /// How many rows are left.
    var count: Int {
        var (word, count) = (rows.lowerBound >> 6, 0)
        while word << 6 < rows.upperBound {
            count += words[word].nonzeroBitCount
            word += 1
        }
        return count
    }

    /// Returns the first row that is left from one on; nil if there is none.
    @inline(__always)
    func next(from row: Int) -> Int? {
        guard row < rows.upperBound else { return nil }
        var word = row >> 6
        var bits = words[word] & .max << UInt64(row & 63)
        while bits == 0 {
            word += 1
            guard word << 6 < rows.upperBound else { return nil }
            bits = words[word]
        }
        return word << 6 + bits.trailingZeroBitCount
    }
}

/// Finds the wanted rows of blocks in columns, many at a time.
protocol ColumnFilter: AnyObject {
    /// Rows with greater keys may have come before those that come next.
    func beginLayer()
    /// Removes the rows of a block that are not wanted. Returns whether all that are left are wanted.
    func removeUnwanted(from bits: borrowing RowBits, of block: ColumnBlock, _ row: ColumnRow) -> Bool
    /// Takes all wanted rows of a block at once. Returns false if each is to be shown.
    func take(_ bits: borrowing RowBits, of block: ColumnBlock, _ row: ColumnRow) throws(SyncError) -> Bool
}
