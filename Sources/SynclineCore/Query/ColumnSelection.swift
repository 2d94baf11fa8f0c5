// Some columns of encoded rows, copied without decoding them. Rows of a table mostly have the same columns, so the names of
// a copy's columns are looked up once for all rows that have the same ones.

import SynclineGround

struct ColumnSelection {
    private let names: [String]
    private let shapes: ShapeTable
    private var columns: [ColumnPlaces]
    /// The size of the last copy.
    private var size = 0
    /// Which columns the last row lacked, and the shape of its copy.
    private var lacking: [Int] = []
    private var shape: RowShape?

    /// - Parameter names: The columns, in the order of the copies. Those that a row lacks are left out.
    init(_ names: [String], _ shapes: ShapeTable) {
        self.names = ColumnSelection.isPlain(names) ? names : ColumnSelection.plain(names)
        self.shapes = shapes
        columns = self.names.map { ColumnPlaces($0) }
    }

    /// Whether the names are of different columns, and none is the id.
    private static func isPlain(_ names: [String]) -> Bool {
        names.indices.allSatisfy { names[$0] != "id" && !names[..<$0].containsExactly(names[$0]) }
    }

    private static func plain(_ names: [String]) -> [String] {
        var columns: [String] = []
        for name in names where name != "id" && !columns.containsExactly(name) { columns.append(name) }
        return columns
    }

    /// Returns the columns of a row.
    mutating func row(_ sight: EncodedRowView) throws(SyncError) -> Row {
        // The entries of an index often have these columns and no others.
        if let shape, lacking.isEmpty, let row = try sight.row(ofOnly: shape) { return row }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        var lacks = 0
        for index in columns.indices {
            if let value = sight.encoded(&columns[index]) {
                bytes.append(contentsOf: try ColumnSelection.first(of: value))
                continue
            }
            if lacks == lacking.count || lacking[lacks] != index {
                forget(after: lacks)
                lacking.append(index)
            }
            lacks += 1
        }
        if lacks < lacking.count { forget(after: lacks) }
        size = bytes.count
        return Row(shape: copyShape(), bytes: bytes)
    }

    /// Forgets what the last row lacked after some of it, because this row differs there.
    private mutating func forget(after lacks: Int) {
        lacking.removeSubrange(lacks...)
        shape = nil
    }

    /// The value that bytes begin with.
    private static func first(of bytes: Bytes) throws(SyncError) -> Bytes {
        var reader = ByteReader(bytes)
        do throws(MalformedBytes) { try reader.skipValue() } catch { throw .malformed("a row of the state") }
        return Bytes(rebasing: bytes[..<reader.offset])
    }

    private mutating func copyShape() -> RowShape {
        if let shape { return shape }
        let kept = lacking.isEmpty ? names : names.indices.filter { !lacking.contains($0) }.map { names[$0] }
        let found = shapes.shape(kept)
        shape = found
        return found
    }
}
