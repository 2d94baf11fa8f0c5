// The columns that the rows of a table have, and the number of rows: read in one pass that looks only at the shapes of rows.

/// The columns of a table's rows, and the number of rows.
package struct TableOutline: Hashable, Sendable {
    /// Without the id, in the order in which the store met them.
    package var columns: [String]
    package var count: Int
}

extension StateReader {
    /// Reads a table's outline. Returns nil if `isWanted`, which is called from time to time, returns false.
    package func outline(of table: String, while isWanted: () -> Bool = { true }) throws(SyncError) -> TableOutline? {
        let cursor = try RowCursor(self, table: table)
        var shapes = ShapeCollection()
        var count = 0
        while let row = cursor.row {
            count += 1
            if count & 4095 == 0, !isWanted() { return nil }
            row.forEachShape { shapes.add($0, isShared: !cursor.isDecoded) }
            try cursor.advance()
        }
        return TableOutline(columns: shapes.columns(of: cursor.known), count: count)
    }
}

/// The shapes that rows have.
private struct ShapeCollection {
    private var addresses: Set<UnsafeMutableRawPointer> = []
    /// Rows of a table mostly alternate between two shapes.
    private var last: UnsafeMutableRawPointer?
    private var lastButOne: UnsafeMutableRawPointer?
    /// Shapes of rows that were decoded, which no list has.
    private var others: Set<RowShape> = []

    @inline(__always)
    mutating func add(_ shape: Unmanaged<RowShape>, isShared: Bool) {
        if !isShared {
            others.insert(shape.takeUnretainedValue())
            return
        }
        let address = shape.toOpaque()
        if address == last || address == lastButOne { return }
        lastButOne = last
        last = address
        addresses.insert(address)
    }

    /// The names, in the order of the shapes.
    func columns(of known: ShapeList) -> [String] {
        // Swift treats two spellings of an accented letter as equal.
        var added: Set<[UInt8]> = []
        var names: [String] = []
        func add(_ shape: RowShape) {
            for name in shape.names where added.insert(Array(name.utf8)).inserted { names.append(name) }
        }
        for reference in known.references where addresses.contains(reference.toOpaque()) {
            add(reference.takeUnretainedValue())
        }
        for shape in others.sorted(by: { $0.names.lexicographicallyPrecedes($1.names) }) { add(shape) }
        return names
    }
}
