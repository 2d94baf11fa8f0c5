// Reads the compact encodings. Every step reports whether the bytes were there; anything cut short or out of range
// is rejected, so damaged or hostile bytes can't be read as data or stop the process.

/// Bytes are not a valid encoding.
public struct MalformedBytes: Error, Hashable, Sendable {
    @inlinable public init() {}
}

/// A cursor over bytes that another object owns.
public struct ByteReader {
    public let bytes: UnsafeRawBufferPointer
    public var offset = 0

    @inlinable public init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Begins at an offset within the bytes.
    @inlinable public init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        precondition(offset >= 0 && offset <= bytes.count, "a reader begins within its bytes")
        self.bytes = bytes
        self.offset = offset
    }

    @inlinable public var isAtEnd: Bool { offset == bytes.count }
    @inlinable public var remaining: Int { bytes.count - offset }

    /// All remaining bytes.
    @inlinable public var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[offset...]) }

    @inlinable @inline(__always)
    public mutating func byte() throws(MalformedBytes) -> UInt8 {
        guard offset < bytes.count else { throw MalformedBytes() }
        defer { offset += 1 }
        return bytes[offset]
    }

    @inlinable @inline(__always)
    public mutating func varint() throws(MalformedBytes) -> UInt64 {
        guard offset < bytes.count else { throw MalformedBytes() }
        let first = bytes[offset]
        offset += 1
        return first < 0x80 ? UInt64(first) : try rest(ofVarint: first)
    }

    /// Reads three numbers at once if they take one, one, and at most two bytes, as most do; otherwise reads
    /// nothing.
    @inlinable @inline(__always)
    public mutating func shortVarints() -> (Int, Int, Int)? {
        guard remaining >= 4 else { return nil }
        let word = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        guard word & 0x8080 == 0 else { return nil }
        var third = Int(word >> 16 & 0x7f)
        if word & 0x80_0000 == 0 {
            offset += 3
        } else {
            guard word & 0x8000_0000 == 0 else { return nil }
            third |= Int(word >> 24) << 7
            offset += 4
        }
        return (Int(word & 0x7f), Int(word >> 8 & 0x7f), third)
    }

    @inlinable mutating func rest(ofVarint first: UInt8) throws(MalformedBytes) -> UInt64 {
        // Most numbers of several bytes have two.
        if offset < bytes.count, bytes[offset] < 0x80 {
            defer { offset += 1 }
            return UInt64(first & 0x7f) | UInt64(bytes[offset]) << 7
        }
        if let number = wordVarint() { return number }
        var number = UInt64(first & 0x7f)
        var shift: UInt64 = 7
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if shift == 63 && byte > 1 { throw MalformedBytes() }
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
            shift += 7
            if shift > 63 { throw MalformedBytes() }
        }
        throw MalformedBytes()
    }

    /// Reads a number whose first byte was read, without a loop; reads nothing if it takes more than eight bytes or
    /// fewer are left.
    @inlinable @inline(__always)
    mutating func wordVarint() -> UInt64? {
        guard remaining >= 7 else { return nil }
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset - 1, as: UInt64.self))
        // The highest bit of each byte that ends a number. Only bytes up to the first of them count.
        let ends = ~word & 0x8080_8080_8080_8080
        guard ends != 0 else { return nil }
        offset += ends.trailingZeroBitCount / 8
        var number = word & (ends ^ (ends &- 1)) & 0x7f7f_7f7f_7f7f_7f7f
        // Seven bits of each byte move together: to pairs, to fours, to one number.
        number = number & 0x007f_007f_007f_007f | number >> 1 & 0x3f80_3f80_3f80_3f80
        number = number & 0x0000_3fff_0000_3fff | number >> 2 & 0x0fff_c000_0fff_c000
        return number & 0x0fff_ffff | number >> 4 & 0x00ff_ffff_f000_0000
    }

    /// A varint in its shortest form; a longer form is refused, so that bytes and values match one to one.
    @inlinable public mutating func shortestVarint() throws(MalformedBytes) -> UInt64 {
        let start = offset
        let number = try varint()
        if offset - start > 1, bytes[offset - 1] == 0 { throw MalformedBytes() }
        return number
    }

    @inlinable public mutating func zigzag() throws(MalformedBytes) -> Int64 {
        let number = try varint()
        return Int64(bitPattern: number >> 1) ^ -Int64(number & 1)
    }

    /// Reads a number of things that take at least a byte each; rejects a number larger than the bytes left.
    @inlinable @inline(__always)
    public mutating func count() throws(MalformedBytes) -> Int {
        let number = try varint()
        guard number <= UInt64(remaining) else { throw MalformedBytes() }
        return Int(number)
    }

    /// Reads all bytes of a number, the lowest first.
    @inlinable public mutating func number<Number: FixedWidthInteger>(
        _ type: Number.Type = Number.self
    ) throws(MalformedBytes) -> Number {
        guard remaining >= MemoryLayout<Number>.size else { throw MalformedBytes() }
        defer { offset += MemoryLayout<Number>.size }
        return bytes.number(type, at: offset)
    }

    @inlinable public mutating func fixed() throws(MalformedBytes) -> UInt64 {
        UInt64(littleEndian: try take(8).loadUnaligned(as: UInt64.self))
    }

    @inlinable public mutating func ordered() throws(MalformedBytes) -> UInt64 {
        UInt64(bigEndian: try take(8).loadUnaligned(as: UInt64.self))
    }

    @inlinable @inline(__always)
    public mutating func take(_ length: Int) throws(MalformedBytes) -> UnsafeRawBufferPointer {
        guard length >= 0, length <= remaining else { throw MalformedBytes() }
        defer { offset += length }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }

    /// A length as it was read.
    @inlinable @inline(__always)
    public mutating func take(_ length: UInt64) throws(MalformedBytes) -> UnsafeRawBufferPointer {
        guard length <= UInt64(remaining) else { throw MalformedBytes() }
        return try take(Int(length))
    }

    @inlinable @inline(__always)
    public mutating func counted() throws(MalformedBytes) -> UnsafeRawBufferPointer {
        try take(try count())
    }

    @inlinable public mutating func text() throws(MalformedBytes) -> String {
        try text(of: try counted())
    }

    @inlinable public func text(of utf8: UnsafeRawBufferPointer) throws(MalformedBytes) -> String {
        // The standard library's check is generic and costs more than reading a short string; most strings need no
        // check.
        if utf8.isASCII {
            return String(unsafeUninitializedCapacity: utf8.count) { text in
                UnsafeMutableRawBufferPointer(text).copyMemory(from: utf8)
                return utf8.count
            }
        }
        guard let text = String(validUTF8: utf8) else { throw MalformedBytes() }
        return text
    }

    @inlinable @inline(__always)
    public mutating func skip(_ length: Int) throws(MalformedBytes) {
        _ = try take(length)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether it is valid UTF-8. ASCII is checked without building a string.
    @inlinable public var isUTF8: Bool { isASCII || String(validUTF8: self) != nil }

    /// Whether every byte is ASCII.
    @inlinable var isASCII: Bool {
        var offset = 0
        var bits: UInt64 = 0
        while offset &+ 8 <= count {
            bits |= loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        while offset < count {
            bits |= UInt64(self[offset])
            offset &+= 1
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }
}
