// Whole numbers in as few bytes as they need: seven bits a byte, the lowest first (LEB128).

/// Writes an unsigned LEB128 number and returns its length, at most 10.
@inlinable public func putVarint(_ value: UInt64, into room: UnsafeMutableRawBufferPointer) -> Int {
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

@inlinable public func varintLength(_ value: UInt64) -> Int {
    value == 0 ? 1 : (70 - value.leadingZeroBitCount) / 7
}
