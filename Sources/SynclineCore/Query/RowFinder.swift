// Finds rows of one table by id or by key, for a caller that looks at one row at a time. Rows are read in place.

import SynclineGround

package final class RowFinder {
    private let reader: StateReader
    private let table: [UInt8]
    private let ids: IDComparison
    private let prefix: [UInt8]
    private let known: ShapeList
    // Unchecked: one thread uses the finder, and nothing here is called from within itself.
    /// The key of the current row. Its memory stays where it is until the next search.
    @exclusivity(unchecked) private var key = ByteWriter(capacity: 256)
    /// Keeps the current row's value.
    @exclusivity(unchecked) private var value: StateValue?
    @exclusivity(unchecked) private var decoded: OwnedRow?

    package init(_ reader: StateReader, table: String) throws(SyncError) {
        self.reader = reader
        self.table = Array(table.utf8)
        ids = try reader.idComparison
        prefix = RowKey.prefix(table)
        known = reader.shapes.list
    }

    /// Returns the row with an id, given as UTF-8, if an app sees one. It is valid until the next search.
    package func row(id: UnsafeRawBufferPointer) throws(SyncError) -> EncodedRowView? {
        key.removeAll()
        table.withBytes { key.append(rowKey: $0, id: id, ids) }
        return try find()
    }

    /// Returns the row with an id in the form that keys have, if an app sees one. It is valid until the next search.
    package func row(formAndID id: UnsafeRawBufferPointer) throws(SyncError) -> EncodedRowView? {
        key.removeAll()
        key.append(prefix)
        key.append(id)
        return try find()
    }

    /// Returns the row with a key, if an app sees one. It is valid until the next search.
    package func row(key wanted: [UInt8]) throws(SyncError) -> EncodedRowView? {
        key.removeAll()
        key.append(wanted)
        return try find()
    }

    private func find() throws(SyncError) -> EncodedRowView? {
        let place = key.withView { $0 }
        decoded = nil
        value = try reader.snapshot.value(place)
        // The value is kept until the next search, and its bytes with it.
        guard let bytes = value?.withBytes({ $0 }) else { return nil }
        if EncodedRowView.isFrozen(bytes) {
            decoded = try OwnedRow(place, bytes, reader.shapes)
            return decoded?.sight
        }
        return try EncodedRowView(table: prefix.count, key: place, value: bytes, known)
    }
}
