// The values of columns of a block by small numbers, and of columns with many values by numbers that stay the same from block
// to block.

import SynclineGround

/// A column with few values: each row has the code of its value.
struct ColumnCodes {
    let count: Int
    private let start: Int
    private let width: Int
    /// The code of the last value but null.
    private let last: Int
    private let column: ColumnBlock.Column
    private let planes: BitPlanes?

    /// Whether the rows of a code are found many at a time.
    var isFew: Bool { planes != nil && count <= ColumnCodes.few }

    /// Sixteen values and null: beyond them, looking at each row takes less time.
    private static let few = 17

    /// Nil for a column that may have many values.
    init?(_ block: borrowing ColumnBlock, _ column: ColumnBlock.Column) {
        let values: Int
        switch column.encoding {
        case .constant: (start, width, values) = (column.start, 0, 1)
        case .flags: (start, width, values) = (column.start, 1, 2)
        case .dictionary: (start, width, values) = (block.codes(of: column), column.width, column.count)
        case .integers, .instants:
            guard column.width <= PackedNumbers.mostPlanes else { return nil }
            (start, width, values) = (column.start + 8, column.width, 1 << column.width)
        default: return nil
        }
        self.column = column
        planes = BitPlanes(block, at: start, width: width)
        last = values - 1
        count = column.nulls == nil ? values : values + 1
    }

    @inline(__always)
    func code(of row: Int, _ block: ColumnBlock) -> Int {
        if column.nulls != nil, block.isNull(column, row) { return last + 1 }
        return min(Int(block.packed(start, width, row)), last)
    }

    /// Keeps the rows with a code.
    func keep(_ bits: borrowing RowBits, _ block: ColumnBlock, code: Int) {
        let nulls = column.nulls.flatMap { BitPlanes(block, at: $0, width: 1) }
        if let nulls { nulls.keep(bits, .equal, code > last ? 1 : 0) }
        // A number that no value has stands for the last one.
        if code <= last { planes?.keep(bits, code == last ? .greaterOrEqual : .equal, UInt64(code)) }
    }

    /// Keeps the rows of a column without nulls whose codes are wanted.
    func keep(_ bits: borrowing RowBits, _ block: ColumnBlock, where isWanted: (Int) -> Bool) {
        guard count <= 64, let planes else {
            let areWanted = (0..<count).map(isWanted)
            return bits.keep { areWanted[code(of: $0, block)] }
        }
        let all = UInt64.max >> UInt64(64 - count)
        var wanted: UInt64 = 0
        for code in 0..<count where isWanted(code) { wanted |= 1 << UInt64(code) }
        if wanted == all { return }
        if wanted == 0 { return bits.removeAll() }
        // A number that no value has stands for the last one.
        let isLastWanted = wanted >> UInt64(last) != 0
        let told = isLastWanted ? all & ~wanted : wanted
        bits.keepWords { word in
            var (found, rest): (UInt64, UInt64) = (0, told)
            while rest != 0 {
                let code = rest.trailingZeroBitCount
                if code >> planes.width == 0 { found |= planes.comparison(with: UInt64(code), word).equal }
                rest &= rest &- 1
            }
            return isLastWanted ? ~found : found
        }
    }
}

/// The codes of several columns as one.
struct RowCodes {
    private(set) var count = 1
    private var columns: [ColumnCodes] = []

    /// Returns false if there would be too many.
    mutating func add(_ column: ColumnCodes?) -> Bool {
        guard let column, count * column.count <= 1 << 12 else { return false }
        count *= column.count
        columns.append(column)
        return true
    }

    @inline(__always)
    func code(of row: Int, _ block: ColumnBlock) -> Int {
        columns.reduce(0) { $0 * $1.count + $1.code(of: row, block) }
    }
}

/// Values of a column in several blocks, by numbers in the order in which they were seen. Two numbers may be of one value,
/// if blocks write it differently.
struct SeenValues {
    private var writer = ByteWriter(capacity: 128)
    private var values = DistinctBytes()
    /// The slots of values in the current block, and the number of the last block of each.
    private var slots: [(block: Int, slot: Int)] = []
    private var block = 0
    private var slotCount = 0
    /// The ways in which values were written.
    private var ways: [(encoding: ColumnEncoding, symbols: SymbolTable?)] = []
    private var way: UInt8 = 0

    /// Begins with the rows of a block. Returns false if values are written in too many ways.
    mutating func begin(_ block: ColumnBlock, _ column: ColumnBlock.Column) -> Bool {
        let symbols = column.encoding == .symbols ? block.symbols : nil
        let known = ways.firstIndex { $0.encoding == column.encoding && $0.symbols === symbols }
        if known == nil { ways.append((column.encoding, symbols)) }
        guard let way = UInt8(exactly: known ?? ways.count - 1) else { return false }
        self.way = way
        self.block += 1
        slotCount = 0
        return true
    }

    /// The number of a row's value.
    mutating func number(of row: Int, _ block: ColumnBlock, _ column: ColumnBlock.Column) -> Int {
        writer.removeAll()
        writer.append(way)
        if !block.isNull(column, row) {
            writer.append(1)
            block.append(storedValue: column, row, to: &writer)
        }
        let number = values.add(writer.inPlace)
        if number == slots.count { slots.append((0, 0)) }
        return number
    }

    /// The slot of a value in the block: the next one, for which `add` is called, if the value is new there.
    @inline(__always)
    mutating func slot(of value: Int, _ add: () -> Void) -> Int {
        if slots[value].block == block { return slots[value].slot }
        slots[value] = (block, slotCount)
        slotCount += 1
        add()
        return slotCount - 1
    }
}
