// A lookup of rows of one table by their keys, a few at a time, for a caller that takes one row after another. Rows are
// read in place.

import SynclineGround

package final class RowLookup {
    private let reader: StateReader
    private let table: [UInt8]
    private let ids: IDComparison
    private let prefix: [UInt8]
    private let shapes: ShapeList
    // Unchecked: one thread uses the lookup, and nothing here is called from within itself.
    /// The keys of a list, and the first one that is not looked up yet.
    @exclusivity(unchecked) private var keys: RowKeys
    @exclusivity(unchecked) private var next = 0
    @exclusivity(unchecked) private var areKnown = false
    /// The values of a few of them, the next one last, each with the position of its key.
    @exclusivity(unchecked) private var found: [(place: Int, value: StateValue)] = []
    /// The key of a single row. Its memory stays where it is until the next search.
    @exclusivity(unchecked) private var key = ByteWriter(capacity: 256)
    /// Keeps the current row's value.
    @exclusivity(unchecked) private var value: StateValue?
    @exclusivity(unchecked) private var decoded: OwnedRow?
    private let columns = ColumnRow()
    @exclusivity(unchecked) private var known = KnownValues()

    package init(_ reader: StateReader, table: String) throws(SyncError) {
        self.reader = reader
        self.table = Array(table.utf8)
        ids = try reader.idComparison
        prefix = RowKey.prefix(table)
        keys = RowKeys(prefix: prefix)
        shapes = reader.shapes.list
    }

    // MARK: One row

    /// Returns the row with an id, given as UTF-8, if an app sees one. It is valid until the next search.
    package func row(id: UnsafeRawBufferPointer) throws(SyncError) -> EncodedRowView? {
        key.removeAll()
        table.withBytes { key.append(rowKey: $0, id: id, ids) }
        return try show(key.inPlace, try known.value(key.inPlace, in: reader.snapshot))
    }

    /// Returns the row with an id in the form that keys have, if an app sees one. It is valid until the next search.
    package func row(formAndID id: UnsafeRawBufferPointer) throws(SyncError) -> EncodedRowView? {
        key.removeAll()
        key.append(prefix)
        key.append(id)
        return try show(key.inPlace, try reader.snapshot.value(key.inPlace))
    }

    // MARK: A list

    /// Begins to look up a list of keys.
    /// - Parameter areKnown: Whether the keys are known to have values, as those of an index are.
    package func begin(_ keys: RowKeys, areKnown: Bool) {
        (self.keys, next, self.areKnown) = (keys, 0, areKnown)
        found.removeAll(keepingCapacity: true)
    }

    /// Drops the rest of the list.
    package func end() {
        next = keys.count
        found.removeAll(keepingCapacity: true)
    }

    /// Returns the next row of the list that an app sees; nil at its end. It is valid until the next search.
    package func nextRow() throws(SyncError) -> EncodedRowView? {
        while true {
            while let (place, value) = found.popLast() {
                if let row = try show(keys[place], value) { return row }
            }
            let few = next..<min(next + RowKeys.few, keys.count)
            if few.isEmpty { return nil }
            next = few.upperBound
            if few.count == 1 {
                if let value = try reader.snapshot.value(keys[few.lowerBound]) { found = [(few.lowerBound, value)] }
                continue
            }
            try reader.snapshot.forEachValue(of: few.map { keys[$0] }, areKnown: areKnown) { place, value in
                found.append((few.lowerBound + place, value))
            }
            found.reverse()
        }
    }

    private func show(_ key: Bytes, _ stored: StateValue?) throws(SyncError) -> EncodedRowView? {
        (value, decoded) = (stored, nil)
        guard let stored else { return nil }
        let view = stored.view(columns)
        if view.row == nil, EncodedRowView.isFrozen(view.head) {
            decoded = try OwnedRow(key, view.head, reader.shapes)
            return decoded?.sight
        }
        return try EncodedRowView(table: prefix.count, key: key, value: view, shapes)
    }
}

/// Values of keys that were looked up, by their hashes: a join asks for the same ones again and again.
private struct KnownValues {
    private var places: [(hash: UInt64, key: [UInt8], value: StateValue?)?] = []
    /// The memory that the values keep: blocks, and tables in memory.
    private var owners: Set<ObjectIdentifier> = []
    /// How many lookups there were. The first ones are not kept, because there may be no others.
    private var count = 0

    private static let size = 1024
    private static let mostOwners = 64

    mutating func value(_ key: Bytes, in snapshot: StateSnapshot) throws(SyncError) -> StateValue? {
        count += 1
        if count < 16 { return try snapshot.value(key) }
        let hash = hash64(key)
        let place = Int(truncatingIfNeeded: hash) & (KnownValues.size - 1)
        if !places.isEmpty, let known = places[place], known.hash == hash,
            known.key.withBytes({ $0.hasSameBytes(as: key) })
        {
            return known.value
        }
        let value = try snapshot.value(key)
        if let value, owners.insert(value.ownerID).inserted, owners.count > KnownValues.mostOwners {
            places.removeAll(keepingCapacity: true)
            owners = [value.ownerID]
        }
        if places.isEmpty { places = Array(repeating: nil, count: KnownValues.size) }
        places[place] = (hash, [UInt8](key), value)
        return value
    }
}
