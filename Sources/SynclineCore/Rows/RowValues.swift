// The values of a row, read one after another: a value is found in the least time after the one before it.

import SynclineGround

package struct RowValues {
    package let row: Row
    /// The next value, and the offset at which it begins.
    private var place = 0
    private var offset = 0

    package init(_ row: Row) {
        self.row = row
    }

    /// The value at a place of the row's shape.
    package mutating func value(at wanted: Int) -> Value {
        if wanted < place { (place, offset) = (0, 0) }
        return row.bytes.withBytes { bytes in
            var reader = ByteReader(bytes, at: offset)
            do throws(MalformedBytes) {
                for _ in place..<wanted { try reader.skipValue() }
                let value = try reader.value()
                (place, offset) = (wanted + 1, reader.offset)
                return value
            } catch {
                return .null
            }
        }
    }
}
