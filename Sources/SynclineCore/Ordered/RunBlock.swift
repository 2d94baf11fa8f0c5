// A block of a run: entries in key order, each key without what it shares with the one before.
//
//   entry := shared varint · rest varint · 0 if the key was removed, else value length + 1, varint · rest · value

import SynclineGround

struct RunBlockWriter: ~Copyable {
    private(set) var writer = ByteWriter(capacity: RunBlockWriter.target + 4096)
    private var lastKey = KeyBuffer()
    private(set) var firstKey: [UInt8] = []
    private(set) var count = 0

    /// The size at which a block is closed.
    static let target = 1 << 13

    var isFull: Bool { writer.count >= RunBlockWriter.target }

    mutating func append(_ key: Bytes, _ value: Bytes?) {
        let shared = key.sharedPrefix(with: lastKey.bytes)
        let rest = Bytes(rebasing: key[shared...])
        if count == 0 { firstKey = [UInt8](key) }
        writer.append(varint: shared)
        writer.append(varint: rest.count)
        writer.append(varint: value.map { $0.count + 1 } ?? 0)
        writer.append(rest)
        if let value { writer.append(value) }
        lastKey.replace(after: shared, with: rest)
        count += 1
    }

    mutating func removeAll() {
        writer.removeAll()
        lastKey.replace(after: 0, with: Bytes(start: nil, count: 0))
        firstKey = []
        count = 0
    }
}

/// Memory of its own, which moves only when it grows.
struct KeyBuffer: ~Copyable {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 128, alignment: 8)
    private(set) var count = 0

    deinit { memory.deallocate() }

    var bytes: Bytes { Bytes(start: memory.baseAddress, count: count) }

    /// Keeps the first bytes and replaces the rest.
    mutating func replace(after kept: Int, with other: Bytes) {
        let needed = kept + other.count
        if needed > memory.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: needed * 2, alignment: 8)
            larger.copyMemory(from: Bytes(rebasing: memory[..<kept]))
            memory.deallocate()
            memory = larger
        }
        if let start = memory.baseAddress, let bytes = other.baseAddress {
            (start + kept).copyMemory(from: bytes, byteCount: other.count)
        }
        count = needed
    }
}

/// A block in memory, retained by its readers.
package final class RunBlock: @unchecked Sendable {
    // Unchecked, because memory is a pointer to the compiler; it is written here and never again.
    let bytes: Bytes

    package init(_ bytes: Bytes) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 8)
        memory.copyMemory(from: bytes)
        self.bytes = Bytes(rebasing: Bytes(memory)[..<bytes.count])
    }

    deinit { bytes.baseAddress?.deallocate() }

    /// Where a search for a key begins: at an entry that is not after it.
    struct Start {
        var offset = 0
        /// How much of the key the previous entry has; that entry comes before the key.
        var matched = 0
    }

    /// Looks up a key in the block. Never assembles a whole key: it is sufficient to know how much of the previous
    /// key matches.
    func find(_ key: Bytes, from start: Start = Start()) throws(MalformedBytes) -> MemoryTable.Finding {
        var reader = ByteReader(bytes, at: start.offset)
        var matched = start.matched
        while !reader.isAtEnd {
            let entry = try Entry(&reader)
            // An entry that shares more than what matches is before the key, like the previous one; an entry that
            // shares less is after it.
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

    /// An encoded entry.
    private struct Entry {
        let shared: Int
        let rest: Bytes
        let value: Bytes?

        @inline(__always)
        init(_ reader: inout ByteReader) throws(MalformedBytes) {
            let (count, length): (Int, UInt64)
            if let numbers = reader.shortVarints() {
                (shared, count, length) = (numbers.0, numbers.1, UInt64(numbers.2))
            } else {
                shared = Int(truncatingIfNeeded: try reader.varint())
                count = try reader.count()
                length = try reader.varint()
            }
            rest = try reader.take(count)
            if length == 0 {
                value = nil
            } else {
                guard length - 1 <= UInt64(reader.remaining) else { throw MalformedBytes() }
                value = try reader.take(Int(length - 1))
            }
        }
    }

    /// Moves through the entries of a block. Its value is valid as long as the block; its key until it moves.
    struct Cursor: ~Copyable {
        private var block: RunBlock
        private var reader: ByteReader
        private var keyBuffer = KeyBuffer()
        private(set) var value: Bytes?
        private(set) var isValid = false
        /// The offset of the entry, and the length of the prefix it shares with the previous one.
        private(set) var start = 0
        private(set) var shared = 0

        /// Begins with the first entry that is not before a key.
        init(_ block: RunBlock, from key: Bytes, _ start: Start = Start()) throws(MalformedBytes) {
            self.block = block
            reader = ByteReader(block.bytes, at: start.offset)
            try seek(key, matched: start.matched)
        }

        /// Begins with the entry at an offset, whose whole key is given.
        init(_ block: RunBlock, at offset: Int, _ key: [UInt8]) throws(MalformedBytes) {
            self.block = block
            reader = ByteReader(block.bytes, at: offset)
            start = offset
            let entry = try Entry(&reader)
            shared = entry.shared
            key.withBytes { keyBuffer.replace(after: 0, with: $0) }
            value = entry.value
            isValid = true
        }

        var key: Bytes { keyBuffer.bytes }

        /// Moves to the first entry that is not before a key, without assembling whole keys: see `find`.
        private mutating func seek(_ key: Bytes, matched: Int) throws(MalformedBytes) {
            var matched = matched
            while !reader.isAtEnd {
                start = reader.offset
                let entry = try Entry(&reader)
                shared = entry.shared
                if entry.shared > matched { continue }
                guard entry.shared >= 0 else { throw MalformedBytes() }
                let rest = Bytes(rebasing: key[entry.shared...])
                let more = entry.rest.sharedPrefix(with: rest)
                // An entry that shares less than the previous one comes after the key, and so does one with a
                // greater byte.
                let isBefore =
                    entry.shared == matched && more < rest.count
                    && (more == entry.rest.count || entry.rest[more] < rest[more])
                if isBefore {
                    matched += more
                    continue
                }
                keyBuffer.replace(after: 0, with: Bytes(rebasing: key[..<entry.shared]))
                keyBuffer.replace(after: entry.shared, with: entry.rest)
                value = entry.value
                isValid = true
                return
            }
            isValid = false
        }

        /// Moves to the beginning of another block.
        mutating func open(_ block: RunBlock) throws(MalformedBytes) {
            self.block = block
            reader = ByteReader(block.bytes)
            try advance()
        }

        /// Moves to the end, and returns how many entries, from the current one on, have a value.
        mutating func countRest() throws(MalformedBytes) -> Int {
            guard isValid else { return 0 }
            isValid = false
            var count = value == nil ? 0 : 1
            while !reader.isAtEnd {
                if try Entry(&reader).value != nil { count += 1 }
            }
            return count
        }

        @inline(__always)
        mutating func advance() throws(MalformedBytes) {
            isValid = !reader.isAtEnd
            guard isValid else { return }
            start = reader.offset
            let entry = try Entry(&reader)
            shared = entry.shared
            guard entry.shared >= 0, entry.shared <= keyBuffer.count else { throw MalformedBytes() }
            keyBuffer.replace(after: entry.shared, with: entry.rest)
            value = entry.value
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
