// The steps of a filter that look at one column: they decide on its encoded values, or on the rows of a block in columns many
// at a time.

import SynclineGround

/// A column compared with a literal.
class ComparisonStep: FilterStep {
    @exclusivity(unchecked) final var column: ColumnPlaces
    final let comparison: FilterExpression.Comparison

    init(_ column: String, _ comparison: FilterExpression.Comparison, _ filter: FilterExpression) {
        self.column = ColumnPlaces(column)
        self.comparison = comparison
        super.init(filter)
    }

    /// A row without the column differs from any literal, and matches no other comparison.
    var absent: Bool? { comparison == .notEqual ? true : nil }

    /// What a value that the column has decides.
    func decision(_ value: Bytes) -> Decision { .open }

    override func truth(of row: RowPointer, _ work: FilterWork) -> Bool? {
        guard let value = row.pointee.encoded(&column) else { return absent }
        switch decision(value) {
        case .yes: return true
        case .no: return false
        case .unknown: return nil
        case .open: return filter.truth(of: row.pointee, work)
        }
    }

    override func keepMatches(
        in bits: borrowing RowBits, of block: ColumnBlock, _ row: ColumnRow, _ shape: Unmanaged<RowShape>
    ) -> Bool {
        guard let place = column.under.place(column.name, shape), place < block.valueCount else {
            if absent != true { bits.removeAll() }
            return true
        }
        return keepMatches(in: bits, of: block, block.columns[place]) ?? keepEach(bits, place, row)
    }

    /// Keeps the rows for which the encoded column decides it; nil if each row has to be looked at.
    func keepMatches(in bits: borrowing RowBits, of block: ColumnBlock, _ column: ColumnBlock.Column) -> Bool? {
        guard column.nulls == nil else { return nil }
        switch column.encoding {
        case .constant:
            switch decision(block.bytes.slice(column.start, column.count)) {
            case .yes: return true
            case .open: return false
            case .no, .unknown: bits.removeAll()
            }
            return true
        case .dictionary:
            var isSure = true
            ColumnCodes(block, column)?.keep(bits, block) { code in
                switch decision(block.entry(code, of: column)) {
                case .yes: return true
                case .no, .unknown: return false
                case .open:
                    isSure = false
                    return true
                }
            }
            return isSure
        default: return nil
        }
    }

    private func keepEach(_ bits: borrowing RowBits, _ place: Int, _ row: ColumnRow) -> Bool {
        var isSure = true
        bits.keep { number in
            row.move(to: number)
            guard let value = row.value(place) else { return absent == true }
            switch decision(value) {
            case .yes: return true
            case .no, .unknown: return false
            case .open:
                isSure = false
                return true
            }
        }
        return isSure
    }

    final func holds(_ order: Int) -> Bool { comparison.holds(order: order) }
}

/// Compares a column of numbers with one that is an integer, a double or both. Integers and doubles that stand for each
/// other exactly are compared as such; the evaluator compares all others.
final class NumberStep: ComparisonStep {
    private let integer: Int64?
    private let double: Double?
    private let type: ColumnType

    init(
        _ column: String, _ type: ColumnType, _ comparison: FilterExpression.Comparison, _ integer: Int64?,
        _ double: Double?, _ filter: FilterExpression
    ) {
        self.integer = integer
        self.double = double
        self.type = type
        super.init(column, comparison, filter)
    }

    override func keepMatches(
        in bits: borrowing RowBits, of block: ColumnBlock, _ column: ColumnBlock.Column
    ) -> Bool? {
        guard column.encoding == .integers, column.nulls == nil, let integer else {
            return super.keepMatches(in: bits, of: block, column)
        }
        block.keep(bits, column, comparison, integer)
        return true
    }

    override func decision(_ value: Bytes) -> Decision {
        guard let tag = value.first else { return .init(absent) }
        if tag & 0xc0 == ValueTag.smallInteger {
            if let result = result(Int64(tag & 0x3f)) { return .init(result) }
        } else if tag == ValueTag.integer {
            var reader = ByteReader(Bytes(rebasing: value[1...]))
            guard let number = try? reader.zigzag() else { return .init(absent) }
            if let result = result(number) { return .init(result) }
        } else if tag == ValueTag.double, type != .integer, let double {
            var reader = ByteReader(value, at: 1)
            guard let bits: UInt64 = try? reader.fixed() else { return .init(absent) }
            let stored = Double(bitPattern: bits)
            if NumberStep.isComparable(stored, type) {
                return .init(holds(stored < double ? -1 : stored == double ? 0 : 1))
            }
        }
        return .open
    }

    private func result(_ stored: Int64) -> Bool? {
        if let integer { return holds(stored < integer ? -1 : stored == integer ? 0 : 1) }
        guard let double, let stored = Double(exactly: stored) else { return nil }
        return holds(stored < double ? -1 : stored == double ? 0 : 1)
    }

    /// Whether a double is compared as such. Far from 1 it may not fit a column of decimals.
    static func isComparable(_ number: Double, _ type: ColumnType) -> Bool {
        type.isDecimal ? number == 0 || (1e-100...1e100).contains(abs(number)) : number.isFinite
    }
}

/// Compares a column of dates that are written in UTC with three decimals.
final class InstantStep: ComparisonStep {
    private let milliseconds: Int64

    init(
        _ column: String, _ comparison: FilterExpression.Comparison, _ milliseconds: Int64, _ filter: FilterExpression
    ) {
        self.milliseconds = milliseconds
        super.init(column, comparison, filter)
    }

    override func keepMatches(
        in bits: borrowing RowBits, of block: ColumnBlock, _ column: ColumnBlock.Column
    ) -> Bool? {
        guard column.encoding == .instants, column.nulls == nil else {
            return super.keepMatches(in: bits, of: block, column)
        }
        block.keep(bits, column, comparison, milliseconds)
        return true
    }

    override func decision(_ value: Bytes) -> Decision {
        guard value.first == ValueTag.instant else { return .open }
        var reader = ByteReader(value, at: 1)
        guard let stored = try? reader.zigzag() else { return .init(absent) }
        return .init(holds(stored < milliseconds ? -1 : stored == milliseconds ? 0 : 1))
    }
}

/// Compares a column of UUIDs that are written in one case.
final class UUIDStep: ComparisonStep {
    private let digits: [UInt8]

    init(
        _ column: String, _ comparison: FilterExpression.Comparison, _ digits: UUIDDigits, _ filter: FilterExpression
    ) {
        var writer = ByteWriter(capacity: 16)
        writer.append(digits)
        self.digits = writer.bytes
        super.init(column, comparison, filter)
    }

    override func decision(_ value: Bytes) -> Decision {
        guard let tag = value.first else { return .init(absent) }
        guard tag == ValueTag.upperUUID || tag == ValueTag.lowerUUID, value.count > 16 else { return .open }
        let stored = Bytes(rebasing: value[1..<17])
        return .init(holds(digits.withBytes { stored.compare($0) }))
    }
}

final class TextStep: ComparisonStep {
    private let text: [UInt8]

    init(_ column: String, _ comparison: FilterExpression.Comparison, _ text: [UInt8], _ filter: FilterExpression) {
        self.text = text
        super.init(column, comparison, filter)
    }

    override func decision(_ value: Bytes) -> Decision {
        guard let tag = value.first else { return .init(absent) }
        guard tag >= ValueTag.shortText, value.count > Int(tag & 0x7f) else { return .open }
        let stored = Bytes(rebasing: value[1..<1 + Int(tag & 0x7f)])
        return .init(holds(text.withBytes { stored.compare($0) }))
    }
}

final class FlagStep: ComparisonStep {
    private let flag: Bool

    init(_ column: String, _ comparison: FilterExpression.Comparison, _ flag: Bool, _ filter: FilterExpression) {
        self.flag = flag
        super.init(column, comparison, filter)
    }

    override var absent: Bool? { nil }

    override func keepMatches(
        in bits: borrowing RowBits, of block: ColumnBlock, _ column: ColumnBlock.Column
    ) -> Bool? {
        guard column.encoding == .flags, column.nulls == nil, let start = block.bytes.baseAddress else {
            return super.keepMatches(in: bits, of: block, column)
        }
        bits.remove(start + column.start, where: !flag)
        return true
    }

    override func decision(_ value: Bytes) -> Decision {
        switch value.first {
        case nil: .unknown
        case ValueTag.yes?: flag ? .yes : .no
        case ValueTag.no?: flag ? .no : .yes
        default: .open
        }
    }
}

/// Finds a part of the strings of a column: anywhere, or at their beginning or end.
final class PartStep: ComparisonStep {
    private let function: FilterExpression.Function
    private let part: [UInt8]
    // The strings of a block, one after another, and the row and the end of each.
    @exclusivity(unchecked) private var content = ByteWriter(capacity: 1 << 14)
    @exclusivity(unchecked) private var ends: [(row: Int, end: Int)] = []

    /// Nil for another function, or other arguments.
    init?(
        _ function: FilterExpression.Function, _ arguments: [FilterExpression], _ types: TableTypes,
        _ filter: FilterExpression
    ) {
        switch function {
        case .contains, .startswith, .endswith: break
        default: return nil
        }
        guard case .column(let path) = arguments[0], path.count == 1, path[0] != "id",
            case .literal(.string(let part), _) = arguments[1], !part.isEmpty
        else { return nil }
        self.function = function
        self.part = Array(part.utf8)
        super.init(path[0], .equal, filter)
    }

    override func decision(_ value: Bytes) -> Decision {
        guard let tag = value.first else { return .unknown }
        guard tag >= ValueTag.shortText, value.count > Int(tag & 0x7f) else {
            return tag == ValueTag.null ? .unknown : .open
        }
        return isMatch(Bytes(rebasing: value[1..<1 + Int(tag & 0x7f)])) ? .yes : .no
    }

    private func isMatch(_ text: Bytes) -> Bool {
        part.withBytes { part in
            if text.count < part.count { return false }
            return switch function {
            case .startswith: text.slice(0, part.count).hasSameBytes(as: part)
            case .endswith: text.slice(text.count - part.count, part.count).hasSameBytes(as: part)
            default: text.firstPlace(of: part, from: 0) != nil
            }
        }
    }

    override func keepMatches(
        in bits: borrowing RowBits, of block: ColumnBlock, _ column: ColumnBlock.Column
    ) -> Bool? {
        guard column.encoding == .symbols || column.encoding == .texts, let memory = block.bytes.baseAddress else {
            return super.keepMatches(in: bits, of: block, column)
        }
        if let nulls = column.nulls { bits.remove(memory + nulls, where: true) }
        guard collect(bits, block, column) else { return nil }
        bits.removeAll()
        let content = content.inPlace
        if function == .contains {
            part.withBytes { keepFound($0, bits, content) }
        } else {
            var start = 0
            for (row, end) in ends {
                if isMatch(content.slice(start, end - start)) { bits.add(row) }
                start = end
            }
        }
        return true
    }

    /// Decodes the strings of rows. Returns false if one can't be read.
    private func collect(_ bits: borrowing RowBits, _ block: ColumnBlock, _ column: ColumnBlock.Column) -> Bool {
        content.removeAll()
        ends.removeAll(keepingCapacity: true)
        var isRead = true
        bits.forEach { row in
            isRead = block.append(text: column, row, to: &content) && isRead
            ends.append((row, content.count))
        }
        return isRead
    }

    /// Adds the rows whose strings contain the part. All strings are searched as one; a place on an edge between two is none.
    private func keepFound(_ part: Bytes, _ bits: borrowing RowBits, _ content: Bytes) {
        var (place, number) = (0, 0)
        while let found = content.firstPlace(of: part, from: place) {
            while ends[number].end <= found { number += 1 }
            if found + part.count <= ends[number].end { bits.add(ends[number].row) }
            // Further on in the same string there is no room for the part, or it need not be found again.
            place = ends[number].end
        }
    }
}
