// The values of a block in columns, encoded as everywhere in the state.

import SynclineGround

extension ColumnBlock {
    @inline(__always)
    func isNull(_ column: Column, _ row: Int) -> Bool {
        guard let nulls = column.nulls else { return false }
        return bytes[nulls + row >> 3] >> UInt8(row & 7) & 1 != 0
    }

    @inline(__always)
    func packed(_ start: Int, _ width: Int, _ row: Int) -> UInt64 {
        if width <= PackedNumbers.mostPlanes {
            let stride = (rows + 7) / 8
            var (number, place) = (UInt64(0), start + row >> 3)
            for plane in 0..<UInt64(width) {
                number |= UInt64(bytes[place] >> UInt8(row & 7) & 1) << plane
                place += stride
            }
            return number
        }
        let bit = row * width
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + bit >> 3, as: UInt64.self))
        return width == 64 ? word : word >> UInt64(bit & 7) & (1 << UInt64(width) - 1)
    }

    /// The least number of a column of numbers.
    @inline(__always)
    func least(of column: Column) -> Int64 {
        Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: column.start, as: Int64.self))
    }

    @inline(__always)
    func integer(_ column: Column, _ row: Int) -> Int64 {
        least(of: column) &+ Int64(bitPattern: packed(column.start + 8, column.width, row))
    }

    /// Where the codes of a column with a dictionary begin.
    @inline(__always)
    func codes(of column: Column) -> Int {
        let list = column.start + 2 * (column.count + 1)
        return list + bytes.small(at: list - 2)
    }

    /// An entry of the dictionary of a column.
    @inline(__always)
    func entry(_ code: Int, of column: Column) -> Bytes {
        let list = column.start + 2 * (column.count + 1)
        let (start, end) = (bytes.small(at: column.start + 2 * code), bytes.small(at: column.start + 2 * code + 2))
        return part(list + start, end - start)
    }

    @inline(__always)
    private func entry(of column: Column, _ row: Int) -> Bytes {
        entry(min(Int(packed(codes(of: column), column.width, row)), column.count - 1), of: column)
    }

    /// What a column of texts has.
    @inline(__always)
    func text(_ column: Column, _ row: Int) -> Bytes {
        TextSection.text(bytes, column.start, row, rows, isLong: column.width == 2)
    }

    /// A part of the block that is known to be there.
    @inline(__always)
    private func part(_ start: Int, _ count: Int) -> Bytes {
        Bytes(start: bytes.baseAddress.map { $0 + start }, count: count)
    }

    /// The encoded value of a column, if the block has it as it is.
    @inline(__always)
    func value(_ column: Column, _ row: Int) -> Bytes? {
        // A block begins with a zero, which is a null, too.
        if isNull(column, row) { return part(0, 1) }
        switch column.encoding {
        case .constant: return part(column.start, column.count)
        case .dictionary: return entry(of: column, row)
        case .any: return text(column, row)
        default: return nil
        }
    }

    /// Appends a value that is not null as the block has it: equal ones of one encoding are equal bytes, if they have the
    /// same symbols.
    func append(storedValue column: Column, _ row: Int, to writer: inout ByteWriter) {
        switch column.encoding {
        case .constant: writer.append(part(column.start, column.count))
        case .flags: writer.append(UInt8(truncatingIfNeeded: packed(column.start, 1, row)))
        case .integers, .instants: writer.append(fixed: UInt64(bitPattern: integer(column, row)))
        case .texts, .symbols, .any: writer.append(text(column, row))
        case .dictionary: writer.append(entry(of: column, row))
        case .fixed:
            writer.append(bytes[column.start])
            writer.append(part(column.start + 1 + row * column.count, column.count))
        }
    }

    /// Appends the text of a row of a column of strings or symbols. Returns false if it can't be read.
    @inline(__always)
    func append(text column: Column, _ row: Int, to writer: inout ByteWriter) -> Bool {
        let text = text(column, row)
        guard column.encoding == .symbols else {
            writer.append(text)
            return true
        }
        let start = writer.count
        guard let length = decoder?.decode(text, to: writer.room(text.count * 8)) else { return false }
        writer.truncate(to: start + length)
        return true
    }

    /// Writes the encoded value of a column to memory with room for as many bytes as one takes at most. Returns how many
    /// they are; nil if it can't be read.
    @inline(__always)
    func write(
        _ column: Column, _ row: Int, to memory: UnsafeMutableRawPointer
    ) -> Int? {
        if isNull(column, row) { return memory.write(ValueTag.null) }
        switch column.encoding {
        case .constant: return memory.write(part(column.start, column.count))
        case .flags:
            let isSet = bytes[column.start + row >> 3] >> UInt8(row & 7) & 1 != 0
            return memory.write(isSet ? ValueTag.yes : ValueTag.no)
        case .integers: return memory.write(integer: integer(column, row))
        case .instants:
            return memory.write(ValueTag.instant) + (memory + 1).write(zigzag: integer(column, row))
        case .texts:
            let text = text(column, row)
            let start = text.count < 128 ? 1 : 1 + varintLength(UInt64(text.count))
            return memory.write(lengthOfText: text.count) + (memory + start).write(text)
        case .symbols:
            let codes = text(column, row)
            guard let length = decoder?.decode(codes, to: memory + 1) else {
                return nil
            }
            if length < 128 { return memory.write(ValueTag.shortText | UInt8(length)) + length }
            let start = 1 + varintLength(UInt64(length))
            (memory + start).copyMemory(from: memory + 1, byteCount: length)
            return memory.write(lengthOfText: length) + length
        case .dictionary: return memory.write(entry(of: column, row))
        case .any: return memory.write(text(column, row))
        case .fixed:
            return memory.write(bytes[column.start])
                + (memory + 1).write(part(column.start + 1 + row * column.count, column.count))
        }
    }

    /// Appends the values of all columns. Returns false if one can't be read.
    func append(valuesOf row: Int, to writer: inout ByteWriter) -> Bool {
        let start = writer.count
        guard let length = write(valuesOf: row, to: writer.room(most)) else { return false }
        writer.truncate(to: start + length)
        return true
    }

    @inline(__always)
    private func write(valuesOf row: Int, to memory: UnsafeMutableRawPointer) -> Int? {
        var length = 0
        for place in 0..<valueCount {
            guard let written = write(columns[place], row, to: memory + length) else { return nil }
            length += written
        }
        return length
    }

    /// Writes the value of a row to memory with room for `most` bytes. Returns how many they are; nil if it can't be read.
    func write(valueOf row: Int, to memory: UnsafeMutableRawPointer) -> Int? {
        // With room for a length of one byte, which most have.
        let content = memory + memory.write(head) + 1
        guard var length = write(valuesOf: row, to: content) else { return nil }
        let size = varintLength(UInt64(length))
        if size > 1 { (content + size - 1).copyMemory(from: content, byteCount: length) }
        length += (content - 1).write(varint: UInt64(length))
        for place in valueCount..<columns.count {
            length += (content - 1 + length).write(varint: UInt64(bitPattern: integer(columns[place], row)))
        }
        return head.count + length
    }

    /// Appends the value of a row. Returns false if it can't be read.
    func append(valueOf row: Int, to writer: inout ByteWriter) -> Bool {
        let start = writer.count
        guard let length = write(valueOf: row, to: writer.room(most)) else { return false }
        writer.truncate(to: start + length)
        return true
    }

    /// Appends the key of a row.
    func append(keyOf row: Int, to writer: inout ByteWriter) {
        writer.append(prefix)
        writer.append(id(row))
    }
}

extension UnsafeMutableRawPointer {
    @inline(__always)
    fileprivate func write(_ byte: UInt8) -> Int {
        storeBytes(of: byte, as: UInt8.self)
        return 1
    }

    /// Writes bytes of a block, with room for sixteen: few are copied without a call.
    @inline(__always)
    fileprivate func write(_ bytes: Bytes) -> Int {
        guard let start = bytes.baseAddress else { return 0 }
        if bytes.count <= 16 {
            storeBytes(of: start.loadUnaligned(as: SIMD16<UInt8>.self), as: SIMD16<UInt8>.self)
        } else {
            copyMemory(from: start, byteCount: bytes.count)
        }
        return bytes.count
    }

    @inline(__always)
    fileprivate func write(varint number: UInt64) -> Int {
        var (rest, count) = (number, 0)
        while rest >= 0x80 {
            (self + count).storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
            rest >>= 7
            count += 1
        }
        (self + count).storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
        return count + 1
    }

    @inline(__always)
    fileprivate func write(zigzag number: Int64) -> Int {
        write(varint: UInt64(bitPattern: number << 1 ^ number >> 63))
    }

    @inline(__always)
    fileprivate func write(integer number: Int64) -> Int {
        if (0..<64).contains(number) { return write(ValueTag.smallInteger | UInt8(number)) }
        return write(ValueTag.integer) + (self + 1).write(zigzag: number)
    }

    /// Writes what comes before the bytes of a string of no special form.
    @inline(__always)
    fileprivate func write(lengthOfText count: Int) -> Int {
        if count < 128 { return write(ValueTag.shortText | UInt8(count)) }
        return write(ValueTag.text) + (self + 1).write(varint: UInt64(count))
    }
}
