// Whether an index has its entries in the order of a query, from its beginning or from its end.

import SynclineGround

struct IndexOrder {
    /// How many sort keys the index decides, and in which direction.
    let matched: Int
    let isBackward: Bool
    /// How many columns of the index have one value each.
    private let pins: Int
    /// The sort keys that are left if those with one value are dropped, and the position to continue after.
    let keys: [RowQuery.Key]
    let after: RowQuery.Place?

    /// Nil if the index does not help with the order.
    init?(_ query: RowQuery, _ scan: IndexScan) {
        guard scan.isInOrder else { return nil }
        var keys: [RowQuery.Key] = []
        var values: [Value] = []
        for (place, key) in query.order.enumerated() {
            if let pinned = scan.index.columns.prefix(scan.pins).firstIndex(where: { $0.hasSameBytes(as: key.column) })
            {
                guard let after = query.after, after.values.indices.contains(place) else { continue }
                let known = IndexPlace(after.values[place], as: scan.index.types[pinned])
                guard known.bytes != scan.pin(pinned) else { continue }
                return nil
            }
            keys.append(key)
            if let after = query.after, after.values.indices.contains(place) { values.append(after.values[place]) }
        }
        let columns = scan.index.columns.dropFirst(scan.pins)
        guard let first = keys.first else { return nil }
        matched =
            zip(keys, columns).prefix { $0.column.hasSameBytes(as: $1) && $0.isDescending == first.isDescending }.count
        guard matched > 0 else { return nil }
        isBackward = first.isDescending
        pins = scan.pins
        self.keys = keys
        after = query.after.map { RowQuery.Place(values: values, id: $0.id) }
    }

    /// The place in the index to continue at: what is known of it.
    func places(_ index: TableIndex) -> [UInt8]? {
        guard let after else { return nil }
        var all: [UInt8] = []
        for (value, type) in zip(after.values.prefix(matched), index.types.dropFirst(pins)) {
            let place = IndexPlace(value, as: type)
            // What was cut off is followed by two bytes that say so.
            if !place.isExact { return all + place.bytes.dropLast(2) }
            all += place.bytes
        }
        return all
    }

    /// What an entry's key says of its row's position.
    var known: KnownKeys { KnownKeys(columns: matched, areAll: matched == keys.count, isBackward: isBackward) }
}

/// The sort keys of a row that are known from an entry of an index.
struct KnownKeys {
    fileprivate let columns: Int
    fileprivate let areAll: Bool
    fileprivate let isBackward: Bool

    /// Appends them, and moves on to the row's id. Returns whether these are all of the sort keys.
    /// - Parameter count: The number of columns of the index that are left.
    func append(_ reader: inout ByteReader, of count: Int, to writer: inout ByteWriter) throws(MalformedBytes) -> Bool {
        let start = reader.offset
        var end: Int?
        var isCut = false
        for column in 0..<count {
            let place = reader.offset
            let cut = try reader.skipSortValue()
            if end == nil, let cut {
                end = place + cut
                isCut = true
            }
            if end == nil, column == columns - 1 { end = reader.offset }
        }
        let known = end ?? reader.offset
        writer.append(UnsafeRawBufferPointer(rebasing: reader.bytes[start..<known]))
        if isBackward { writer.invert(from: 0) }
        return areAll && !isCut
    }
}
