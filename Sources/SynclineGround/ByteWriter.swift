// Builds the compact encodings of values, rows, events and state: numbers as varints, strings preceded by their
// length. Every change goes through it, so it writes into raw memory that grows by doubling.

/// Bytes that grow at their end. Copies share the bytes; only one of them may be written to.
public struct ByteWriter {
    @usableFromInline
    final class Storage {
        // Unchecked: a writer has exclusive access.
        @usableFromInline @exclusivity(unchecked) var memory: UnsafeMutableRawPointer
        @usableFromInline @exclusivity(unchecked) var capacity: Int
        @usableFromInline @exclusivity(unchecked) var count = 0

        @inlinable init(capacity: Int) {
            memory = .allocate(byteCount: capacity, alignment: 16)
            self.capacity = capacity
        }

        @inlinable deinit { memory.deallocate() }

        @usableFromInline func grow(to needed: Int) {
            let larger = max(needed, capacity * 2)
            let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
            moved.copyMemory(from: memory, byteCount: count)
            memory.deallocate()
            memory = moved
            capacity = larger
        }
    }

    @usableFromInline let storage: Storage

    @inlinable public init(capacity: Int = 64) {
        storage = Storage(capacity: max(16, capacity))
    }

    @inlinable public var count: Int { storage.count }

    /// A copy of the bytes written.
    @inlinable public var bytes: [UInt8] { withView { [UInt8]($0) } }

    /// The bytes written. They are valid until more are written or removed, while the writer or a copy of it is kept.
    @inlinable public var inPlace: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: storage.memory, count: storage.count)
    }

    /// Calls `body` with the bytes written, without copying.
    @inlinable @inline(__always)
    public func withView<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(storage) }
        return try body(UnsafeRawBufferPointer(start: storage.memory, count: storage.count))
    }

    /// Removes all bytes, keeping the memory.
    @inlinable public mutating func removeAll() {
        storage.count = 0
    }

    /// Removes what follows the first `count` bytes.
    @inlinable public mutating func truncate(to count: Int) {
        storage.count = min(count, storage.count)
    }

    /// Makes room for more bytes, which the caller writes.
    @inlinable @inline(__always)
    public mutating func room(_ length: Int) -> UnsafeMutableRawPointer {
        let needed = storage.count + length
        if needed > storage.capacity { storage.grow(to: needed) }
        defer { storage.count = needed }
        return storage.memory + storage.count
    }

    @inlinable @inline(__always)
    public mutating func append(_ byte: UInt8) {
        room(1).storeBytes(of: byte, as: UInt8.self)
    }

    @inlinable public mutating func append(_ other: UnsafeRawBufferPointer) {
        guard let start = other.baseAddress else { return }
        room(other.count).copyMemory(from: start, byteCount: other.count)
    }

    @inlinable public mutating func append(_ other: [UInt8]) {
        other.withUnsafeBytes { append($0) }
    }

    /// Appends seven bits per byte, the lowest first.
    @inlinable @inline(__always)
    public mutating func append(varint number: UInt64) {
        if number < 0x80 { return append(UInt8(truncatingIfNeeded: number)) }
        let length = varintLength(number)
        _ = putVarint(number, into: UnsafeMutableRawBufferPointer(start: room(length), count: length))
    }

    @inlinable @inline(__always)
    public mutating func append(varint number: Int) {
        append(varint: UInt64(number))
    }

    /// Appends a signed number with the sign in the lowest bit, so that small numbers are short.
    @inlinable public mutating func append(zigzag number: Int64) {
        append(varint: UInt64(bitPattern: number << 1 ^ number >> 63))
    }

    /// Appends eight bytes, the lowest first.
    @inlinable public mutating func append(fixed number: UInt64) {
        room(8).storeBytes(of: number.littleEndian, as: UInt64.self)
    }

    /// Appends eight bytes, the highest first, so that keys sort like their numbers.
    @inlinable public mutating func append(ordered number: UInt64) {
        room(8).storeBytes(of: number.bigEndian, as: UInt64.self)
    }

    /// Appends a string preceded by its length.
    @inlinable public mutating func append(text: String) {
        var text = text
        text.withUTF8 { utf8 in
            append(varint: utf8.count)
            append(UnsafeRawBufferPointer(utf8))
        }
    }

    /// Appends bytes preceded by their length.
    @inlinable public mutating func append(counted other: [UInt8]) {
        append(varint: other.count)
        append(other)
    }

    @inlinable public mutating func append(counted other: UnsafeRawBufferPointer) {
        append(varint: other.count)
        append(other)
    }
}
