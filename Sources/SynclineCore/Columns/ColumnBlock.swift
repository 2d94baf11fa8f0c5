// A block of a run in columns: rows of one table and one shape, sorted by their ids. Every value is found on its own, by
// its column and the number of its row, and every entry is given back byte by byte. docs/STATE.md describes the bytes.

import SynclineGround

/// How the values of a column are stored. Nulls have a bit each in a section of their own, and any value in the column.
enum ColumnEncoding: UInt8 {
    /// One encoded value, which all rows have.
    case constant = 1
    /// A bit for each row: 1 is true.
    case flags = 2
    /// The least number, and what each row has above it. See `PackedNumbers`.
    case integers = 3
    /// The same for instants.
    case instants = 4
    /// Texts that have no shorter form. See `TextSection`.
    case texts = 5
    /// The same by the symbols of the run.
    case symbols = 6
    /// Few different encoded values; each row has the number of its own. See `PackedNumbers`.
    case dictionary = 7
    /// Encoded values of one tag and one length.
    case fixed = 8
    /// Encoded values, as texts.
    case any = 9
}

/// A block in columns, read in place. Opening it checks where everything is, so that a row can be read without doubt.
final class ColumnBlock: @unchecked Sendable {
    // Unchecked, because memory is a pointer to the compiler; it is written before and never again.
    /// Where a column is. Small, so that those of a row take few lines of memory.
    struct Column {
        let encoding: ColumnEncoding
        private let shortWidth: UInt8
        private let shortCount: UInt16
        private let shortStart: UInt16
        private let shortNulls: UInt16
        private let longMost: UInt32
        private let shortLength: UInt16

        /// - Parameter length: How many bytes the texts of all rows take.
        init(_ encoding: ColumnEncoding, width: Int, count: Int, start: Int, nulls: Int, most: Int, length: Int) {
            self.encoding = encoding
            (shortWidth, shortCount, shortStart) = (UInt8(width), UInt16(count), UInt16(start))
            (shortNulls, longMost, shortLength) = (UInt16(nulls), UInt32(most), UInt16(length))
        }

        var width: Int { Int(shortWidth) }
        var count: Int { Int(shortCount) }
        /// Where its section begins.
        var start: Int { Int(shortStart) }
        /// Where the bits of its nulls are.
        var nulls: Int? { shortNulls == 0 ? nil : Int(shortNulls) }
        /// How many bytes an encoded value takes at most.
        var most: Int { Int(longMost) }
    }

    let bytes: Bytes
    let rows: Int
    /// The columns of the rows, then the numbers that follow them. In memory of their own, so that reading one retains
    /// nothing.
    let columns: UnsafeMutableBufferPointer<Column>
    let valueCount: Int
    /// What all keys begin with.
    let prefix: Bytes
    /// What all values begin with.
    let head: Bytes
    /// The number of the shape of the rows; nil if the head has none.
    let shape: Int?
    /// How many bytes a value takes at most.
    let most: Int
    /// How many other entries there are, and where.
    let others: Int
    private let otherStart: Int
    private let idLength: Int
    private let idStart: Int
    /// Whether a search may guess from the first and the last id, of which these are the first eight bytes.
    private let isSpread: Bool
    private let first: UInt64
    private let last: UInt64
    /// The symbols of the run. They are set before the block is shared.
    var symbols: SymbolTable? { didSet { decoder = symbols?.decoder } }
    private(set) var decoder: SymbolDecoder?

    static let columnSize = 8
    static let headerSize = 16
    /// A load of sixteen bytes may begin at the last byte of a section.
    static let padding = 16

    init(_ bytes: Bytes) throws(MalformedBytes) {
        guard bytes.count >= ColumnBlock.headerSize + ColumnBlock.padding, bytes.count <= 1 << 16, bytes[0] == 0,
            bytes[7] == 0
        else { throw MalformedBytes() }
        self.bytes = bytes
        idLength = Int(bytes[1])
        rows = bytes.small(at: 2)
        valueCount = bytes.small(at: 4)
        (others, otherStart) = (bytes.small(at: 12), bytes.small(at: 14))
        let numbers = Int(bytes[6])
        let (prefixLength, headLength) = (bytes.small(at: 8), bytes.small(at: 10))
        let prefixStart = ColumnBlock.headerSize + (valueCount + numbers) * ColumnBlock.columnSize
        idStart = prefixStart + prefixLength + headLength
        let end = bytes.count - ColumnBlock.padding
        guard rows > 0, idStart <= end, others == 0 || otherStart + 4 * others + 2 <= end else {
            throw MalformedBytes()
        }
        prefix = bytes.slice(prefixStart, prefixLength)
        head = bytes.slice(prefixStart + prefixLength, headLength)
        shape = ColumnSplit.shape(head)
        if idLength > 0 {
            guard idStart + rows * idLength <= end else { throw MalformedBytes() }
        } else {
            _ = try TextSection.check(bytes, idStart, rows, isLong: true, end)
        }
        isSpread = idLength >= 8 && rows > 8
        first = isSpread ? bytes.slice(idStart, idLength).leading : 0
        last = isSpread ? bytes.slice(idStart + (rows - 1) * idLength, idLength).leading : 0
        columns = .allocate(capacity: valueCount + numbers)
        // Only an object that is complete frees its memory if it is refused.
        do throws(MalformedBytes) {
            most = try ColumnBlock.readColumns(bytes, rows, end, valueCount, to: columns) + headLength + 32
        } catch {
            columns.deallocate()
            throw error
        }
        try checkOthers(end)
    }

    deinit { columns.deallocate() }

    /// Reads where the columns and the numbers after them are. Returns how many bytes their values take at most.
    private static func readColumns(
        _ bytes: Bytes, _ rows: Int, _ end: Int, _ valueCount: Int, to columns: UnsafeMutableBufferPointer<Column>
    ) throws(MalformedBytes) -> Int {
        var most = 0
        for place in columns.indices {
            let column = try column(bytes, place, rows, end)
            if place >= valueCount, column.encoding != .integers || column.nulls != nil { throw MalformedBytes() }
            columns.initializeElement(at: place, to: column)
            most += column.most
        }
        return most
    }

    private func checkOthers(_ end: Int) throws(MalformedBytes) {
        guard others > 0 else { return }
        let start = otherStart + 4 * others + 2
        var (last, lastRank) = (0, 0)
        for place in 0...others {
            let next = bytes.small(at: otherStart + 2 * (others + place))
            guard next >= last, place > 0 || next == 0 else { throw MalformedBytes() }
            last = next
            guard place < others else { break }
            guard rank(of: place) >= lastRank, rank(of: place) <= rows else { throw MalformedBytes() }
            lastRank = rank(of: place)
        }
        guard start + last <= end else { throw MalformedBytes() }
        for place in 0..<others { _ = try otherEntry(place) }
    }

    private static func column(
        _ bytes: Bytes, _ place: Int, _ rows: Int, _ end: Int
    ) throws(MalformedBytes) -> Column {
        let at = headerSize + place * columnSize
        guard let encoding = ColumnEncoding(rawValue: bytes[at]) else { throw MalformedBytes() }
        let (width, count, start, nulls) = (
            Int(bytes[at + 1]), bytes.small(at: at + 2), bytes.small(at: at + 4), bytes.small(at: at + 6)
        )
        guard start >= headerSize, nulls == 0 || nulls >= headerSize && nulls + (rows + 7) / 8 <= end else {
            throw MalformedBytes()
        }
        let packed = PackedNumbers.size(rows, width)
        var total = 0
        // What is before the value, and a copy of sixteen bytes where fewer are wanted.
        var most = 32 + count
        switch encoding {
        case .constant: guard count > 0, start + count <= end else { throw MalformedBytes() }
        case .flags: guard start + (rows + 7) / 8 <= end else { throw MalformedBytes() }
        case .integers, .instants:
            guard width <= 57 || width == 64, start + 8 + packed <= end else { throw MalformedBytes() }
        case .texts, .symbols, .any:
            let length: Int
            (length, total) = try TextSection.check(bytes, start, rows, isLong: width == 2, end)
            // A symbol is written as eight bytes.
            most = 32 + (encoding == .symbols ? length * 8 : length)
        case .dictionary:
            let list = start + 2 * (count + 1)
            guard count > 0, width <= 16, list <= end else { throw MalformedBytes() }
            var last = 0
            for number in 0...count {
                let next = bytes.small(at: start + 2 * number)
                guard next >= last, number > 0 || next == 0 else { throw MalformedBytes() }
                last = next
            }
            guard list + last + packed <= end else { throw MalformedBytes() }
            most = 32 + last
        case .fixed: guard count > 0, start + 1 + rows * count <= end else { throw MalformedBytes() }
        }
        return Column(
            encoding, width: width, count: count, start: start, nulls: nulls, most: most, length: total)
    }

    // MARK: Other entries

    /// How many rows come before one of the others.
    @inline(__always)
    func rank(of other: Int) -> Int { bytes.small(at: otherStart + 2 * other) }

    /// One of the others. Its value is nil if the key was removed.
    func otherEntry(_ other: Int) throws(MalformedBytes) -> (id: Bytes, value: Bytes?) {
        let (offsets, start) = (otherStart + 2 * others, otherStart + 4 * others + 2)
        let (first, last) = (bytes.small(at: offsets + 2 * other), bytes.small(at: offsets + 2 * other + 2))
        var reader = ByteReader(bytes.slice(start + first, last - first))
        let (idLength, valueLength) = (try reader.count(), try reader.varint())
        let id = try reader.take(idLength)
        return (id, valueLength == 0 ? nil : try reader.take(valueLength - 1))
    }

    /// Returns the first of the others whose key is not before another, and whether it has that key.
    func otherPlace(of key: Bytes) -> (place: Int, isFound: Bool) {
        guard others > 0 else { return (0, false) }
        let shared = key.sharedPrefix(with: prefix)
        if shared < prefix.count {
            return shared == key.count || key[shared] < prefix[shared] ? (0, false) : (others, false)
        }
        let id = Bytes(rebasing: key[prefix.count...])
        var (low, high) = (0, others)
        while low < high {
            let middle = (low + high) / 2
            // They were all read when the block was opened.
            guard let entry = try? otherEntry(middle) else { return (others, false) }
            let order = entry.id.compare(id)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    /// Looks up a key among the others. Returns nil if it is not there, and a value of nil if the key was removed.
    func findOther(_ key: Bytes) -> Bytes?? {
        let (other, isFound) = otherPlace(of: key)
        // They were all read when the block was opened.
        guard isFound, let entry = try? otherEntry(other) else { return nil }
        return .some(entry.value)
    }

    // MARK: Keys

    /// The part of a row's key after the prefix.
    @inline(__always)
    func id(_ row: Int) -> Bytes {
        if idLength > 0 {
            return Bytes(start: bytes.baseAddress.map { $0 + idStart + row * idLength }, count: idLength)
        }
        return TextSection.text(bytes, idStart, row, rows, isLong: true)
    }

    /// The row with a key.
    func row(of key: Bytes) -> Int? {
        let (row, isFound) = place(of: key)
        return isFound ? row : nil
    }

    /// Returns the first row whose key is not before another, and whether it has that key.
    func place(of key: Bytes) -> (row: Int, isFound: Bool) {
        let shared = key.sharedPrefix(with: prefix)
        if shared < prefix.count {
            return shared == key.count || key[shared] < prefix[shared] ? (0, false) : (rows, false)
        }
        let id = Bytes(rebasing: key[prefix.count...])
        var (low, high) = bracket(id)
        while low < high {
            let middle = (low + high) / 2
            let order = self.id(middle).compare(id)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    /// The row of an id between the first and the last one, if ids are spread evenly.
    @inline(__always)
    private func guess(_ id: UInt64) -> Int { Int(Double(id - first) / Double(last - first) * Double(rows - 1)) }

    /// Fetches what a search for a key will read.
    func prefetch(_ key: Bytes) {
        guard isSpread, key.count >= prefix.count + 8, let memory = bytes.baseAddress else { return }
        let wanted = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: prefix.count, as: UInt64.self))
        guard wanted >= first, wanted <= last, last > first else { return }
        let row = guess(wanted)
        (memory + idStart + row * idLength).prefetch(lines: 2)
    }

    /// Rows that an id must be among, found by one guess if ids are spread evenly.
    private func bracket(_ id: Bytes) -> (Int, Int) {
        guard isSpread, id.count >= 8 else { return (0, rows) }
        let wanted = id.leading
        if wanted < first { return (0, 1) }
        if wanted > last { return (rows, rows) }
        guard last > first else { return (0, rows) }
        let guess = guess(wanted)
        let found = self.id(guess).leading
        if found == wanted {
            // Several ids may begin alike, and be on both sides of the guess.
            return self.id(guess).hasSameBytes(as: id) ? (guess, guess + 1) : (0, rows)
        }
        // Steps grow, so that ids in clusters cost no more than a binary search.
        var (place, step) = (guess, 2)
        if found < wanted {
            var low = guess + 1
            while place + step < rows {
                place += step
                let other = self.id(place).leading
                if other > wanted { return (low, place) }
                if other < wanted { low = place + 1 }
                step *= 2
            }
            return (low, rows)
        }
        var high = guess
        while place >= step {
            place -= step
            let other = self.id(place).leading
            if other < wanted { return (place + 1, high) }
            if other > wanted { high = place }
            step *= 2
        }
        return (0, high)
    }
}

extension Bytes {
    /// A number of two bytes. Its place was checked.
    @inline(__always)
    func small(at offset: Int) -> Int {
        Int(UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    /// The first eight bytes as a number that sorts like them.
    @inline(__always)
    var leading: UInt64 { UInt64(bigEndian: loadUnaligned(as: UInt64.self)) }
}
