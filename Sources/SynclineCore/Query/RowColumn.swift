// One column of many rows, read in the encoded rows.

import SynclineGround

struct RowColumn {
    let isID: Bool
    private var places: ColumnPlaces
    /// The encoded id of the row that was read last.
    private let id = ByteWriter(capacity: 64)

    init(_ name: String) {
        isID = name == "id"
        places = ColumnPlaces(name)
    }

    /// The position of the column in a shape; nil for the id.
    mutating func place(in shape: Unmanaged<RowShape>) -> Int? {
        isID ? nil : places.under.place(places.name, shape)
    }

    /// The encoded value, which other bytes may follow; nil if the row has none. It is valid until the next row is read.
    mutating func encoded(_ row: EncodedRowView) -> Bytes? {
        guard isID else { return row.encoded(&places) }
        // Copies write into the same memory.
        var writer = id
        writer.removeAll()
        row.withID { writer.append(textValue: $0) }
        return writer.withView { $0 }
    }
}
