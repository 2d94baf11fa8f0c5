// Makes a block in columns of rows that come in the order of their keys.

import SynclineGround

/// The rows that the next blocks consist of. They have one table, one head, one number of columns and one of numbers.
struct ColumnBlockWriter: ~Copyable {
    /// Where the parts of an entry are in the memory.
    private struct Row {
        let key: Int
        let value: Int
        let end: Int
    }

    private var memory = ByteWriter(capacity: 1 << 16)
    private var rows: [Row] = []
    /// Where the values of the columns of each row begin, and at last where they end, row by row.
    private var places: [UInt32] = []
    /// The numbers after them, row by row.
    private var numbers: [UInt64] = []
    /// The other entries, each with the number of rows before it.
    private var others: [(rank: Int, key: [UInt8], value: [UInt8]?)] = []
    private var headLength = 0
    private var columnCount = 0
    private var numberCount = 0

    var count: Int { rows.count }
    /// The size of the rows as they are.
    var size: Int { memory.count }

    /// The key of the first row. No other entry comes before it.
    var firstKey: [UInt8] { memory.withView { all in rows.first.map { [UInt8](all[$0.key..<$0.value]) } ?? [] } }

    /// Calls `body` with each entry.
    func forEach(_ body: (Bytes, Bytes?) throws(SyncError) -> Void) throws(SyncError) {
        try memory.withView { all throws(SyncError) in
            var next = others[...]
            for (place, row) in rows.enumerated() {
                while let other = next.first, other.rank <= place {
                    try ColumnBlockWriter.show(other, body)
                    next.removeFirst()
                }
                try body(Bytes(rebasing: all[row.key..<row.value]), Bytes(rebasing: all[row.value..<row.end]))
            }
            for other in next { try ColumnBlockWriter.show(other, body) }
        }
    }

    private static func show(
        _ other: (rank: Int, key: [UInt8], value: [UInt8]?), _ body: (Bytes, Bytes?) throws(SyncError) -> Void
    ) throws(SyncError) {
        try other.key.withBytes { key throws(SyncError) in
            guard let value = other.value else { return try body(key, nil) }
            try value.withBytes { value throws(SyncError) in try body(key, value) }
        }
    }

    /// Adds an entry that does not fit the rows, if there are few such entries.
    mutating func append(other key: Bytes, _ value: Bytes?) -> Bool {
        guard let first = rows.first, isAfterAll(key), others.count < 8 + rows.count / 8, (value?.count ?? 0) < 1 << 10,
            memory.withView({ ColumnSplit.haveOneTable(key, Bytes(rebasing: $0[first.key..<first.value])) })
        else { return false }
        others.append((rows.count, [UInt8](key), value.map { [UInt8]($0) }))
        return true
    }

    /// Adds a row, unless it does not fit the others.
    /// - Parameter split: Where the length of the columns' values is in the value.
    mutating func append(_ key: Bytes, _ value: Bytes, lengthAt split: Int) -> Bool {
        if rows.isEmpty {
            headLength = split
        } else if !isAfterAll(key) || !fits(key, value, split) {
            return false
        }
        let (oldPlaces, oldNumbers) = (places.count, numbers.count)
        let start = memory.count + key.count
        do throws(MalformedBytes) {
            var reader = ByteReader(value, at: split)
            let length = try reader.count()
            let end = reader.offset + length
            while reader.offset < end {
                places.append(UInt32(start + reader.offset))
                try reader.skipValue()
            }
            guard reader.offset == end else { throw MalformedBytes() }
            places.append(UInt32(start + end))
            while !reader.isAtEnd { numbers.append(try reader.shortestVarint()) }
        } catch {
            dropPlaces(oldPlaces, oldNumbers)
            return false
        }
        let (columns, numbers) = (places.count - oldPlaces - 1, numbers.count - oldNumbers)
        if rows.isEmpty { (columnCount, numberCount) = (columns, numbers) }
        guard columns == columnCount, numbers == numberCount, columns > 0, columns < 1 << 10, numbers < 8 else {
            dropPlaces(oldPlaces, oldNumbers)
            return false
        }
        rows.append(Row(key: memory.count, value: start, end: start + value.count))
        memory.append(key)
        memory.append(value)
        return true
    }

    private mutating func dropPlaces(_ placeCount: Int, _ numberCount: Int) {
        places.removeSubrange(placeCount...)
        numbers.removeSubrange(numberCount...)
    }

    /// Whether a key comes after all others. Those of a damaged run may not.
    private func isAfterAll(_ key: Bytes) -> Bool {
        guard let last = rows.last else { return true }
        return memory.withView { Bytes(rebasing: $0[last.key..<last.value]).compare(key) < 0 }
            && others.last.map { other in other.key.withBytes { $0.compare(key) < 0 } } ?? true
    }

    /// Whether a row has the head and the table of the others.
    private func fits(_ key: Bytes, _ value: Bytes, _ split: Int) -> Bool {
        let first = rows[0]
        return memory.withView { all in
            split == headLength && Bytes(rebasing: value[..<split]).hasSameBytes(as: all.slice(first.value, split))
                && ColumnSplit.haveOneTable(key, Bytes(rebasing: all[first.key..<first.value]))
        }
    }

    mutating func removeAll() {
        memory.removeAll()
        rows.removeAll(keepingCapacity: true)
        others.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
    }

    /// Removes the first rows.
    mutating func removeFirst(_ count: Int) {
        if count == rows.count { return removeAll() }
        others = others[otherCount(count)...].map { ($0.rank - count, $0.key, $0.value) }
        let start = rows[count].key
        let rest = memory.withView { [UInt8]($0[start...]) }
        memory.removeAll()
        memory.append(rest)
        rows = rows[count...].map { Row(key: $0.key - start, value: $0.value - start, end: $0.end - start) }
        places = places[(count * (columnCount + 1))...].map { $0 - UInt32(start) }
        numbers.removeFirst(count * numberCount)
    }

    /// Some of the texts that the rows have.
    func texts(upTo limit: Int) -> [Bytes] {
        var (texts, size): ([Bytes], Int) = ([], 0)
        memory.withView { all in
            for place in places.indices.dropLast() where places[place] < places[place + 1] {
                let value = Bytes(rebasing: all[Int(places[place])..<Int(places[place + 1])])
                guard value[0] >= ValueTag.shortText, value.count > 4, size < limit else { continue }
                texts.append(Bytes(rebasing: value[1...]))
                size += value.count
            }
        }
        return texts
    }

    // MARK: The block

    /// How many of the other entries are before or after the first rows, and before the row that follows.
    private func otherCount(_ count: Int) -> Int { others.prefix { $0.rank <= count }.count }

    /// How many keys with a value a block of the first rows has.
    func values(inFirst count: Int) -> Int { count + others.prefix(otherCount(count)).count { $0.value != nil } }

    /// Makes a block of the first rows in `block`. Returns false if it would be too large for its offsets.
    func write(_ count: Int, _ symbols: SymbolEncoder?, to block: inout ByteWriter) -> Bool {
        block.removeAll()
        let all = memory.inPlace
        let others = otherCount(count)
        let prefix = sharedPrefix(count, others, all)
        let columns = columnCount + numberCount
        block.append(0)
        block.append(idLength(count, prefix))
        block.append(small: count)
        block.append(small: columnCount)
        block.append(UInt8(numberCount))
        block.append(0)
        block.append(small: prefix)
        block.append(small: headLength)
        block.append(zeros: 4)
        for _ in 0..<columns { block.append(fixed: 0) }
        block.append(Bytes(rebasing: all[rows[0].key..<rows[0].key + prefix]))
        block.append(all.slice(rows[0].value, headLength))
        writeIDs(count, prefix, all, &block)
        for column in 0..<columns {
            let start = block.count
            var section = ColumnSection(start: start)
            if column < columnCount {
                withUnsafeTemporaryAllocation(of: Bytes.self, capacity: count) { values in
                    for row in 0..<count {
                        let place = row * (columnCount + 1) + column
                        values.initializeElement(
                            at: row,
                            to: Bytes(rebasing: all[Int(places[place])..<Int(places[place + 1])]))
                    }
                    section.write(UnsafeBufferPointer(values), symbols, to: &block)
                }
            } else {
                withUnsafeTemporaryAllocation(of: UInt64.self, capacity: count) { values in
                    for row in 0..<count {
                        values.initializeElement(at: row, to: numbers[row * numberCount + column - columnCount])
                    }
                    section.write(numbers: UnsafeBufferPointer(values), to: &block)
                }
            }
            if block.count > 1 << 16 - 64 { return false }
            block.set(section, ofColumn: column)
        }
        if others > 0 { writeOthers(others, prefix, to: &block) }
        if block.count > 1 << 16 - 64 { return false }
        block.append(zeros: ColumnBlock.padding)
        return true
    }

    /// What the keys have in common, as far as the first and the last have, because they are sorted.
    private func sharedPrefix(_ count: Int, _ others: Int, _ all: Bytes) -> Int {
        let (first, last) = (rows[0], rows[count - 1])
        let one = Bytes(rebasing: all[first.key..<first.value])
        var shared =
            count == 1 ? max(0, one.count - 16) : one.sharedPrefix(with: all.slice(last.key, last.value - last.key))
        // One of the others may be the last entry.
        if others > 0 { self.others[others - 1].key.withBytes { shared = min(shared, one.sharedPrefix(with: $0)) } }
        return shared
    }

    private func writeOthers(_ count: Int, _ prefix: Int, to block: inout ByteWriter) {
        block.set(count, at: 12)
        block.set(block.count, at: 14)
        for other in others[..<count] { block.append(small: other.rank) }
        var entries = ByteWriter()
        block.append(small: 0)
        for other in others[..<count] {
            entries.append(varint: other.key.count - prefix)
            entries.append(varint: other.value.map { $0.count + 1 } ?? 0)
            entries.append(Array(other.key[prefix...]))
            if let value = other.value { entries.append(value) }
            block.append(small: entries.count)
        }
        block.append(entries.bytes)
    }

    private func idLength(_ count: Int, _ prefix: Int) -> UInt8 {
        let length = rows[0].value - rows[0].key
        guard length > prefix, length - prefix < 256 else { return 0 }
        return rows[..<count].allSatisfy { $0.value - $0.key == length } ? UInt8(length - prefix) : 0
    }

    private func writeIDs(_ count: Int, _ prefix: Int, _ all: Bytes, _ block: inout ByteWriter) {
        if idLength(count, prefix) > 0 {
            for row in rows[..<count] { block.append(Bytes(rebasing: all[row.key + prefix..<row.value])) }
        } else {
            withUnsafeTemporaryAllocation(of: Bytes.self, capacity: count) { ids in
                for row in 0..<count {
                    ids.initializeElement(
                        at: row, to: Bytes(rebasing: all[rows[row].key + prefix..<rows[row].value]))
                }
                TextSection.write(UnsafeBufferPointer(ids), isLong: true, to: &block)
            }
        }
    }
}

extension ByteWriter {
    mutating func append(zeros count: Int) { for _ in 0..<count { append(0) } }

    mutating func append(small number: Int) {
        append(UInt8(truncatingIfNeeded: number))
        append(UInt8(truncatingIfNeeded: number >> 8))
    }

    /// Appends a bit for each row.
    mutating func append(bits count: Int, _ isSet: (Int) -> Bool) {
        var byte: UInt8 = 0
        for row in 0..<count {
            if isSet(row) { byte |= 1 << UInt8(row & 7) }
            if row & 7 == 7 {
                append(byte)
                byte = 0
            }
        }
        if count & 7 != 0 { append(byte) }
    }

    /// Appends a number of some bits for each row. See `PackedNumbers`.
    mutating func append(packed count: Int, _ width: Int, _ number: (Int) -> UInt64) {
        if width <= PackedNumbers.mostPlanes {
            for plane in 0..<UInt64(width) { append(bits: count) { number($0) >> plane & 1 != 0 } }
            return
        }
        if width == 64 {
            for row in 0..<count { append(fixed: number(row)) }
            return
        }
        var (word, used): (UInt64, Int) = (0, 0)
        for row in 0..<count {
            word |= number(row) << UInt64(used)
            used += width
            while used >= 8 {
                append(UInt8(truncatingIfNeeded: word))
                word >>= 8
                used -= 8
            }
        }
        if used > 0 { append(UInt8(truncatingIfNeeded: word)) }
    }

    /// Writes a number of two bytes over others.
    fileprivate mutating func set(_ number: Int, at offset: Int) {
        UnsafeMutableRawBufferPointer(mutating: inPlace).storeBytes(
            of: UInt16(truncatingIfNeeded: number).littleEndian, toByteOffset: offset, as: UInt16.self)
    }

    /// Writes what the header says of a column.
    fileprivate mutating func set(_ section: ColumnSection, ofColumn column: Int) {
        let at = ColumnBlock.headerSize + column * ColumnBlock.columnSize
        set(Int(section.encoding.rawValue) | section.width << 8, at: at)
        set(section.count, at: at + 2)
        set(section.start, at: at + 4)
        set(section.nulls ?? 0, at: at + 6)
    }
}
