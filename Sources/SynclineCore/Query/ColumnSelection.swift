// Some columns of encoded rows, copied without decoding them. Rows of a table mostly have the same columns, so the names of
// a copy's columns are looked up once for all rows that have the same ones.

import SynclineGround

struct ColumnSelection {
    private let names: [String]
    private let shapes: ShapeTable
    private var columns: [ColumnPlaces]
    private var bytes = ByteWriter(capacity: 256)
    /// Which columns the last row had, and the shape of the copy.
    private var present: [Bool]
    private var shape: RowShape?

    /// - Parameter names: The columns, in the order of the copies. Those that a row lacks are left out.
    init(_ names: [String], _ shapes: ShapeTable) {
        var columns: [String] = []
        for name in names where name != "id" && !columns.contains(name) { columns.append(name) }
        self.names = columns
        self.shapes = shapes
        self.columns = columns.map { ColumnPlaces($0) }
        present = Array(repeating: true, count: columns.count)
    }

    /// Returns the columns of a row.
    mutating func row(_ sight: EncodedRowView) throws(StateError) -> Row {
        bytes.removeAll()
        for index in columns.indices {
            let value = sight.encoded(&columns[index])
            if present[index] != (value != nil) {
                present[index] = value != nil
                shape = nil
            }
            if let value { try append(value) }
        }
        return Row(shape: try copyShape(), bytes: bytes.bytes)
    }

    /// Appends the value that bytes begin with.
    private mutating func append(_ value: Bytes) throws(StateError) {
        var reader = ByteReader(value)
        do throws(MalformedBytes) { try reader.skipValue() } catch { throw .malformed("a row of the state") }
        bytes.append(Bytes(rebasing: value[..<reader.offset]))
    }

    private mutating func copyShape() throws(StateError) -> RowShape {
        if let shape { return shape }
        var encoded = ByteWriter(capacity: 128)
        for (name, isPresent) in zip(names, present) where isPresent { encoded.append(text: name) }
        let found: RowShape
        do throws(MalformedBytes) {
            found = try encoded.withView { names throws(MalformedBytes) in try shapes.shape(encodedNames: names) }
        } catch {
            throw .malformed("the columns of a row")
        }
        shape = found
        return found
    }
}
