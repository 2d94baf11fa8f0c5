// The entries of an index on a column of strings, one after another in the order of the strings, for a caller that needs
// no more of the rows than the entries have. If strings were cut off, the rows are looked up and sorted.

import SynclineGround

package final class IndexEntries {
    private let reader: StateReader
    private let index: TableIndex
    /// How many columns follow the first one.
    private let laterColumns: Int
    private let column: String
    /// What the keys of the entries begin with, and the first key after them.
    private let prefix: [UInt8]
    private let end: [UInt8]
    private let visitor: RowVisitor
    private let lookup: RowLookup
    // Unchecked: one thread uses the entries, and nothing here is called from within itself.
    @exclusivity(unchecked) private var cursor: StateCursor
    /// The current entry; nil at the end. It is valid until the next one.
    @exclusivity(unchecked) package private(set) var current: Entry?
    /// A string with zeros, without their escapes.
    @exclusivity(unchecked) private var unescaped = ByteWriter(capacity: 16)
    @exclusivity(unchecked) private var group: Group?

    package struct Entry {
        /// With no more than its id, unless it is whole.
        package let row: EncodedRowView
        /// The string; nil for null, and of a whole row.
        package var text: Bytes?
        /// Whether the row was looked up, so that it has all columns.
        package var isWhole = false
    }

    /// The rows whose strings begin with the same bytes and were cut off.
    private struct Group {
        let prefix: [UInt8]
        /// The position of the last of the rows that are looked up, if there may be more.
        var last: [UInt8]?
        /// Whether there are no more.
        var isRead = false
    }

    private let groupLimit: Int

    /// Begins at the first entry. Nil if there is no index on the column, or one that also has other values than strings
    /// and null.
    /// - Parameter groupLimit: How many rows are sorted at once whose strings were cut off. If more begin with the same
    ///   bytes, they are read several times.
    package init?(
        _ reader: StateReader, table: String, column: String, groupLimit: Int = 16_384
    ) throws(SyncError) {
        let found = try reader.indexes(of: table).first { index in
            index.columns[0].hasSameBytes(as: column) && (index.types[0] == .any || index.types[0] == .string)
        }
        guard !reader.spellsIDs, let found, try reader.contentOfFirstColumn(table, found).hasStringsOnly
        else { return nil }
        self.reader = reader
        self.column = column
        self.groupLimit = groupLimit
        index = found
        laterColumns = found.columns.count - 1
        prefix = found.prefix(table)
        end = prefix + [IndexInterval.highest]
        visitor = RowVisitor(reader, table)
        lookup = try RowLookup(reader, table: table)
        cursor = try prefix.withBytes { prefix throws(SyncError) in try reader.snapshot.cursor(from: prefix) }
        try show()
    }

    /// Moves to the next entry, and returns it.
    @discardableResult
    package func advance() throws(SyncError) -> Entry? {
        if group != nil {
            try advanceInGroup()
        } else {
            try cursor.advance()
            try show()
        }
        return current
    }

    private func show() throws(SyncError) {
        current = nil
        guard let key = cursor.key, end.withBytes({ key.compare($0) < 0 }) else { return }
        do throws(MalformedBytes) {
            var place = ByteReader(key, at: prefix.count)
            var text: Bytes?
            if let length = plainLength(key) {
                place.offset += 1
                text = try place.take(length)
                place.offset += 2
            } else if try place.skipSortValue() == nil {
                text = string(Bytes(rebasing: key[prefix.count..<place.offset]))
            } else {
                group = Group(prefix: [UInt8](key[..<place.offset]))
            }
            if group == nil {
                for _ in 0..<laterColumns { _ = try place.skipSortValue() }
                current = Entry(row: EncodedRowView(formAndID: place.rest, row: nil), text: text)
            }
        } catch {
            throw .malformed("an index")
        }
        if group != nil { try advanceInGroup() }
    }

    /// The length of the string of an entry; nil for null, and if it has zeros or was cut off.
    private func plainLength(_ key: Bytes) -> Int? {
        let start = prefix.count + 1
        guard start < key.count, key[start - 1] == SortTag.string else { return nil }
        var offset = start
        while offset + 1 < key.count {
            if key[offset] == 0 { return key[offset + 1] == SortTag.whole ? offset - start : nil }
            offset += 1
        }
        return nil
    }

    /// The string of a place: the bytes between its tag and its end of two bytes.
    private func string(_ place: Bytes) -> Bytes? {
        guard place.first == SortTag.string else { return nil }
        let escaped = Bytes(rebasing: place[1..<place.count - 2])
        guard escaped.contains(0) else { return escaped }
        unescaped.removeAll()
        var isEscape = false
        for byte in escaped {
            if !isEscape { unescaped.append(byte) }
            isEscape = byte == 0
        }
        return unescaped.withView { $0 }
    }

    // MARK: Strings that were cut off

    private func advanceInGroup() throws(SyncError) {
        guard var group else { return }
        while true {
            if let found = try lookup.nextRow() {
                (self.group, current) = (group, Entry(row: found, isWhole: true))
                return
            }
            // The keys of the first rows have not been read yet, or there are more.
            guard try readMore(&group) else { break }
        }
        self.group = nil
        let next = group.prefix.followed(by: IndexInterval.highest)
        cursor = try next.withBytes { next throws(SyncError) in try reader.snapshot.cursor(from: next) }
        try show()
    }

    /// Finds the keys of the next rows of a group. Returns false if there are none.
    private func readMore(_ group: inout Group) throws(SyncError) -> Bool {
        if group.isRead { return false }
        var first = FirstRows(SortOrder([.init(column)], TableTypes()), limit: groupLimit, after: group.last)
        let end = group.prefix.followed(by: IndexInterval.highest)
        var rowKey = ByteWriter(capacity: 128)
        let rowPrefix = visitor.prefix
        try reader.snapshot.forEach(from: group.prefix) { key, _ throws(SyncError) in
            guard end.withBytes({ key.compare($0) < 0 }) else { return false }
            rowKey.removeAll()
            rowKey.append(rowPrefix)
            rowKey.append(try index.rowID(in: key, from: prefix.count))
            try rowKey.withView { key throws(SyncError) in
                guard let value = try reader.snapshot.value(key) else { return }
                try value.withBytes { value throws(SyncError) in
                    try visitor.visit(key, value) { row throws(SyncError) in _ = try first.offer(row) }
                }
            }
            return true
        }
        var keys = RowKeys(prefix: rowPrefix)
        try first.forEach(skipping: 0) { key, _ in keys.append(key: [UInt8](key)) }
        // In the order of the whole strings.
        lookup.begin(keys, areKnown: true)
        group.last = first.end()
        group.isRead = group.last == nil
        return keys.count > 0
    }
}
