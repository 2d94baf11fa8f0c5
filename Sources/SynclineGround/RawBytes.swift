// Little-endian numbers in raw memory, always bounds-checked, and memory compared.

public import CLibrary

extension UnsafeRawBufferPointer {
    @inlinable public func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self, at offset: Int)
        -> Number
    {
        precondition(offset >= 0 && offset <= count - MemoryLayout<Number>.size, "a field beyond its buffer")
        return Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }

    @inlinable public func slice(_ offset: Int, _ length: Int) -> UnsafeRawBufferPointer {
        precondition(offset >= 0 && length >= 0 && offset <= count - length, "a slice beyond its buffer")
        return UnsafeRawBufferPointer(rebasing: self[offset..<offset + length])
    }

    /// Eight bytes as a number that sorts as they do; zeros stand for those that are missing.
    @inlinable public func head(at offset: Int = 0) -> UInt64 {
        if offset >= 0, offset <= count - 8 {
            return UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        return (offset..<offset + 8).reduce(0) { $0 << 8 | ($1 < count ? UInt64(self[$1]) : 0) }
    }

    @inlinable public func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let mine = baseAddress, let others = other.baseAddress else {
            return count == other.count
        }
        return memcmp(mine, others, count) == 0
    }

    /// Whether these bytes come first in the order of bytes.
    func isBefore(_ other: UnsafeRawBufferPointer) -> Bool {
        let shared = Swift.min(count, other.count)
        if shared > 0, let mine = baseAddress, let others = other.baseAddress {
            let order = memcmp(mine, others, shared)
            if order != 0 { return order < 0 }
        }
        return count < other.count
    }

    /// Whether one of the bytes is zero.
    @inlinable public var hasZero: Bool {
        var index = 0
        while index + 8 <= count {
            let word = loadUnaligned(fromByteOffset: index, as: UInt64.self)
            // The high bit of the lowest zero is left; none is left if there is no zero.
            if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
            index += 8
        }
        while index < count {
            if self[index] == 0 { return true }
            index += 1
        }
        return false
    }

    @inlinable public var isAllZero: Bool {
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
    @inlinable public func store<Number: FixedWidthInteger>(_ value: Number, at offset: Int) {
        precondition(offset >= 0 && offset <= count - MemoryLayout<Number>.size, "a field beyond its buffer")
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
    }
}
