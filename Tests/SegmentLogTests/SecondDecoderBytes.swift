// The second decoder's arithmetic: little-endian numbers, varints, CRC32C, and the LZ4 block format.

extension [UInt8] {
    /// A little-endian number of 1 to 8 bytes.
    func number(_ offset: Int, _ size: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in (0..<size).reversed() { value = value << 8 | UInt64(self[offset + index]) }
        return value
    }
}

/// Bytes that are read from the front.
struct SecondBytes {
    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func advance(_ count: UInt64) throws(SecondRefusal) -> Int {
        guard count <= UInt64(bytes.count - at) else { throw .broken("payload too short") }
        defer { at += Int(count) }
        return at
    }

    mutating func integer(_ size: Int) throws(SecondRefusal) -> UInt64 {
        bytes.number(try advance(UInt64(size)), size)
    }

    /// Unsigned LEB128 in its shortest form.
    mutating func varint() throws(SecondRefusal) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<10 {
            let byte = bytes[try advance(1)]
            guard index < 9 || byte <= 1, index == 0 || byte != 0 else { throw .broken("varint") }
            value |= UInt64(byte & 0x7F) << (7 * index)
            if byte < 0x80 { return value }
        }
        throw .broken("varint")
    }

    mutating func record() throws(SecondRefusal) -> [UInt8] {
        let count = try varint()
        guard count <= 268_435_456 else { throw .broken("record too long") }
        let start = try advance(count)
        return Array(bytes[start..<at])
    }

    mutating func rest() -> [UInt8] {
        defer { at = bytes.count }
        return Array(bytes[at...])
    }

    func checkEnd() throws(SecondRefusal) {
        guard at == bytes.count else { throw .broken("bytes after the payload") }
    }
}

private let castagnoli: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
}

/// CRC32C; `before` is the finished CRC of what precedes the bytes.
func secondCRC(_ bytes: some Sequence<UInt8>, _ before: UInt32 = 0) -> UInt32 {
    var crc = ~before
    for byte in bytes { crc = crc >> 8 ^ castagnoli[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] }
    return ~crc
}

/// Decompresses an LZ4 block to exactly `size` bytes. As the block format has it, the last match begins at least 12
/// bytes before the end and the last 5 bytes are literals.
func secondDecompress(_ block: [UInt8], to size: Int) throws(SecondRefusal) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(size)
    var at = 0

    func byte() throws(SecondRefusal) -> Int {
        guard at < block.count else { throw .broken("LZ4: too short") }
        defer { at += 1 }
        return Int(block[at])
    }
    func length(_ nibble: Int) throws(SecondRefusal) -> Int {
        guard nibble == 15 else { return nibble }
        var length = nibble
        while true {
            let more = try byte()
            length += more
            if more < 255 { return length }
        }
    }

    while true {
        let token = try byte()
        let literals = try length(token >> 4)
        guard literals <= block.count - at, literals <= size - output.count else { throw .broken("LZ4: literals") }
        output += block[at..<at + literals]
        at += literals
        if at == block.count { break }
        let offset = try byte() | byte() << 8
        guard offset > 0, offset <= output.count else { throw .broken("LZ4: offset") }
        let match = try length(token & 15) + 4
        guard size - output.count >= 12, match <= size - output.count - 5 else { throw .broken("LZ4: match") }
        for _ in 0..<match { output.append(output[output.count - offset]) }
    }
    guard output.count == size else { throw .broken("LZ4: length") }
    return output
}
