// Checks whether a client's item fits the columns of a table, and what is stored of it. A string in a column of numbers is
// the client's error.

package import SynclineCore
import SynclineGround

/// A client's item in the columns of a table, with its values encoded.
package struct CheckedItem: Hashable, Sendable {
    package fileprivate(set) var bytes: [UInt8] = []
    /// The position of the value of each of the table's columns; nil for a column that the item does not name. New
    /// columns follow.
    package fileprivate(set) var extents: [Range<Int>?] = []
    /// The item as it is, for a table of documents.
    fileprivate(set) var document: Row?
    /// Columns that must be created first; their places follow the table's.
    package fileprivate(set) var newColumns: [Column] = []
}

extension ServedTable {
    /// Checks an item, which may add at most `limit` columns. A client can never set the owner column, nor one that the
    /// database computes: its values there are ignored.
    package func check(_ item: Row, mayBegin limit: Int) throws(Refusal) -> CheckedItem {
        var checked = CheckedItem()
        if definition.holdsDocuments {
            checked.document = item
            return checked
        }
        var begun: Set<ExactString> = []
        checked.extents = .init(repeating: nil, count: columns.count)
        var writer = ByteWriter(capacity: item.bytes.count + 16)
        try item.withView { view throws(Refusal) in
            var reader = ByteReader(view.bytes)
            for (name, place) in zip(view.shape.names, places(of: view.shape)) {
                let start = writer.count
                if let place {
                    let column = columns[place]
                    if column.name == definition.perUser || traits.computed.contains(column.name) {
                        _ = try? reader.skipValue()
                    } else {
                        try column.store(&reader, limits(of: column.name), into: &writer)
                        checked.extents[place] = start..<writer.count
                    }
                } else {
                    let value = (try? reader.value()) ?? .null
                    guard let column = try newColumn(name, value, beside: begun) else { continue }
                    guard begun.count < limit else { throw ServedTable.tooManyColumns }
                    begun.insert(ExactString(name.lowercased()))
                    writer.append(value: try column.stored(value, limits(of: name)))
                    checked.extents.append(start..<writer.count)
                    checked.newColumns.append(column)
                }
            }
        }
        checked.bytes = writer.bytes
        return checked
    }

    /// The new column for a value; nil for null, which creates none.
    private func newColumn(_ name: String, _ value: Value, beside others: Set<ExactString>) throws(Refusal) -> Column? {
        if SystemColumn(anyCase: name) != nil {
            throw Refusal(400, "reserved-column", "Column \(name) can be set only by the server")
        }
        guard definition.dynamicSchema else {
            throw Refusal(400, "unknown-column", "Table \(definition.name) has no column \(name.prefix(80))")
        }
        if let fault = NameRule.fault(column: name) {
            throw Refusal(400, "invalid-column", "'\(name.prefix(80))' can't name a column: \(fault)")
        }
        // Some databases treat these as one name.
        if place(ofAnyCase: name) != nil || others.contains(name.lowercased()) {
            throw Refusal(400, "invalid-column", "Column \(name) differs from another one in letter case only")
        }
        return ColumnType(of: value).map { Column(name, $0) }
    }

    package static let tooManyColumns = Refusal(
        400, "too-many-columns", "The request adds more columns than one request or the table may have")

    /// A row in the columns of this table: the item's values, and the row's values for columns that the item does not
    /// name.
    package func columns(of row: Row, setting item: CheckedItem) -> Row {
        if let document = item.document { return row.merged(with: document) }
        var writer = ByteWriter(capacity: row.bytes.count + item.bytes.count + columns.count)
        row.withView { view in
            var reader = ByteReader(view.bytes)
            item.bytes.withUnsafeBytes { bytes in
                for place in columns.indices {
                    let start = reader.offset
                    let hasOwn = (try? reader.skipValue()) != nil
                    if place < item.extents.count, let extent = item.extents[place] {
                        writer.append(UnsafeRawBufferPointer(rebasing: bytes[extent]))
                    } else if hasOwn {
                        writer.append(UnsafeRawBufferPointer(rebasing: view.bytes[start..<reader.offset]))
                    } else {
                        // The row is older than the column.
                        writer.append(value: .null)
                    }
                }
            }
        }
        return Row(shape: shape, bytes: writer.bytes)
    }

    /// The places of the columns that an insert of an item sets in an adopted table; the database gives the others
    /// their defaults.
    package func placesSet(by item: CheckedItem) -> [Int] {
        if isOwn { return [] }
        return columns.indices.filter { $0 < item.extents.count && item.extents[$0] != nil || $0 == ownerPlace }
    }

    /// The places of the columns in which two rows of an adopted table differ.
    package func placesChanged(from old: Row, to new: Row) -> [Int] {
        if isOwn { return [] }
        return zip(old.members, new.members).enumerated().compactMap { place, values in
            let (column, old, new) = (columns[place], values.0.value, values.1.value)
            let isSame = old == new || column.isMeant && column.type.areSame(old, new)
            return isSame || traits.computed.contains(column.name) ? nil : place
        }
    }
}

extension Column {
    /// Writes the stored form of the next value.
    fileprivate func store(
        _ reader: inout ByteReader, _ limits: ColumnLimits, into writer: inout ByteWriter
    ) throws(Refusal) {
        let start = reader.offset
        // No string is created for a value that is text.
        if type == .string, let hasZero = try? reader.withText({ $0.contains(0) }) {
            if hasZero { throw zero }
            writer.append(UnsafeRawBufferPointer(rebasing: reader.bytes[start..<reader.offset]))
        } else {
            writer.append(value: try stored((try? reader.value()) ?? .null, limits))
        }
    }
}
