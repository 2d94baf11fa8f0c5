// Writes one column of a block in columns by the encoding that takes the least room.

import SynclineGround

/// The section of one column while it is written.
struct ColumnSection {
    var encoding = ColumnEncoding.any
    var width = 0
    var count = 0
    var start: Int
    var nulls: Int?

    init(start: Int) { self.start = start }

    /// Writes a column of encoded values by the encoding that takes the least room.
    mutating func write(
        _ values: UnsafeBufferPointer<Bytes>, _ symbols: SymbolEncoder?, to block: inout ByteWriter
    ) {
        let first = values[0]
        if values.allSatisfy({ $0.hasSameBytes(as: first) }) {
            (encoding, count) = (.constant, first.count)
            return block.append(first)
        }
        let kinds = ValueKinds(values)
        if kinds.hasNulls {
            nulls = start
            block.append(bits: values.count) { values[$0][0] == ValueTag.null }
            start = block.count
        }
        switch kinds.only {
        case .flag?:
            encoding = .flags
            block.append(bits: values.count) { values[$0][0] == ValueTag.yes }
        case .integer?:
            encoding = .integers
            write(numbers: values, to: &block)
        case .instant?:
            encoding = .instants
            write(numbers: values, to: &block)
        case .text?: writeTexts(values, symbols, to: &block)
        case .fixed(1)?: writeAny(values, to: &block)
        case .fixed(let length)?:
            if !writeDictionary(values, below: values.count * length, to: &block) { write(values, length, to: &block) }
        case nil: writeAny(values, to: &block)
        }
    }

    /// Writes values of one tag and one length, with zeros for nulls.
    private mutating func write(_ values: UnsafeBufferPointer<Bytes>, _ length: Int, to block: inout ByteWriter) {
        (encoding, count) = (.fixed, length - 1)
        block.append(values.first { $0[0] != ValueTag.null }.map { $0[0] } ?? 0)
        for value in values {
            if value.count == length {
                block.append(Bytes(rebasing: value[1...]))
            } else {
                block.append(zeros: length - 1)
            }
        }
    }

    private mutating func writeAny(_ values: UnsafeBufferPointer<Bytes>, to block: inout ByteWriter) {
        let size = values.reduce(0) { $0 + $1.count + 1 }
        if writeDictionary(values, below: size, to: &block) { return }
        encoding = .any
        width = values.contains { $0.count > 255 } ? 2 : 1
        TextSection.write(values, isLong: width == 2, to: &block)
    }

    /// Writes numbers as what they have above the least.
    mutating func write(numbers: UnsafeBufferPointer<UInt64>, to block: inout ByteWriter) {
        encoding = .integers
        write(numbers.count, to: &block) { Int64(bitPattern: numbers[$0]) }
    }

    private mutating func write(numbers values: UnsafeBufferPointer<Bytes>, to block: inout ByteWriter) {
        let some = values.first { $0[0] != ValueTag.null }.map { ColumnSection.number($0) } ?? 0
        write(values.count, to: &block) { values[$0][0] == ValueTag.null ? some : ColumnSection.number(values[$0]) }
    }

    private mutating func write(_ count: Int, to block: inout ByteWriter, _ number: (Int) -> Int64) {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: count) { numbers in
            var (least, greatest) = (Int64.max, Int64.min)
            for row in 0..<count {
                let number = number(row)
                numbers.initializeElement(at: row, to: UInt64(bitPattern: number))
                (least, greatest) = (min(least, number), max(greatest, number))
            }
            let range = UInt64(bitPattern: greatest &- least)
            width = 64 - range.leadingZeroBitCount
            if width > 57 { width = 64 }
            block.append(fixed: UInt64(bitPattern: least))
            block.append(packed: count, width) { numbers[$0] &- UInt64(bitPattern: least) }
        }
    }

    /// The number of an encoded integer or instant.
    private static func number(_ value: Bytes) -> Int64 {
        let tag = value[0]
        if tag & 0xc0 == ValueTag.smallInteger { return Int64(tag & 0x3f) }
        var reader = ByteReader(value, at: 1)
        return (try? reader.zigzag()) ?? 0
    }

    private mutating func writeTexts(
        _ values: UnsafeBufferPointer<Bytes>, _ symbols: SymbolEncoder?, to block: inout ByteWriter
    ) {
        let size = values.reduce(0) { $0 + $1.count }
        withUnsafeTemporaryAllocation(of: Bytes.self, capacity: values.count) { texts in
            for row in values.indices { texts.initializeElement(at: row, to: ColumnSection.text(values[row])) }
            guard let symbols else {
                if writeDictionary(values, below: size, to: &block) { return }
                return write(UnsafeBufferPointer(texts), .texts, to: &block)
            }
            withUnsafeTemporaryAllocation(byteCount: size * 2 + 16, alignment: 8) { memory in
                guard let start = memory.baseAddress else { return }
                var used = 0
                withUnsafeTemporaryAllocation(of: Bytes.self, capacity: values.count) { coded in
                    for row in texts.indices {
                        let length = symbols.encode(texts[row], to: start + used)
                        coded.initializeElement(at: row, to: Bytes(start: start + used, count: length))
                        used += length
                    }
                    if writeDictionary(values, below: used + values.count, to: &block) { return }
                    if used <= size - size / 8 {
                        write(UnsafeBufferPointer(coded), .symbols, to: &block)
                    } else {
                        write(UnsafeBufferPointer(texts), .texts, to: &block)
                    }
                }
            }
        }
    }

    private mutating func write(
        _ texts: UnsafeBufferPointer<Bytes>, _ encoding: ColumnEncoding, to block: inout ByteWriter
    ) {
        self.encoding = encoding
        width = texts.contains { $0.count > 255 } ? 2 : 1
        TextSection.write(texts, isLong: width == 2, to: &block)
    }

    /// The text of a value of no special form; empty for a null.
    private static func text(_ value: Bytes) -> Bytes {
        if value[0] >= ValueTag.shortText { return Bytes(rebasing: value[1...]) }
        var reader = ByteReader(value, at: 1)
        return (try? reader.counted()) ?? Bytes(start: nil, count: 0)
    }

    /// Writes the column with a dictionary, if that takes less room than another encoding. A row with a null has the first
    /// value.
    private mutating func writeDictionary(
        _ values: UnsafeBufferPointer<Bytes>, below limit: Int, to block: inout ByteWriter
    ) -> Bool {
        var known = ValueSet(limit: limit)
        var codes: [UInt16] = []
        codes.reserveCapacity(values.count)
        for value in values {
            if value[0] == ValueTag.null, nulls != nil {
                codes.append(0)
                continue
            }
            guard let code = known.code(of: value) else { return false }
            codes.append(UInt16(code))
        }
        let width = known.values.count > 1 ? 64 - UInt64(known.values.count - 1).leadingZeroBitCount : 0
        guard known.size + 2 + PackedNumbers.size(values.count, width) < limit else { return false }
        (encoding, self.width, count) = (.dictionary, width, known.values.count)
        var offset = 0
        block.append(small: 0)
        for value in known.values {
            offset += value.count
            block.append(small: offset)
        }
        for value in known.values { block.append(value) }
        block.append(packed: values.count, width) { UInt64(codes[$0]) }
        return true
    }
}

/// The kinds of values that a column has.
private struct ValueKinds {
    enum Kind: Equatable {
        case flag, integer, instant, text
        /// All of one tag and one length.
        case fixed(Int)
    }

    private(set) var hasNulls = false
    /// The kind of all values that are not null; nil if there are several.
    private(set) var only: Kind?

    init(_ values: UnsafeBufferPointer<Bytes>) {
        var tag: UInt8?
        var isMixed = false
        for value in values {
            let first = value[0]
            if first == ValueTag.null {
                hasNulls = true
                continue
            }
            let kind: Kind
            switch first {
            case ValueTag.no, ValueTag.yes: kind = .flag
            case ValueTag.smallInteger..<ValueTag.shortText, ValueTag.integer: kind = .integer
            case ValueTag.instant: kind = .instant
            case ValueTag.shortText..., ValueTag.text: kind = .text
            default:
                kind = .fixed(value.count)
                if tag == nil { tag = first } else if tag != first { isMixed = true }
            }
            if only == nil { only = kind } else if only != kind { isMixed = true }
        }
        if isMixed { (only, hasNulls) = (nil, false) }
    }
}

/// Different values, numbered as they come, as long as they take little room.
private struct ValueSet {
    private let limit: Int
    private var slots = [Int16](repeating: -1, count: 1024)
    private(set) var values: [Bytes] = []
    /// The room that the values and their offsets take.
    private(set) var size = 0

    init(limit: Int) { self.limit = limit }

    mutating func code(of value: Bytes) -> Int? {
        var slot = Int(truncatingIfNeeded: hash64(value) & 1023)
        while slots[slot] >= 0 {
            if values[Int(slots[slot])].hasSameBytes(as: value) { return Int(slots[slot]) }
            slot = (slot + 1) & 1023
        }
        size += value.count + 2
        guard values.count < 512, size < limit else { return nil }
        slots[slot] = Int16(values.count)
        values.append(value)
        return values.count - 1
    }
}
