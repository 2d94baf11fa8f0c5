// The entries of some parts of an index, one after another in either direction.

import SynclineGround

package final class IndexCursor {
    private let reader: StateReader
    private let index: TableIndex
    private let prefixLength: Int
    private let shapes: ShapeList
    private let isBackward: Bool
    /// The parts that are left, the next one last.
    private var ranges: [IndexRange]
    /// The end of the current part in the cursor's direction.
    private var limit: [UInt8] = []
    // Unchecked: one thread uses the cursor, and nothing here is called from within itself.
    @exclusivity(unchecked) private var forward: StateCursor?
    @exclusivity(unchecked) private var backward: BackwardStateCursor?
    /// The id of the current entry's row, in the form that keys have; nil at the end. It is valid until the cursor moves.
    @exclusivity(unchecked) package private(set) var id: UnsafeRawBufferPointer?
    /// What the current entry's key leaves open, of an index with marks.
    @exclusivity(unchecked) private var mark = EntryMark()

    /// - Parameter ranges: In order.
    package init(
        _ reader: StateReader, table: String, _ index: TableIndex, _ ranges: [IndexRange], isBackward: Bool = false
    ) throws(SyncError) {
        self.reader = reader
        self.index = index
        self.ranges = isBackward ? ranges : ranges.reversed()
        self.isBackward = isBackward
        prefixLength = index.prefix(table).count
        shapes = reader.shapes.list
        try settle()
    }

    /// Moves to the next entry.
    package func advance() throws(SyncError) {
        if isBackward { try backward?.advance() } else { try forward?.advance() }
        try settle()
    }

    /// Whether the current entry of an index with marks does not have all values of its columns.
    package var needsRow: Bool { mark.needsRow }

    /// The value of a column of the index, by its position, in the current entry, which does not need its row.
    package func value(_ column: Int) -> EntryValue {
        guard let key = isBackward ? backward?.key : forward?.key else { return .null }
        var reader = ByteReader(key, at: prefixLength)
        do throws(MalformedBytes) {
            for _ in 0..<column { _ = try reader.skipSortValue() }
            return try reader.entryValue(isOther: mark.isOther(column))
        } catch {
            // The cursor has stepped over the same bytes.
            return .null
        }
    }

    /// The id of the current entry's row, as a row without columns. It is valid until the cursor moves.
    package var row: EncodedRowView? { id.map { EncodedRowView(formAndID: $0, row: nil) } }

    /// What the current entry has of its row, of an index that includes columns. It is valid until the cursor moves.
    package func includedRow() throws(SyncError) -> EncodedRowView? {
        guard let id, let value = isBackward ? backward?.value : forward?.value else { return nil }
        var reader = ByteReader(value)
        do throws(MalformedBytes) {
            return EncodedRowView(formAndID: id, row: try reader.view(shapes))
        } catch {
            throw .malformed("an index")
        }
    }

    /// Moves to the next part at the end of one.
    private func settle() throws(SyncError) {
        while true {
            if let key = isBackward ? backward?.key : forward?.key {
                let order = limit.withBytes { key.compare($0) }
                if isBackward ? order >= 0 : order < 0 {
                    id = try index.rowID(in: key, from: prefixLength)
                    if index.hasMarks { try readMark() }
                    return
                }
            }
            id = nil
            guard let range = ranges.popLast() else { return }
            try enter(range)
        }
    }

    private func readMark() throws(SyncError) {
        guard let value = isBackward ? backward?.value : forward?.value else { return }
        do throws(MalformedBytes) { mark = try EntryMark(of: value) } catch { throw .malformed("an index") }
    }

    private func enter(_ range: IndexRange) throws(SyncError) {
        if isBackward {
            limit = range.start
            backward = try range.end.withBytes { end throws(SyncError) in
                try BackwardStateCursor(reader.snapshot, before: end)
            }
        } else {
            limit = range.end
            forward = try range.start.withBytes { start throws(SyncError) in try reader.snapshot.cursor(from: start) }
        }
    }
}

extension StateReader {
    /// The keys of the rows whose entries are in some parts of an index, sorted; nil if reading the whole table is faster.
    package func rowKeys(
        _ table: String, _ index: TableIndex, _ ranges: [IndexRange]
    ) throws(SyncError) -> RowKeys? {
        var keys = RowKeys(table: table)
        let cursor = try IndexCursor(self, table: table, index, ranges)
        var left = lookupBudget
        while let id = cursor.id {
            left -= 1
            guard left >= 0 else { return nil }
            keys.append(id: id)
            try cursor.advance()
        }
        keys.sort()
        return keys
    }

    /// The number of entries of an index that may be read if their rows are then looked up one by one.
    var lookupBudget: Int { max(4096, snapshot.layers.runEntries / 16) }

    /// The forms that the ids of a table have in keys. Only within one, keys sort as the ids do.
    package func idForms(of table: String) throws(SyncError) -> [UInt8] {
        var forms: [UInt8] = []
        for form in RowKey.forms {
            try snapshot.forEach(prefix: RowKey.prefix(table) + [form]) { _, _ in
                forms.append(form)
                return false
            }
        }
        return forms
    }
}
