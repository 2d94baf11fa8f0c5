// The test whether an index has its entries in the order of a query, from its beginning or from its end.

import SynclineGround

struct IndexOrder {
    /// How many sort keys the index decides, and in which direction. If it is sorted by ids only, these are none.
    let matched: Int
    let isBackward: Bool
    /// How many columns of the index have one value each.
    private let pins: Int
    /// The sort keys that are left if those with one value are dropped, and the position to continue after.
    let keys: [RowQuery.Key]
    let after: RowQuery.Place?

    /// Nil if the index does not help with the order.
    /// - Parameter hasIDOrder: Whether ids sort as their rows' keys do.
    init?(
        _ query: RowQuery, _ scan: IndexScan, hasIDOrder: () throws(SyncError) -> Bool
    ) throws(SyncError) {
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
        if let first = keys.first {
            matched =
                zip(keys, columns).prefix {
                    $0.column.hasSameBytes(as: $1) && $0.isDescending == first.isDescending && $0.through == nil
                }.count
            guard matched > 0 else { return nil }
            isBackward = first.isDescending
        } else {
            guard scan.isPinned, try hasIDOrder() else { return nil }
            (matched, isBackward) = (0, false)
        }
        pins = scan.pins
        self.keys = keys
        after = query.after.map { RowQuery.Place(values: values, id: $0.id) }
    }

    /// Whether the index decides all of the sort keys.
    var isWhole: Bool { matched == keys.count }

    /// Whether the rows are sorted by their ids, so that the first entries are those of the first rows.
    var isByID: Bool { keys.isEmpty }

    /// The place in the index to continue at, and whether it is known exactly.
    /// - Parameter id: The form that an id has in keys.
    func places(
        _ index: TableIndex, _ id: (String) throws(SyncError) -> [UInt8]
    ) throws(SyncError) -> (bytes: [UInt8], isExact: Bool)? {
        guard let after else { return nil }
        if isByID { return (try id(after.id), true) }
        var all: [UInt8] = []
        for (value, type) in zip(after.values.prefix(matched), index.types.dropFirst(pins)) {
            let place = IndexPlace(value, as: type)
            // What was cut off is followed by two bytes that say so.
            if !place.isExact { return (all + place.bytes.dropLast(2), false) }
            all += place.bytes
        }
        return (all, true)
    }

    /// What an entry's key says of its row's position.
    var known: KnownKeys { KnownKeys(columns: matched, areAll: isWhole, isBackward: isBackward) }
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
