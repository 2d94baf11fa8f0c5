// Bounds-checked little-endian numbers and varints in raw memory, and the growable buffer the log encodes into. All
// parsing of bytes from files goes through here.

extension UnsafeRawBufferPointer {
    package func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self, at offset: Int) -> Number {
        precondition(offset >= 0 && offset <= count - MemoryLayout<Number>.size, "a field beyond its buffer")
        return Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }

    package func slice(_ offset: Int, _ length: Int) -> UnsafeRawBufferPointer {
        precondition(offset >= 0 && length >= 0 && offset <= count - length, "a slice beyond its buffer")
        return UnsafeRawBufferPointer(rebasing: self[offset..<offset + length])
    }

    package var isAllZero: Bool {
        var index = 0
        while index + 8 <= count {
            if loadUnaligned(fromByteOffset: index, as: UInt64.self) != 0 { return false }
            index += 8
        }
        while index < count {
            if self[index] != 0 { return false }
            index += 1
        }
        return true
    }
}

extension UnsafeMutableRawBufferPointer {
    package func store<Number: FixedWidthInteger>(_ value: Number, at offset: Int) {
        precondition(offset >= 0 && offset <= count - MemoryLayout<Number>.size, "a field beyond its buffer")
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
    }
}

/// Reads fields one after another. Returns nil when the bytes run out, and never reads beyond them.
package struct ByteReader {
    package let bytes: UnsafeRawBufferPointer
    package var offset = 0

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    package var remaining: Int { bytes.count - offset }

    package mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        guard remaining >= MemoryLayout<Number>.size else { return nil }
        defer { offset += MemoryLayout<Number>.size }
        return bytes.number(type, at: offset)
    }

    /// Reads an unsigned LEB128 number in its shortest form. Rejects longer forms, so that bytes and values
    /// correspond one to one.
    package mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if shift == 63 && byte > 1 { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return byte == 0 && shift > 0 ? nil : value }
            shift += 7
            if shift > 63 { return nil }
        }
        return nil
    }

    package mutating func take(_ length: UInt64) -> UnsafeRawBufferPointer? {
        guard length <= UInt64(remaining) else { return nil }
        defer { offset += Int(length) }
        return bytes.slice(offset, Int(length))
    }
}

/// Growable memory that keeps its capacity when emptied, and lets a compressor write into its free end.
package final class ByteBuffer {
    // Unchecked: each is accessed within one call of this class, which is not shared between threads. The dynamic
    // check was visible in profiles of small appends and scans.
    @exclusivity(unchecked) private var storage: UnsafeMutableRawBufferPointer
    @exclusivity(unchecked) package private(set) var count = 0

    package init(capacity: Int) {
        storage = .allocate(byteCount: max(64, capacity), alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }
    package var writable: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: storage[..<count]) }

    /// Returns at least `length` bytes after the content, to be written and then claimed with `advance(by:)`.
    package func free(_ length: Int) -> UnsafeMutableRawBufferPointer {
        if storage.count - count < length {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(storage.count * 2, count + length), alignment: 16)
            larger.copyMemory(from: bytes)
            storage.deallocate()
            storage = larger
        }
        return UnsafeMutableRawBufferPointer(rebasing: storage[count...])
    }

    package func advance(by length: Int) {
        precondition(length >= 0 && length <= storage.count - count, "claimed more than there is room for")
        count += length
    }

    package func append(_ bytes: UnsafeRawBufferPointer) {
        free(bytes.count).copyMemory(from: bytes)
        count += bytes.count
    }

    package func append<Number: FixedWidthInteger>(_ value: Number) {
        free(MemoryLayout<Number>.size).store(value, at: 0)
        count += MemoryLayout<Number>.size
    }

    package func append(varint value: UInt64) {
        let room = free(10)
        count += putVarint(value, into: room)
    }

    package func truncate(to length: Int) {
        precondition(length >= 0 && length <= count, "cut beyond the end")
        count = length
    }
}

/// Writes an unsigned LEB128 number and returns its length, at most 10.
package func putVarint(_ value: UInt64, into room: UnsafeMutableRawBufferPointer) -> Int {
    var rest = value
    var length = 0
    while rest >= 0x80 {
        room[length] = UInt8(truncatingIfNeeded: rest) | 0x80
        rest >>= 7
        length += 1
    }
    room[length] = UInt8(rest)
    return length + 1
}

package func varintLength(_ value: UInt64) -> Int {
    value == 0 ? 1 : (70 - value.leadingZeroBitCount) / 7
}

package func roundUp(_ value: Int, to multiple: Int) -> Int {
    (value + multiple - 1) / multiple * multiple
}
