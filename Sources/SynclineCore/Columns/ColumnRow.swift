// A row of a block in columns, whose values are decoded when they are asked for.

import SynclineGround

/// A row, and memory for what is decoded of it. Its owner moves it from row to row. What it gives is valid until then.
package final class ColumnRow {
    // Its owner retains the block.
    @exclusivity(unchecked) private var block: Unmanaged<ColumnBlock>?
    @exclusivity(unchecked) private var row = 0
    /// Whether a filter wants the row.
    @exclusivity(unchecked) var isWanted = false
    @exclusivity(unchecked) private var memory = ByteWriter(capacity: 512)
    @exclusivity(unchecked) private var capacity = 512
    /// Memory that was full before. It stays where it is.
    @exclusivity(unchecked) private var full: [ByteWriter] = []

    package init() {}

    @inline(__always)
    func move(to block: Unmanaged<ColumnBlock>) { self.block = block }

    @inline(__always)
    func move(to block: Unmanaged<ColumnBlock>, _ row: Int) {
        self.block = block
        move(to: row)
    }

    @inline(__always)
    func move(to row: Int) {
        self.row = row
        memory.removeAll()
        if !full.isEmpty { full.removeAll() }
    }

    /// What the value begins with, before its columns.
    @inline(__always)
    var head: Bytes { block?._withUnsafeGuaranteedRef { $0.head } ?? Bytes(start: nil, count: 0) }

    /// The number of the row's shape.
    @inline(__always)
    var shape: Int? { block?._withUnsafeGuaranteedRef { $0.shape } ?? nil }

    /// The encoded value of a column; nil if there is none.
    @inline(__always)
    func value(_ place: Int) -> Bytes? {
        block?._withUnsafeGuaranteedRef { block in
            guard place < block.valueCount else { return nil }
            let column = block.columns[place]
            if let known = block.value(column, row) { return known }
            if memory.count + column.most > capacity { takeMemory(column.most) }
            let start = memory.count
            let place = memory.room(column.most)
            guard let length = block.write(column, row, to: place) else { return nil }
            memory.truncate(to: start + length)
            return Bytes(start: place, count: length)
        } ?? nil
    }

    /// The row's key.
    var key: Bytes {
        guard let block else { return Bytes(start: nil, count: 0) }
        return block._withUnsafeGuaranteedRef { block in
            takeMemory(block.prefix.count + block.id(row).count)
            let start = memory.count
            block.append(keyOf: row, to: &memory)
            return Bytes(rebasing: memory.inPlace[start...])
        }
    }

    /// The value of a column whose encoding has its kind; nil for another one.
    @inline(__always)
    func entryValue(_ place: Int) -> EntryValue? {
        block?._withUnsafeGuaranteedRef { block in
            guard place < block.valueCount else { return nil }
            let column = block.columns[place]
            if block.isNull(column, row) { return .null }
            switch column.encoding {
            case .flags: return .bool(block.packed(column.start, 1, row) != 0)
            case .integers: return .integer(block.integer(column, row))
            case .instants: return .date(Timestamp.Instant(milliseconds: block.integer(column, row)))
            case .texts: return .text(block.text(column, row))
            case .symbols:
                takeMemory(column.most)
                let start = memory.count
                let place = memory.room(column.most)
                guard let length = block.decoder?.decode(block.text(column, row), to: place) else { return nil }
                memory.truncate(to: start + length)
                return .text(Bytes(start: place, count: length))
            case .constant, .dictionary, .fixed, .any: return nil
            }
        } ?? nil
    }

    /// The first eight bytes of a string that is given by symbols, as a number that sorts like them; nil if it has none.
    @inline(__always)
    func leading(_ codes: Bytes) -> UInt64? { block?._withUnsafeGuaranteedRef { $0.decoder?.leading(codes) } ?? nil }

    /// The encoded values of all columns.
    func values() throws(MalformedBytes) -> Bytes {
        takeMemory(most)
        let start = memory.count
        let isRead = block?._withUnsafeGuaranteedRef { $0.append(valuesOf: row, to: &memory) } ?? false
        if !isRead { throw MalformedBytes() }
        return Bytes(rebasing: memory.inPlace[start...])
    }

    /// The whole value.
    func whole() throws(MalformedBytes) -> Bytes {
        takeMemory(most)
        let start = memory.count
        try append(to: &memory)
        return Bytes(rebasing: memory.inPlace[start...])
    }

    /// Appends the whole value.
    func append(to writer: inout ByteWriter) throws(MalformedBytes) {
        guard let block else { throw MalformedBytes() }
        let isRead = block._withUnsafeGuaranteedRef { $0.append(valueOf: row, to: &writer) }
        if !isRead { throw MalformedBytes() }
    }

    /// How many bytes the whole value takes at most.
    private var most: Int { block?._withUnsafeGuaranteedRef { $0.most } ?? 0 }

    /// Continues in memory with room for more bytes.
    private func takeMemory(_ needed: Int) {
        if memory.count + needed <= capacity { return }
        if memory.count > 0 { full.append(memory) }
        capacity = max(2 * capacity, needed)
        memory = ByteWriter(capacity: capacity)
    }
}

/// The value of an entry: its bytes, or a row of a block in columns. It is valid as long as the entry.
package struct ValueView {
    /// The bytes; of a row in columns only those before its columns.
    package let head: Bytes
    let row: Unmanaged<ColumnRow>?

    @inline(__always)
    package init(_ bytes: Bytes) { (head, row) = (bytes, nil) }

    @inline(__always)
    init(_ row: ColumnRow) { (head, self.row) = (row.head, .passUnretained(row)) }

    /// Whether the filter of the visit is known to want the row.
    @inline(__always)
    var isWanted: Bool { row?._withUnsafeGuaranteedRef { $0.isWanted } ?? false }

    /// All bytes; none if they can't be read.
    var plain: Bytes { row == nil ? head : (try? bytes()) ?? Bytes(start: nil, count: 0) }

    /// All bytes.
    package func bytes() throws(SyncError) -> Bytes {
        guard let row else { return head }
        do throws(MalformedBytes) {
            return try row.borrowed { row throws(MalformedBytes) in try row.whole() }
        } catch {
            throw .malformed("a run's block")
        }
    }
}
