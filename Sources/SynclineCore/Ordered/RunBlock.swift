// A block of a run: entries in key order, each key without what it shares with the one before. In parts of about 512
// bytes, which begin with a whole key, so that a search reads one part and a few keys.
//
//   block := number of parts, varint · offset among the entries of each part but the first, u16 · entries
//   entry := shared varint · rest varint · 0 if the key was removed, else value length + 1, varint · rest · value
//
// A block that begins with a zero is one in columns, see `ColumnBlock`.

import SynclineGround

struct RunBlockWriter: ~Copyable {
    private var block = ByteWriter(capacity: RunBlockWriter.target + 4096)
    private var entries = ByteWriter(capacity: RunBlockWriter.target + 4096)
    private var parts: [UInt16] = []
    private var lastKey = KeyBuffer()
    private(set) var firstKey: [UInt8] = []
    private(set) var count = 0
    /// How many of the keys have a value.
    private(set) var values = 0

    /// The size of the entries at which a block is closed. With the frame around it and the smallest filler, a block of
    /// this size takes a page of 4 KiB.
    static let target = 3984
    private static let partSize = 512
    /// How many lines of memory a part takes.
    static let partLines = 8

    var isFull: Bool { entries.count >= RunBlockWriter.target }

    /// Whether another entry would make a block too large that is almost full.
    func isFull(before key: Bytes, _ value: Bytes?) -> Bool {
        let target = RunBlockWriter.target
        return entries.count >= target - target / 8 && entries.count + 6 + key.count + (value?.count ?? 0) > target
    }

    mutating func append(_ key: Bytes, _ value: Bytes?) {
        let beginsPart = entries.count >= parts.last.map { Int($0) + RunBlockWriter.partSize } ?? 0
        // The offset of a part has two bytes. A block that was not closed at its usual size has a long last part.
        if beginsPart, let offset = UInt16(exactly: entries.count) {
            parts.append(offset)
            lastKey.replace(after: 0, with: Bytes(start: nil, count: 0))
        }
        let shared = key.sharedPrefix(with: lastKey.bytes)
        let rest = Bytes(rebasing: key[shared...])
        if count == 0 { firstKey = [UInt8](key) }
        entries.append(varint: shared)
        entries.append(varint: rest.count)
        entries.append(varint: value.map { $0.count + 1 } ?? 0)
        entries.append(rest)
        if let value {
            entries.append(value)
            values += 1
        }
        lastKey.replace(after: shared, with: rest)
        count += 1
    }

    /// Calls `body` with the block.
    mutating func withBlock<Result, Failure: Error>(
        _ body: (Bytes) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        block.removeAll()
        block.append(varint: parts.count)
        for offset in parts.dropFirst() {
            block.append(UInt8(truncatingIfNeeded: offset))
            block.append(UInt8(truncatingIfNeeded: offset >> 8))
        }
        entries.withView { block.append($0) }
        return try block.withView(body)
    }

    mutating func removeAll() {
        entries.removeAll()
        parts.removeAll(keepingCapacity: true)
        lastKey.replace(after: 0, with: Bytes(start: nil, count: 0))
        firstKey = []
        (count, values) = (0, 0)
    }
}

/// A block in memory, retained by its readers.
package final class RunBlock: @unchecked Sendable {
    // Unchecked, because memory is a pointer to the compiler; it is written before and never again.
    package let bytes: Bytes
    /// The block's own memory; nil if it is another object's.
    private let memory: UnsafeMutableRawBufferPointer?
    private let owner: AnyObject?
    /// The number of its parts.
    let parts: Int
    /// Where its entries begin; nil if that can't be read.
    private let entries: Int?
    /// Its rows, if it is in columns.
    let columns: ColumnBlock?
    /// The same for those that keep the block: a search counts no references.
    let columnsInPlace: Unmanaged<ColumnBlock>?

    /// Copies the bytes.
    package convenience init(_ bytes: Bytes) {
        let memory = BlockMemory.allocate(byteCount: bytes.count)
        memory.copyMemory(from: bytes)
        self.init(Bytes(memory), owning: memory)
    }

    /// Uses memory and frees it.
    package init(_ bytes: Bytes, owning memory: UnsafeMutableRawBufferPointer) {
        (self.bytes, self.memory, owner) = (bytes, memory, nil)
        (parts, entries) = RunBlock.layout(bytes)
        columns = bytes.first == 0 ? try? ColumnBlock(bytes) : nil
        columnsInPlace = columns.map { .passUnretained($0) }
    }

    /// Uses the memory of an owner, which nothing writes to any more.
    package init(_ bytes: Bytes, ownedBy owner: AnyObject) {
        (self.bytes, memory, self.owner) = (bytes, nil, owner)
        (parts, entries) = RunBlock.layout(bytes)
        columns = bytes.first == 0 ? try? ColumnBlock(bytes) : nil
        columnsInPlace = columns.map { .passUnretained($0) }
    }

    deinit { if let memory { BlockMemory.deallocate(memory) } }

    private static func layout(_ bytes: Bytes) -> (parts: Int, entries: Int?) {
        var reader = ByteReader(bytes)
        guard let parts = try? reader.count(), parts > 0, parts - 1 <= reader.remaining / 2 else { return (1, nil) }
        return (parts, reader.offset + 2 * (parts - 1))
    }

    // MARK: Parts

    /// Returns the offset of the first entry of a part.
    private func start(ofPart part: Int) throws(MalformedBytes) -> Int {
        guard let entries else { throw MalformedBytes() }
        guard part > 0 else { return entries }
        let offset = entries + entryOffset(ofPart: part, entries)
        guard offset < bytes.count else { throw MalformedBytes() }
        return offset
    }

    /// The offset among the entries, at `entries`, of the first one of a part other than the first.
    @inline(__always)
    private func entryOffset(ofPart part: Int, _ entries: Int) -> Int {
        let place = entries - 2 * (parts - part)
        return Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self)))
    }

    /// Returns the offset at which a part ends.
    func end(ofPart part: Int) throws(MalformedBytes) -> Int {
        part + 1 < parts ? try start(ofPart: part + 1) : bytes.count
    }

    /// Fetches the first keys of all parts, which a search compares.
    func prefetchParts() {
        if let columnsInPlace { return columnsInPlace._withUnsafeGuaranteedRef { $0.prefetchColumns() } }
        guard let entries, let start = bytes.baseAddress else { return }
        for part in 1..<max(1, parts) { (start + entries + entryOffset(ofPart: part, entries)).prefetch() }
    }

    /// Returns the first part that a search for a key must read, and fetches it.
    private func startOfSearch(for key: Bytes) throws(MalformedBytes) -> Int {
        let start = try start(ofPart: try part(of: key))
        bytes.baseAddress.map { ($0 + start).prefetch(lines: RunBlockWriter.partLines) }
        return start
    }

    private func firstKey(ofPart part: Int) throws(MalformedBytes) -> Bytes {
        var reader = ByteReader(bytes, at: try start(ofPart: part))
        let entry = try Entry(&reader)
        guard entry.shared == 0 else { throw MalformedBytes() }
        return entry.rest
    }

    /// Returns the last part that does not begin after a key; the first one if there is none.
    func part(of key: Bytes) throws(MalformedBytes) -> Int {
        var (low, high) = (1, parts)
        while low < high {
            let middle = (low + high) / 2
            if try firstKey(ofPart: middle).compare(key) <= 0 { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }

    /// Looks up a key in the block. Never assembles a whole key: it is sufficient to know how much of the previous
    /// key matches.
    func find(_ key: Bytes) throws(MalformedBytes) -> MemoryTable.Finding {
        var reader = ByteReader(bytes, at: try startOfSearch(for: key))
        var matched = 0
        while !reader.isAtEnd {
            let entry = try Entry(&reader)
            // An entry that shares more than what matches is before the key, like the previous one; an entry that
            // shares less is after it, and so is the beginning of the next part.
            if entry.shared > matched { continue }
            if entry.shared < matched { return .absent }
            let rest = Bytes(rebasing: key[matched...])
            let more = entry.rest.sharedPrefix(with: rest)
            if more == entry.rest.count {
                if more == rest.count { return entry.value.map { .value($0) } ?? .removed }
            } else if more == rest.count || entry.rest[more] > rest[more] {
                return .absent
            }
            matched += more
        }
        return .absent
    }

    /// Returns the number of the entry with a key, nil if there is none: its offset; in a block in columns that of its row,
    /// and after all rows those of the other entries.
    func entry(of key: Bytes) throws(MalformedBytes) -> Int? {
        if let columns {
            if let row = columns.row(of: key) { return row }
            let (other, isFound) = columns.otherPlace(of: key)
            return isFound ? columns.rows + other : nil
        }
        let place = try Cursor(self, from: key)
        return place.isValid && place.key.hasSameBytes(as: key) ? place.start : nil
    }

    /// An encoded entry.
    private struct Entry {
        let shared: Int
        let rest: Bytes
        let value: Bytes?

        @inline(__always)
        init(_ reader: inout ByteReader) throws(MalformedBytes) {
            if let short = Entry(short: &reader) {
                self = short
            } else {
                try self.init(long: &reader)
            }
        }

        /// Reads an entry with short numbers, which most are, or nothing.
        @inline(__always)
        private init?(short reader: inout ByteReader) {
            let start = reader.offset
            guard let (shared, count, length) = reader.shortVarints() else { return nil }
            let valueStart = reader.offset + count
            let end = valueStart + max(length - 1, 0)
            guard end <= reader.bytes.count else {
                reader.offset = start
                return nil
            }
            self.shared = shared
            rest = Bytes(rebasing: reader.bytes[reader.offset..<valueStart])
            value = length == 0 ? nil : Bytes(rebasing: reader.bytes[valueStart..<end])
            reader.offset = end
        }

        private init(long reader: inout ByteReader) throws(MalformedBytes) {
            shared = Int(truncatingIfNeeded: try reader.varint())
            let (count, length) = (try reader.count(), try reader.varint())
            rest = try reader.take(count)
            value = length == 0 ? nil : try reader.take(length - 1)
        }
    }

    /// Entries, one after another, that come nearer to a key. They are compared with it without assembling their keys.
    private struct Approach {
        /// How much of the key the last entry before it matches.
        var matched: Int

        /// Returns whether the next entry comes before the key, too.
        @inline(__always)
        mutating func isBefore(_ entry: Entry, _ key: Bytes) -> Bool {
            if entry.shared > matched { return true }
            // The first entry of a part shares nothing, whatever its key is.
            matched = entry.shared
            let rest = Bytes(rebasing: key[matched...])
            let more = entry.rest.sharedPrefix(with: rest)
            guard more < rest.count, more == entry.rest.count || entry.rest[more] < rest[more] else { return false }
            matched += more
            return true
        }
    }

    /// Moves through the entries of a block. Its value is valid as long as the block; its key until it moves.
    struct Cursor: ~Copyable {
        private var block: RunBlock
        private var reader: ByteReader
        private var keyBuffer = KeyBuffer()
        private(set) var view: ValueView?
        private(set) var isValid = false
        /// The offset of the entry.
        private(set) var start = 0
        /// The position in a block in columns, once there was one.
        private var columns: ColumnCursor?
        /// The entries that a visit leaves out, by their numbers.
        var hidden: [UInt64]?

        /// Begins with the first entry that is not before a key.
        init(_ block: RunBlock, from key: Bytes) throws(MalformedBytes) {
            self.block = block
            reader = ByteReader(block.bytes)
            if let columns = block.columnsInPlace {
                let place = ColumnCursor(columns)
                self.columns = place
                place.seek(key)
                try show()
            } else {
                reader.offset = try block.startOfSearch(for: key)
                try seek(key)
            }
        }

        /// Begins with the first entry of a part.
        init(_ block: RunBlock, atPart part: Int) throws(MalformedBytes) {
            self.block = block
            reader = ByteReader(block.bytes)
            reader.offset = try block.start(ofPart: part)
            try advance()
        }

        /// Shows the current entry of a block in columns, if there is one.
        mutating func show() throws(MalformedBytes) {
            guard block.columnsInPlace != nil, let place = columns else { return }
            isValid = !place.isAtEnd
            guard isValid else { return }
            try place.show()
            keyBuffer.replace(after: 0, with: place.key)
            view = place.view
        }

        var key: Bytes { keyBuffer.bytes }

        /// Moves to the first entry that is not before a key, without assembling whole keys: see `find`.
        private mutating func seek(_ key: Bytes) throws(MalformedBytes) {
            var approach = Approach(matched: 0)
            while !reader.isAtEnd {
                start = reader.offset
                let entry = try Entry(&reader)
                guard entry.shared >= 0 else { throw MalformedBytes() }
                if approach.isBefore(entry, key) { continue }
                keyBuffer.replace(after: 0, with: Bytes(rebasing: key[..<entry.shared]))
                keyBuffer.replace(after: entry.shared, with: entry.rest)
                view = entry.value.map { ValueView($0) }
                isValid = true
                return
            }
            isValid = false
        }

        /// Moves to the beginning of another block. The first entry of one in columns is not shown: a visit needs none.
        mutating func open(_ next: consuming RunBlock) throws(MalformedBytes) {
            block = next
            if let place = block.columnsInPlace {
                isValid = true
                if let columns { columns.open(place) } else { columns = ColumnCursor(place) }
                return
            }
            reader = ByteReader(block.bytes, at: try block.start(ofPart: 0))
            try advance()
        }

        /// See `ColumnCursor`.
        func stretch(before limit: Bytes?) -> ColumnStretch? {
            isValid && block.columnsInPlace != nil ? columns?.stretch(before: limit) : nil
        }

        func skip(to row: Int) { columns?.skip(to: row) }

        /// Moves to the end, and returns how many entries, from the current one on, have a value.
        mutating func countRest() throws(MalformedBytes) -> Int {
            guard isValid else { return 0 }
            isValid = false
            if block.columnsInPlace != nil, let columns { return try columns.countRest() }
            var count = view == nil ? 0 : 1
            // A copy stays in registers.
            var reader = reader
            while !reader.isAtEnd {
                if try Entry(&reader).value != nil { count += 1 }
            }
            return count
        }

        /// Calls `body` with the entries before a limit, if there is one, except for those of removed keys, until it returns
        /// false. Returns false if it did.
        mutating func visit(
            before limit: Bytes?, _ filter: (any ColumnFilter)?, _ body: (Bytes, ValueView) throws(SyncError) -> Bool
        ) throws(SyncError) -> Bool {
            guard isValid else { return true }
            if block.columnsInPlace != nil, let columns { return try visit(columns, before: limit, filter, body) }
            if let limit, key.compare(limit) >= 0 { return true }
            if let view, !isHidden, try !body(key, view) { return false }
            var approach = Approach(matched: limit.map { key.sharedPrefix(with: $0) } ?? 0)
            var reader = reader
            while !reader.isAtEnd {
                start = reader.offset
                guard let entry = try? Entry(&reader), entry.shared >= 0, entry.shared <= keyBuffer.count else {
                    throw .malformed("a run's block")
                }
                keyBuffer.replace(after: entry.shared, with: entry.rest)
                if let limit, !approach.isBefore(entry, limit) {
                    view = entry.value.map { ValueView($0) }
                    self.reader = reader
                    return true
                }
                if let value = entry.value, !isHidden, try !body(key, ValueView(value)) { return false }
            }
            self.reader = reader
            isValid = false
            return true
        }

        @inline(__always)
        private var isHidden: Bool { hidden?.contains(entry: start) ?? false }

        private mutating func visit(
            _ place: ColumnCursor, before limit: Bytes?, _ filter: (any ColumnFilter)?,
            _ body: (Bytes, ValueView) throws(SyncError) -> Bool
        ) throws(SyncError) -> Bool {
            guard try place.visit(before: limit, leavingOut: hidden, filter, body) else { return false }
            do throws(MalformedBytes) { try show() } catch { throw .malformed("a run's block") }
            return true
        }

        @inline(__always)
        mutating func advance() throws(MalformedBytes) {
            if block.columnsInPlace != nil, let columns {
                columns.moveOn()
                return try show()
            }
            isValid = !reader.isAtEnd
            guard isValid else { return }
            start = reader.offset
            let entry = try Entry(&reader)
            guard entry.shared >= 0, entry.shared <= keyBuffer.count else { throw MalformedBytes() }
            keyBuffer.replace(after: entry.shared, with: entry.rest)
            view = entry.value.map { ValueView($0) }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the length of the common prefix.
    @inline(__always)
    func sharedPrefix(with other: UnsafeRawBufferPointer) -> Int {
        let limit = Swift.min(count, other.count)
        var shared = 0
        while shared + 8 <= limit {
            let left = loadUnaligned(fromByteOffset: shared, as: UInt64.self)
            let difference = left ^ other.loadUnaligned(fromByteOffset: shared, as: UInt64.self)
            if difference != 0 { return shared + difference.littleEndian.trailingZeroBitCount / 8 }
            shared += 8
        }
        while shared < limit, self[shared] == other[shared] { shared += 1 }
        return shared
    }
}
