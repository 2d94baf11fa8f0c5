// Finds the rows of blocks in columns that a query wants: those that a filter leaves, and that do not come after the edge of
// its result.

import SynclineGround

/// Takes the wanted rows of blocks in columns, many at a time.
protocol BlockTaker: AnyObject {
    /// Rows with greater keys may have come before those that come next.
    func beginLayer()
    /// Returns false if each row is to be shown.
    func take(
        _ bits: borrowing RowBits, of block: ColumnBlock, _ row: ColumnRow, _ shape: Unmanaged<RowShape>
    ) throws(SyncError) -> Bool
}

final class BlockFilter: ColumnFilter {
    private let program: FilterProgram?
    private let shapes: ShapeList
    private let taker: (any BlockTaker)?
    @exclusivity(unchecked) private var edge: (edge: OrderEdge, column: ColumnPlace, name: String)?
    /// How many rows were left out.
    @exclusivity(unchecked) private(set) var leftOut = 0
    /// How many were taken. An app sees every row of a block in columns.
    @exclusivity(unchecked) private(set) var taken = 0

    init(_ program: FilterProgram?, _ shapes: ShapeList, _ taker: (any BlockTaker)? = nil) {
        (self.program, self.shapes, self.taker) = (program, shapes, taker)
    }

    func beginLayer() { taker?.beginLayer() }

    func take(_ bits: borrowing RowBits, of block: ColumnBlock, _ row: ColumnRow) throws(SyncError) -> Bool {
        guard let taker, let shape = shape(of: block) else { return false }
        let count = bits.count
        if count > 0 { guard try taker.take(bits, of: block, row, shape) else { return false } }
        taken += count
        return true
    }

    private func shape(of block: ColumnBlock) -> Unmanaged<RowShape>? {
        guard let number = block.shape, number < shapes.references.count else { return nil }
        return shapes.references[number]
    }

    /// From now on, rows are left out that certainly come after an edge in the order of a column.
    func leaveOut(after edge: OrderEdge, by column: String) { self.edge = (edge, ColumnPlace(), column) }

    func removeUnwanted(from bits: borrowing RowBits, of block: ColumnBlock, _ row: ColumnRow) -> Bool {
        guard let shape = shape(of: block) else { return false }
        let count = bits.count
        defer { leftOut += count - bits.count }
        if let edge, let place = self.edge?.column.place(edge.name, shape), place < block.valueCount {
            edge.edge.keep(bits, block, block.columns[place], row)
        }
        return program?.removeUnwanted(from: bits, of: block, row, shape) ?? true
    }
}

/// Takes rows to count them.
final class BlockCount: BlockTaker {
    func beginLayer() {}

    func take(_: borrowing RowBits, of _: ColumnBlock, _: ColumnRow, _: Unmanaged<RowShape>) -> Bool { true }
}

extension ColumnBlock {
    /// Keeps the rows whose number in a column without nulls compares so with a literal.
    func keep(
        _ bits: borrowing RowBits, _ column: Column, _ comparison: FilterExpression.Comparison, _ literal: Int64
    ) {
        let least = least(of: column)
        let (start, width) = (column.start + 8, column.width)
        // What the literal has above the least number. If it is below it, all numbers are greater.
        let wanted = literal < least ? nil : UInt64(bitPattern: literal &- least)
        if let wanted, let planes = BitPlanes(self, at: start, width: width) {
            return planes.keep(bits, comparison, wanted)
        }
        switch (comparison, wanted) {
        case (.equal, nil), (.less, nil), (.lessOrEqual, nil): bits.removeAll()
        case (.notEqual, nil), (.greater, nil), (.greaterOrEqual, nil): break
        case (.equal, let wanted?): bits.keep { packed(start, width, $0) == wanted }
        case (.notEqual, let wanted?): bits.keep { packed(start, width, $0) != wanted }
        case (.less, let wanted?): bits.keep { packed(start, width, $0) < wanted }
        case (.lessOrEqual, let wanted?): bits.keep { packed(start, width, $0) <= wanted }
        case (.greater, let wanted?): bits.keep { packed(start, width, $0) > wanted }
        case (.greaterOrEqual, let wanted?): bits.keep { packed(start, width, $0) >= wanted }
        }
    }
}

extension FilterExpression.Comparison {
    /// Whether it is true of two values, of which the left one comes before (-1), at (0) or after (1) the right one.
    @inline(__always)
    func holds(order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        }
    }
}

extension OrderEdge {
    /// Keeps the rows that may come before it.
    fileprivate func keep(
        _ bits: borrowing RowBits, _ block: ColumnBlock, _ column: ColumnBlock.Column, _ row: ColumnRow
    ) {
        switch (column.encoding, content) {
        case (.instants, .instant(let edge)), (.integers, .integer(let edge)):
            if column.nulls == nil { block.keep(bits, column, isDescending ? .greaterOrEqual : .lessOrEqual, edge) }
        case (.symbols, .text(let edge)):
            guard column.nulls == nil else { return }
            let wanted = edge.withBytes { $0.head() }
            bits.keep { place in
                row.leading(block.text(column, place)).map { isDescending ? $0 >= wanted : $0 <= wanted } ?? true
            }
        default: break
        }
    }
}
