// Finds the part of a string that has the same form in JSON: most of all text.

extension UnsafeRawBufferPointer {
    /// Returns the next byte that is a quote, a backslash, a control character or not ASCII, testing eight at a
    /// time.
    @inline(__always)
    func endOfPlainJSON(from start: Int) -> Int {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var index = start
        while count - index >= 8 {
            let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
            // A subtraction borrows only from bytes above one that is found, so the lowest is exact.
            let quotes = word ^ (ones * 0x22)
            let backslashes = word ^ (ones * 0x5c)
            let signs = (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
            let found = (signs | (word &- ones * 0x20) & ~word | word) & highs
            if found != 0 { return index + found.trailingZeroBitCount >> 3 }
            index += 8
        }
        while index < count {
            let byte = self[index]
            if byte == 0x22 || byte == 0x5c || byte < 0x20 || byte >= 0x80 { break }
            index += 1
        }
        return index
    }
}
