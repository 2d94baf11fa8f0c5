// Whole numbers in as few bytes as they need: seven bits a byte, the lowest first (LEB128).

/// Calls `body` with each byte of an unsigned LEB128 number, at most 10.
@inlinable @inline(__always)
public func forEachVarintByte(of value: UInt64, _ body: (UInt8) -> Void) {
    var rest = value
    while rest >= 0x80 {
        body(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
    }
    body(UInt8(rest))
}

/// Writes a number and returns its length, at most 10.
@inlinable public func putVarint(_ value: UInt64, into room: UnsafeMutableRawBufferPointer) -> Int {
    var length = 0
    forEachVarintByte(of: value) { byte in
        room[length] = byte
        length += 1
    }
    return length
}

@inlinable public func varintLength(_ value: UInt64) -> Int {
    value == 0 ? 1 : (70 - value.leadingZeroBitCount) / 7
}
