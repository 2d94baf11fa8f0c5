// Finds the rows of blocks in columns that a query wants: those that a filter leaves, and that do not come after the edge of
// its result.

import SynclineGround

final class BlockFilter: ColumnFilter {
    private let program: FilterProgram?
    private let shapes: ShapeList
    @exclusivity(unchecked) private var edge: (edge: OrderEdge, column: ColumnPlace, name: String)?
    /// How many rows were left out.
    @exclusivity(unchecked) private(set) var leftOut = 0
    let countsOnly: Bool
    /// The number of rows that were only counted. An app sees every row of a block in columns.
    @exclusivity(unchecked) private(set) var counted = 0

    init(_ program: FilterProgram?, _ shapes: ShapeList, countsOnly: Bool = false) {
        (self.program, self.shapes, self.countsOnly) = (program, shapes, countsOnly)
    }

    func count(_ rows: Int) { counted += rows }

    /// From now on, rows are left out that certainly come after an edge in the order of a column.
    func leaveOut(after edge: OrderEdge, by column: String) { self.edge = (edge, ColumnPlace(), column) }

    func removeUnwanted(from bits: borrowing RowBits, of block: ColumnBlock, _ row: ColumnRow) -> Bool {
        guard let number = ColumnSplit.shape(block.head), number < shapes.references.count else { return false }
        let shape = shapes.references[number]
        defer { leftOut += bits.rows.count - bits.count }
        if let edge, let place = self.edge?.column.place(edge.name, shape), place < block.valueCount {
            edge.edge.keep(bits, block, block.columns[place], row)
        }
        return program?.removeUnwanted(from: bits, of: block, row, shape) ?? true
    }
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
            let wanted = edge.withBytes { $0.head }
            bits.keep { place in
                row.leading(block.text(column, place)).map { isDescending ? $0 >= wanted : $0 <= wanted } ?? true
            }
        default: break
        }
    }
}
