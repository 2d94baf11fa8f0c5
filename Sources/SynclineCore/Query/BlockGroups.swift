// The rows of blocks in columns, added to the groups of an aggregate many at a time: what rows of a block have in common is
// looked at once.

import SynclineGround

final class BlockGroups: BlockTaker {
    /// The rows of a block that are in one group.
    private struct Slot {
        let group: Int
        /// How many of its rows are counted in the group.
        let counted: Int
        var rows = 0
    }

    /// The least or greatest number of a slot, and the first of the rows that have it.
    private struct Best {
        var number = UInt64.max
        var rows = 0
        var first = 0
    }

    /// The groups, which nothing else uses meanwhile.
    private let groups: UnsafeMutablePointer<RowGroups>
    private let shapes: ShapeList
    /// How long the part of a key before the form of its id is.
    private let prefixLength: Int
    @exclusivity(unchecked) private var slots: [Slot] = []
    /// The slot of each row, if there are several.
    private let slotOfRow = UnsafeMutablePointer<UInt16>.allocate(capacity: 1 << 16)
    @exclusivity(unchecked) private var seen = SeenValues()
    @exclusivity(unchecked) private var groupOfValue: [Int] = []
    @exclusivity(unchecked) private var key = ByteWriter(capacity: 128)
    /// The rows of one group, and those of them with one value.
    @exclusivity(unchecked) private var part = RowBits()
    @exclusivity(unchecked) private var same = RowBits()

    init(_ groups: UnsafeMutablePointer<RowGroups>, _ shapes: ShapeList) {
        (self.groups, self.shapes) = (groups, shapes)
        prefixLength = RowKey.prefixLength(groups.pointee.aggregate.table)
    }

    deinit { slotOfRow.deallocate() }

    func beginLayer() {
        // A group is spelled as in the row with the lowest id, so that the first row with a value is looked at again.
        seen = SeenValues()
        groupOfValue.removeAll(keepingCapacity: true)
    }

    func take(
        _ bits: borrowing RowBits, of block: ColumnBlock, _ row: ColumnRow, _ shape: Unmanaged<RowShape>
    ) throws(SyncError) -> Bool {
        guard let places = groups.pointee.keyPlaces(in: shape) else { return false }
        let known = places.filter { $0 < block.valueCount }
        if groups.pointee.keys.isEmpty {
            groups.pointee.addRows(bits.count, to: 0)
            try addAll(bits, block, row, shape, to: 0)
        } else if known.isEmpty, let first = bits.next(from: bits.rows.lowerBound) {
            let group = try group(of: first, block, row)
            groups.pointee.addRows(bits.count - 1, to: group)
            try addAll(bits, block, row, shape, to: group)
        } else if known.count == 1, let codes = ColumnCodes(block, block.columns[known[0]]), codes.isFew,
            seen.begin(block, block.columns[known[0]])
        {
            try addGroups(bits, block, row, shape, codes, block.columns[known[0]])
        } else {
            guard try findSlots(bits, block, row, known) else { return false }
            for slot in slots { groups.pointee.addRows(slot.rows - slot.counted, to: slot.group) }
            try forEachFunction(block, shape) { place, number throws(SyncError) in
                try add(bits, block, row, place, number)
            }
        }
        return true
    }

    /// Calls `body` with each function whose column the block has, and the column's position.
    private func forEachFunction(
        _ block: ColumnBlock, _ shape: Unmanaged<RowShape>, _ body: (Int, Int) throws(SyncError) -> Void
    ) throws(SyncError) {
        for number in groups.pointee.columns.indices {
            guard let place = groups.pointee.columns[number].column.place(in: shape), place < block.valueCount else {
                continue
            }
            try body(place, number)
        }
    }

    /// Calls `body` with a row as an app sees it.
    private func show(
        _ number: Int, _ block: ColumnBlock, _ row: ColumnRow, _ body: (EncodedRowView) throws(SyncError) -> Void
    ) throws(SyncError) {
        row.move(to: number)
        key.removeAll()
        block.append(keyOf: number, to: &key)
        let view = try EncodedRowView(table: prefixLength, key: key.inPlace, value: ValueView(row), shapes)
        if let view { try body(view) }
    }

    // MARK: One group

    /// Adds rows by a column with few values.
    private func addGroups(
        _ bits: borrowing RowBits, _ block: ColumnBlock, _ row: ColumnRow, _ shape: Unmanaged<RowShape>,
        _ codes: ColumnCodes, _ column: ColumnBlock.Column
    ) throws(SyncError) {
        for code in 0..<codes.count {
            part.begin(bits)
            codes.keep(part, block, code: code)
            guard let first = part.next(from: part.rows.lowerBound) else { continue }
            let (_, group, counted) = try find(first, block, row, column)
            groups.pointee.addRows(part.count - counted, to: group)
            try addAll(part, block, row, shape, to: group)
        }
    }

    /// Adds what rows of one group have.
    private func addAll(
        _ bits: borrowing RowBits, _ block: ColumnBlock, _ row: ColumnRow, _ shape: Unmanaged<RowShape>, to group: Int
    ) throws(SyncError) {
        try forEachFunction(block, shape) { place, number throws(SyncError) in
            let (column, function) = (block.columns[place], groups.pointee.columns[number].function)
            let way = Way(
                groups.pointee.aggregate.functions[function], groups.pointee.columns[number].type, column, in: block)
            if way != .each, column.nulls == nil,
                let planes = BitPlanes(block, at: column.start + 8, width: column.width)
            {
                if way == .sum {
                    groups.pointee.add(
                        bits.count, block.least(of: column), above: planes.sum(of: bits), to: group, function)
                } else {
                    same.begin(bits)
                    planes.keepBest(same, isGreatest: way == .greatest)
                    try addSame(block, row, place, to: group, function)
                }
            } else if let codes = ColumnCodes(block, column), codes.isFew {
                for code in 0..<codes.count {
                    same.begin(bits)
                    codes.keep(same, block, code: code)
                    try addSame(block, row, place, to: group, function)
                }
            } else {
                slots.removeAll(keepingCapacity: true)
                slots.append(Slot(group: group, counted: 0, rows: bits.count))
                try add(bits, block, row, place, number)
            }
        }
    }

    /// Adds the rows that have one value.
    private func addSame(
        _ block: ColumnBlock, _ row: ColumnRow, _ place: Int, to group: Int, _ function: Int
    ) throws(SyncError) {
        guard let first = same.next(from: same.rows.lowerBound) else { return }
        try add(Best(rows: same.count, first: first), block, row, place, to: group, function)
    }

    // MARK: Several groups

    /// Finds the group of each row. Returns false if that takes each row.
    private func findSlots(
        _ bits: borrowing RowBits, _ block: ColumnBlock, _ row: ColumnRow, _ places: [Int]
    ) throws(SyncError) -> Bool {
        slots.removeAll(keepingCapacity: true)
        var codes = RowCodes()
        for place in places {
            if codes.add(ColumnCodes(block, block.columns[place])) { continue }
            if places.count > 1 { return false }
            return try findSlots(bits, block, row, block.columns[place])
        }
        var slotOfCode = [Int](repeating: -1, count: codes.count)
        try bits.forEach { number throws(SyncError) in
            let code = codes.code(of: number, block)
            if slotOfCode[code] < 0 {
                slotOfCode[code] = slots.count
                slots.append(Slot(group: try group(of: number, block, row), counted: 1))
            }
            slots[slotOfCode[code]].rows += 1
            slotOfRow[number] = UInt16(truncatingIfNeeded: slotOfCode[code])
        }
        return true
    }

    /// The same for a column with many values, whose groups are kept.
    private func findSlots(
        _ bits: borrowing RowBits, _ block: ColumnBlock, _ row: ColumnRow, _ column: ColumnBlock.Column
    ) throws(SyncError) -> Bool {
        guard seen.begin(block, column) else { return false }
        try bits.forEach { number throws(SyncError) in
            let (value, group, counted) = try find(number, block, row, column)
            let slot = seen.slot(of: value) { slots.append(Slot(group: group, counted: counted)) }
            slots[slot].rows += 1
            slotOfRow[number] = UInt16(truncatingIfNeeded: slot)
        }
        return true
    }

    /// The number of a row's value, its group, and how many rows were counted there: the first one with a value is.
    private func find(
        _ number: Int, _ block: ColumnBlock, _ row: ColumnRow, _ column: ColumnBlock.Column
    ) throws(SyncError) -> (value: Int, group: Int, counted: Int) {
        let value = seen.number(of: number, block, column)
        if value < groupOfValue.count { return (value, groupOfValue[value], 0) }
        groupOfValue.append(try group(of: number, block, row))
        return (value, groupOfValue[value], 1)
    }

    /// Finds the group of a row, and counts the row there.
    private func group(of number: Int, _ block: ColumnBlock, _ row: ColumnRow) throws(SyncError) -> Int {
        var found: Int?
        try show(number, block, row) { view throws(SyncError) in found = try groups.pointee.begin(view) }
        guard let found else { throw .malformed("a run's block") }
        return found
    }

    @inline(__always)
    private func slot(of row: Int) -> Int { slots.count == 1 ? 0 : Int(slotOfRow[row]) }

    // MARK: Functions

    /// Adds a column to what a function computes.
    private func add(
        _ bits: borrowing RowBits, _ block: ColumnBlock, _ row: ColumnRow, _ place: Int, _ number: Int
    ) throws(SyncError) {
        let column = block.columns[place]
        let function = groups.pointee.columns[number].function
        if let codes = ColumnCodes(block, column), codes.count * slots.count <= 1 << 10 {
            return try addCodes(bits, block, row, place, codes, function)
        }
        let way = Way(
            groups.pointee.aggregate.functions[function], groups.pointee.columns[number].type, column, in: block)
        switch way {
        case .sum: addNumbers(bits, block, column, function)
        case .least: try addBest(bits, block, row, place, flip: 0, function)
        case .greatest: try addBest(bits, block, row, place, flip: .max, function)
        case .each: try addEach(bits, block, row, place, function)
        }
    }

    /// Adds a column with few values.
    private func addCodes(
        _ bits: borrowing RowBits, _ block: ColumnBlock, _ row: ColumnRow, _ place: Int, _ codes: ColumnCodes,
        _ function: Int
    ) throws(SyncError) {
        var found = [Best](repeating: Best(), count: codes.count * slots.count)
        bits.forEach { number in
            let index = slot(of: number) * codes.count + codes.code(of: number, block)
            if found[index].rows == 0 { found[index].first = number }
            found[index].rows += 1
        }
        for (index, best) in found.enumerated() where best.rows > 0 {
            try add(best, block, row, place, to: slots[index / codes.count].group, function)
        }
    }

    private func addNumbers(
        _ bits: borrowing RowBits, _ block: ColumnBlock, _ column: ColumnBlock.Column, _ function: Int
    ) {
        let (start, width, least) = (column.start + 8, column.width, block.least(of: column))
        if slots.count == 1, column.nulls == nil {
            var above: UInt64 = 0
            bits.forEach { above &+= block.packed(start, width, $0) }
            groups.pointee.add(slots[0].rows, least, above: above, to: slots[0].group, function)
            return
        }
        var sums = [(rows: Int, above: UInt64)](repeating: (0, 0), count: slots.count)
        bits.forEach { number in
            if block.isNull(column, number) { return }
            let slot = slot(of: number)
            sums[slot].rows += 1
            sums[slot].above &+= block.packed(start, width, number)
        }
        for (slot, sum) in zip(slots, sums) {
            groups.pointee.add(sum.rows, least, above: sum.above, to: slot.group, function)
        }
    }

    /// Adds the least or greatest numbers of a column.
    /// - Parameter flip: The bits that turn the wanted one into the least.
    private func addBest(
        _ bits: borrowing RowBits, _ block: ColumnBlock, _ row: ColumnRow, _ place: Int, flip: UInt64, _ function: Int
    ) throws(SyncError) {
        let column = block.columns[place]
        let (start, width) = (column.start + 8, column.width)
        var found = [Best](repeating: Best(), count: slots.count)
        bits.forEach { number in
            if block.isNull(column, number) { return }
            let slot = slot(of: number)
            let value = block.packed(start, width, number) ^ flip
            if value > found[slot].number { return }
            if value < found[slot].number || found[slot].rows == 0 {
                found[slot] = Best(number: value, rows: 1, first: number)
            } else {
                found[slot].rows += 1
            }
        }
        for (slot, best) in zip(slots, found) where best.rows > 0 {
            try add(best, block, row, place, to: slot.group, function)
        }
    }

    /// Adds rows that have the value of the first of them.
    private func add(
        _ best: Best, _ block: ColumnBlock, _ row: ColumnRow, _ place: Int, to group: Int, _ function: Int
    ) throws(SyncError) {
        try show(best.first, block, row) { view throws(SyncError) in
            guard let value = row.value(place) else { throw .malformed("a run's block") }
            try groups.pointee.add(value, of: view, times: best.rows, to: group, function)
        }
    }

    private func addEach(
        _ bits: borrowing RowBits, _ block: ColumnBlock, _ row: ColumnRow, _ place: Int, _ function: Int
    ) throws(SyncError) {
        try bits.forEach { number throws(SyncError) in
            let group = slots[slot(of: number)].group
            try add(Best(rows: 1, first: number), block, row, place, to: group, function)
        }
    }
}

/// How the values of a column of a block are added to what a function computes.
private enum Way {
    /// A sum of numbers; the rows with the least or greatest number; each value.
    case sum, least, greatest, each

    init(
        _ function: RowAggregate.Function, _ type: ColumnType, _ column: ColumnBlock.Column,
        in block: borrowing ColumnBlock
    ) {
        self = .each
        switch column.encoding {
        case .integers:
            // Large ones may have one meaning as doubles.
            let areSmall = column.width <= 52 && block.least(of: column).magnitude < 1 << 52
            guard type.isPlain || type == .integer || type.isDecimal || type == .number && areSmall else { return }
        case .instants: guard type.isPlain || type == .date else { return }
        default: return
        }
        switch function {
        case .count: break
        case .min: self = .least
        case .max: self = .greatest
        // The sum of what they have above the least must fit 64 bits.
        case .sum, .average: if column.encoding == .integers, column.width <= 48 { self = .sum }
        }
    }
}
