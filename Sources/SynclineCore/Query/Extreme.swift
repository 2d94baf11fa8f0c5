// The value that comes first or last among those of a column. Of several with one meaning it is spelled as in the row with
// the lowest id.

import SynclineGround

struct Extreme {
    private let type: ColumnType
    private let isLast: Bool
    /// The value's place in the order of the column; empty if there is none.
    private var place: [UInt8] = []
    /// A value of this place as it was last encoded.
    private var encoded: [UInt8] = []
    private var spelling = Spelling()
    /// How many rows have this value.
    private var rows = 0

    init(_ type: ColumnType, isLast: Bool) {
        self.type = type
        self.isLast = isLast
    }

    /// Adds a value, or takes one back. Returns false if the next value is only known from all others.
    /// - Parameter count: How many rows have it.
    mutating func change(
        _ value: Bytes, of row: EncodedRowView, isAdded: Bool, times count: Int = 1
    ) throws(MalformedBytes) -> Bool {
        if value.isEmpty { return true }
        let value = try value.firstValue()
        if !encoded.withBytes({ $0.hasSameBytes(as: value) }) {
            guard let candidate = try candidate(value) else { return true }
            if candidate != place {
                let isBetter =
                    isLast ? IndexInterval.isBefore(place, candidate) : IndexInterval.isBefore(candidate, place)
                guard isAdded, place.isEmpty || isBetter else { return true }
                (place, encoded, rows, spelling) = (candidate, [UInt8](value), count, Spelling())
                return spelling.change(value, of: row, isAdded: true, 1)
            }
            encoded = [UInt8](value)
        }
        rows += isAdded ? count : -count
        return spelling.change(value, of: row, isAdded: isAdded, rows) && rows > 0
    }

    /// The value; null if there is none.
    var value: Value { place.isEmpty ? .null : spelling.values(1)[0] }

    /// The place of a value; nil for one without an order, or that does not fit the column.
    private func candidate(_ value: Bytes) throws(MalformedBytes) -> [UInt8]? {
        guard let tag = value.first, tag != ValueTag.null, tag != ValueTag.array, tag != ValueTag.object else {
            return nil
        }
        var writer = ByteWriter()
        try writer.append(sortOfEncoded: value, as: type)
        let place = writer.bytes
        return place.first == SortTag.unfit ? nil : place
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of the value that is encoded first.
    func firstValue() throws(MalformedBytes) -> Bytes {
        var reader = ByteReader(self)
        try reader.skipValue()
        return Bytes(rebasing: self[..<reader.offset])
    }
}
