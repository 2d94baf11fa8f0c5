// The value that comes first or last among those of a column.

import SynclineGround

struct Extreme {
    private let isLast: Bool
    /// The value's place in the order of a query, then the value, encoded: of several with the same place, always the
    /// same one is chosen. Empty if there is none.
    private var best: [UInt8] = []
    /// How many rows have this value.
    private var rows = 0

    init(isLast: Bool) {
        self.isLast = isLast
    }

    /// Adds a value, or takes one back. Returns false if the next value is only known from all others.
    mutating func change(_ value: Bytes, isAdded: Bool) throws(MalformedBytes) -> Bool {
        let candidate = try Extreme.candidate(value)
        if candidate.isEmpty { return true }
        if candidate == best {
            rows += isAdded ? 1 : -1
return Breakage.liveExtremeKept.isActive || rows > 0
        }
        let isBetter =
            isLast ? IndexInterval.isBefore(best, candidate) : IndexInterval.isBefore(candidate, best)
        if isAdded, best.isEmpty || isBetter { (best, rows) = (candidate, 1) }
        return true
    }

    /// The value; null if there is none.
    var value: Value {
        best.withBytes { best in
            var reader = ByteReader(best)
            do {
                _ = try reader.skipSortValue()
                return try reader.value()
            } catch {
                return .null
            }
        }
    }

    /// Empty for values without an order.
    private static func candidate(_ value: Bytes) throws(MalformedBytes) -> [UInt8] {
        guard let tag = value.first, tag != ValueTag.null, tag != ValueTag.array, tag != ValueTag.object else {
            return []
        }
        var writer = ByteWriter()
        try writer.append(sortOfEncoded: value)
        writer.append(try value.firstValue())
        return writer.bytes
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
