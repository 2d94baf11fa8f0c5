// A block of a run: entries in key order, each key without what it shares with the one before.
//
//   entry := shared varint · rest varint · 0 if the key was removed, else value length + 1, varint · rest · value

struct RunBlockWriter {
    private(set) var writer = ByteWriter(capacity: RunBlockWriter.target + 4096)
    private var lastKey: [UInt8] = []
    private(set) var firstKey: [UInt8] = []
    private(set) var count = 0

    /// The size at which a block is closed.
    static let target = 1 << 14

    var isFull: Bool { writer.count >= RunBlockWriter.target }

    mutating func append(_ key: Bytes, _ value: Bytes?) {
        var shared = 0
        while shared < min(key.count, lastKey.count), key[shared] == lastKey[shared] { shared += 1 }
        if count == 0 { firstKey = [UInt8](key) }
        writer.append(varint: shared)
        writer.append(varint: key.count - shared)
        writer.append(varint: value.map { $0.count + 1 } ?? 0)
        writer.append(Bytes(rebasing: key[shared...]))
        if let value { writer.append(value) }
        lastKey.removeSubrange(shared...)
        lastKey.append(contentsOf: key[shared...])
        count += 1
    }

    mutating func removeAll() {
        writer.removeAll()
        lastKey.removeAll(keepingCapacity: true)
        firstKey = []
        count = 0
    }
}

/// Memory of its own that never moves while it is not grown.
final class KeyBuffer {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 128, alignment: 8)
    private(set) var count = 0

    deinit { memory.deallocate() }

    var bytes: Bytes { Bytes(rebasing: memory[..<count]) }

    /// Keeps the first bytes and puts others behind them.
    func replace(behind kept: Int, with other: Bytes) {
        let needed = kept + other.count
        if needed > memory.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: needed * 2, alignment: 8)
            larger.copyMemory(from: Bytes(rebasing: memory[..<kept]))
            memory.deallocate()
            memory = larger
        }
        UnsafeMutableRawBufferPointer(rebasing: memory[kept..<needed]).copyMemory(from: other)
        count = needed
    }
}

/// A block in memory, kept alive by whoever reads it.
package final class RunBlock: @unchecked Sendable {
    // Unchecked, because memory is a pointer to the compiler; it is written here and never again.
    let bytes: Bytes

    package init(_ bytes: Bytes) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 8)
        memory.copyMemory(from: bytes)
        self.bytes = Bytes(rebasing: Bytes(memory)[..<bytes.count])
    }

    deinit { bytes.baseAddress?.deallocate() }

    /// Moves through the entries of a block. What it points to lives as long as the block; its key until it moves.
    struct Cursor {
        let block: RunBlock
        private var offset = 0
        private let keyBuffer = KeyBuffer()
        private(set) var value: Bytes?
        private(set) var isValid = false

        init(_ block: RunBlock) throws(MalformedBytes) {
            self.block = block
            try advance()
        }

        var key: Bytes { keyBuffer.bytes }

        mutating func advance() throws(MalformedBytes) {
            let content = block.bytes
            guard offset < content.count else {
                isValid = false
                return
            }
            var reader = ByteReader(Bytes(rebasing: content[offset...]))
            let shared = try reader.varint()
            let rest = try reader.count()
            let length = try reader.varint()
            guard shared <= UInt64(keyBuffer.count) else { throw MalformedBytes() }
            keyBuffer.replace(behind: Int(shared), with: try reader.take(rest))
            if length == 0 {
                value = nil
            } else {
                guard length - 1 <= UInt64(reader.remaining) else { throw MalformedBytes() }
                value = try reader.take(Int(length - 1))
            }
            offset += reader.offset
            isValid = true
        }
    }
}
