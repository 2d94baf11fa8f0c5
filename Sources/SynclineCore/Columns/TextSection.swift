// Strings of bytes in a block in columns.
//
//   section := the length of each row's, u8 or u16 · for each sixteen rows the offset of the first, u16 · the bytes

import SynclineGround

enum TextSection {
    static let group = 16

    /// Checks a section that must end before an offset. Returns the greatest length and their sum.
    static func check(
        _ bytes: Bytes, _ start: Int, _ rows: Int, isLong: Bool, _ end: Int
    ) throws(MalformedBytes) -> (most: Int, sum: Int) {
        let content = self.content(start, rows, isLong: isLong)
        guard start > 0, content <= end else { throw MalformedBytes() }
        var (offset, most) = (0, 0)
        for row in 0..<rows {
            if row % group == 0, bytes.small(at: offsets(start, rows, isLong) + row / group * 2) != offset {
                throw MalformedBytes()
            }
            let length = length(bytes, start, row, isLong)
            offset += length
            most = max(most, length)
        }
        guard content + offset <= end else { throw MalformedBytes() }
        return (most, offset)
    }

    /// Writes a section.
    static func write(_ texts: UnsafeBufferPointer<Bytes>, isLong: Bool, to block: inout ByteWriter) {
        for text in texts { if isLong { block.append(small: text.count) } else { block.append(UInt8(text.count)) } }
        var offset = 0
        for (row, text) in texts.enumerated() {
            if row % group == 0 { block.append(small: offset) }
            offset += text.count
        }
        for text in texts { block.append(text) }
    }

    @inline(__always)
    private static func length(_ bytes: Bytes, _ start: Int, _ row: Int, _ isLong: Bool) -> Int {
        isLong ? bytes.small(at: start + 2 * row) : Int(bytes[start + row])
    }

    /// Fetches what leads to the bytes of a row.
    @inline(__always)
    static func prefetch(_ bytes: Bytes, _ start: Int, _ row: Int, _ rows: Int, isLong: Bool) {
        guard let memory = bytes.baseAddress else { return }
        (memory + start + (isLong ? 2 * row : row)).prefetch()
        (memory + offsets(start, rows, isLong) + row / group * 2).prefetch()
    }

    @inline(__always)
    private static func offsets(_ start: Int, _ rows: Int, _ isLong: Bool) -> Int { start + (isLong ? 2 * rows : rows) }

    @inline(__always)
    static func content(_ start: Int, _ rows: Int, isLong: Bool) -> Int {
        offsets(start, rows, isLong) + (rows + group - 1) / group * 2
    }

    /// The bytes of a row of a section that was checked.
    @inline(__always)
    static func text(_ bytes: Bytes, _ start: Int, _ row: Int, _ rows: Int, isLong: Bool) -> Bytes {
        var place =
            content(start, rows, isLong: isLong) + bytes.small(at: offsets(start, rows, isLong) + row / group * 2)
        let first = row & ~(group - 1)
        if isLong {
            for before in first..<row { place += bytes.small(at: start + 2 * before) }
        } else {
            place += bytes.sum(at: start + first, row - first)
        }
        return Bytes(start: bytes.baseAddress.map { $0 + place }, count: length(bytes, start, row, isLong))
    }
}

extension Bytes {
    /// The sum of fewer than sixteen bytes; as many can be read.
    @inline(__always)
    fileprivate func sum(at offset: Int, _ count: Int) -> Int {
        let low = UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let high = UInt64(littleEndian: loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
        return low.sum(Swift.min(count, 8)) + high.sum(Swift.max(count - 8, 0))
    }
}

extension UInt64 {
    /// The sum of its lowest bytes.
    @inline(__always)
    fileprivate func sum(_ count: Int) -> Int {
        let bytes = count == 8 ? self : self & (1 << (8 * UInt64(count)) - 1)
        let pairs = (bytes & 0x00ff_00ff_00ff_00ff) + (bytes >> 8 & 0x00ff_00ff_00ff_00ff)
        return Int((pairs &* 0x0001_0001_0001_0001) >> 48)
    }
}
