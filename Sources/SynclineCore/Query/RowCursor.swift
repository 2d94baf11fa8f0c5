// The rows of a table that an app sees, for a caller that asks for one after another. They come in the order of their keys,
// or merged in the order of their ids.

import SynclineGround

package final class RowCursor {
    private let reader: StateReader
    /// What the keys of the table's rows begin with; the form of the id follows.
    private let prefix: [UInt8]
    let known: ShapeList
    private let isMerged: Bool
    /// One place for each form of an id that has rows left. Only the first one is read, unless the forms are merged.
    @exclusivity(unchecked) private var places: [StateCursor] = []
    /// The ids of the places, if they are merged.
    @exclusivity(unchecked) private var ids: [[UInt8]] = []
    @exclusivity(unchecked) private var current = 0
    /// The current row, if it had to be decoded as a whole.
    @exclusivity(unchecked) private var decoded: OwnedRow?
    /// Whether the current row was decoded, so that its shape is in no list.
    var isDecoded: Bool { decoded != nil }
    /// The rows of a block in columns that come next, and the first of them that was not shown. They need no look at other
    /// entries.
    @exclusivity(unchecked) private var stretch: ColumnStretch?
    @exclusivity(unchecked) private var next = 0
    @exclusivity(unchecked) private var end = 0
    /// The current row; nil at the end. It is valid until the cursor moves.
    @exclusivity(unchecked) package private(set) var row: EncodedRowView?

    /// Begins at the first row whose id is not less than `id`, or at the first row. With `byID`, rows come in the order of
    /// their ids, for which the store must not ignore case.
    package init(
        _ reader: StateReader, table: String, from id: String? = nil, byID: Bool = false
    ) throws(SyncError) {
        self.reader = reader
        isMerged = byID
        known = reader.shapes.list
        prefix = RowKey.prefix(table)
        for form in RowKey.forms {
            let start = RowCursor.start(prefix, form, id)
            let place = try start.withBytes { start throws(SyncError) in try reader.snapshot.cursor(from: start) }
            guard isInTable(place, form) else { continue }
            places.append(place)
            if byID { ids.append(try idText(at: place)) }
        }
        try settle()
    }

    /// The first key of a form that an id not less than `id` can have.
    private static func start(_ prefix: [UInt8], _ form: UInt8, _ id: String?) -> [UInt8] {
        guard var id else { return prefix + [form] }
        if form == 3 { return prefix + [form] + Array(id.utf8) }
        // UUIDs of one form sort as their keys do. For another id, all of them are read.
        guard case .uuid(let uuid)? = id.utf8.count == 36 ? id.withUTF8({ TextForm(Bytes($0)) }) : nil,
            uuid.isUpper == (form == 2)
        else { return prefix + [form] }
        var writer = ByteWriter()
        writer.append(prefix)
        writer.append(form)
        writer.append(uuid)
        return writer.bytes
    }

    /// The current row's key, valid until the cursor moves.
    package var key: UnsafeRawBufferPointer? {
        if let stretch { return stretch.row.borrowed { $0.key } }
        return current < places.count ? places[current].key : nil
    }

    /// Moves to the next row if it needs no other view. Returns whether it did.
    @inline(__always)
    package func moveInBlock() -> Bool {
        guard next < end, let stretch else { return false }
        stretch.row.borrowed { $0.move(to: next) }
        next += 1
        return true
    }

    /// Moves to the next row, and returns it.
    @discardableResult
    package func advance() throws(SyncError) -> EncodedRowView? {
        if moveInBlock() { return row }
        guard current < places.count else { return row }
        if stretch != nil {
            places[current].skip(to: end - 1)
            (stretch, next, end) = (nil, 0, 0)
        }
        try step()
        try settle()
        return row
    }

    /// Moves the current place by one key, and removes it at its end.
    private func step() throws(SyncError) {
        guard let form = places[current].key?[prefix.count] else { return }
        try places[current].advance()
        if isInTable(places[current], form) {
            if isMerged { ids[current] = try idText(at: places[current]) }
        } else {
            places.remove(at: current)
            if isMerged { ids.remove(at: current) }
        }
    }

    /// Moves on to a row that an app sees, if the current one is not.
    private func settle() throws(SyncError) {
        row = nil
        decoded = nil
        while true {
            if isMerged { current = smallest }
            guard current < places.count, let key = places[current].key, let value = places[current].view else {
                return
            }
            if let found = value.row, !isMerged || places.count == 1, let stretch = places[current].stretch() {
                self.stretch = stretch
                (next, end) = (stretch.rows.lowerBound + 1, stretch.rows.upperBound)
                row = try EncodedRowView(table: prefix.count, found, known)
                return
            }
            if value.row == nil, EncodedRowView.isFrozen(value.head) {
                if let owned = try OwnedRow(key, value.head, reader.shapes) {
                    decoded = owned
                    row = owned.sight
                    return
                }
            } else if let sight = try EncodedRowView(table: prefix.count, key: key, value: value, known) {
                row = sight
                return
            }
            try step()
        }
    }

    private var smallest: Int {
        var best = 0
        for index in ids.indices.dropFirst() {
            if ids[index].withBytes({ one in ids[best].withBytes { one.compare($0) } }) < 0 { best = index }
        }
        return best
    }

    private func idText(at place: StateCursor) throws(SyncError) -> [UInt8] {
        guard let key = place.key else { return [] }
        do throws(MalformedBytes) {
            return Array(try RowKey.id(in: key, skipping: prefix.count).text.utf8)
        } catch {
            throw .malformed("a row's key")
        }
    }

    @inline(__always)
    private func isInTable(_ place: StateCursor, _ form: UInt8) -> Bool {
        guard let key = place.key, key.count > prefix.count, key[prefix.count] == form else { return false }
        return prefix.withBytes { $0.compare(Bytes(rebasing: key[..<$0.count])) == 0 }
    }
}

/// A decoded row in memory of its own.
final class OwnedRow {
    private let row: Row
    private let memory: UnsafeMutableRawBufferPointer
    private let idLength: Int

    /// Nil if an app does not see the row.
    convenience init?(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ shapes: ShapeTable
    ) throws(SyncError) {
        let entry = try RowEntry(value, shapes)
        guard let row = entry.visible else { return nil }
        var id = try RowKey(malformed: [UInt8](key)).id
        if let spelling = entry.spelling { id = spelling }
        self.init(id: id, row: row)
    }

    init(id: String, row: Row) {
        self.row = row
        idLength = id.utf8.count
        memory = .allocate(byteCount: max(1, idLength + row.bytes.count), alignment: 1)
        var id = id
        id.withUTF8 { memory.copyMemory(from: UnsafeRawBufferPointer($0)) }
        memory[idLength...].copyBytes(from: row.bytes)
    }

    deinit { memory.deallocate() }

    /// The row, valid while this object is.
    var sight: EncodedRowView {
        let bytes = UnsafeRawBufferPointer(memory)
        let view = RowView(
            shape: row.shape, bytes: Bytes(rebasing: bytes[idLength..<idLength + row.bytes.count]))
        return EncodedRowView(id: Bytes(rebasing: bytes[..<idLength]), row: view)
    }
}
