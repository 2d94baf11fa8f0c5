// Shows the rows of a table as an app sees them, read in place.

import SynclineGround

/// A row that an app sees, and the entry it was read from.
struct VisitedRow: ~Copyable {
    /// Where the row is while it is shown. It is large, and copying it takes as long as a comparison of a column.
    let place: RowPointer
    let key: Bytes
    let value: ValueView
    /// The form of its id.
    let form: UInt8

    var sight: EncodedRowView { place.pointee }
}

typealias RowPointer = UnsafePointer<EncodedRowView>

struct RowVisitor {
    private let reader: StateReader
    private let table: String
    private let prefixLength: Int
    /// A snapshot uses no shape that was added after it.
    let shapes: ShapeList

    init(_ reader: StateReader, _ table: String) {
        self.reader = reader
        self.table = table
        prefixLength = RowKey.prefixLength(table)
        shapes = reader.shapes.list
    }

    /// What the keys of the table's rows have in common.
    var prefix: [UInt8] { RowKey.prefix(table) }

    /// Calls the body with every row of the table whose id has one form, in order, until it returns false.
    @inline(__always)
    func forEachRow(
        form: UInt8, _ filter: BlockFilter? = nil, _ body: (borrowing VisitedRow) throws(SyncError) -> Bool
    ) throws(SyncError) {
        defer { extendLifetime(shapes) }
        try reader.snapshot.forEachEntry(prefix: prefix + [form], filter) { key, value throws(SyncError) in
            try show(key, value, body)
        }
    }

    /// The same in no order.
    @inline(__always)
    func forEachRowByLayer(
        form: UInt8, _ filter: BlockFilter?, _ body: (borrowing VisitedRow) throws(SyncError) -> Bool
    ) throws(SyncError) {
        defer { extendLifetime(shapes) }
        try reader.snapshot.forEachByLayer(prefix: prefix + [form], filter) { key, value throws(SyncError) in
            try show(key, value, body)
        }
    }

    /// Calls `body` with the row of an entry of the state, if an app sees it.
    func visit(
        _ key: Bytes, _ value: ValueView, _ body: (borrowing VisitedRow) throws(SyncError) -> Void
    ) throws(SyncError) {
        defer { extendLifetime(shapes) }
        _ = try show(key, value) { row throws(SyncError) in
            try body(row)
            return true
        }
    }

    /// Calls `body` with the row, if an app sees it. Its caller keeps the shapes.
    @inline(__always)
    private func show(
        _ key: Bytes, _ value: ValueView, _ body: (borrowing VisitedRow) throws(SyncError) -> Bool
    ) throws(SyncError) -> Bool {
        guard key.count > prefixLength else { throw .malformed("a row's key") }
        let form = key[prefixLength]
        if value.row == nil, EncodedRowView.isFrozen(value.head) {
            guard let owned = try OwnedRow(key, value.head, reader.shapes) else { return true }
            defer { extendLifetime(owned) }
            return try withUnsafePointer(to: owned.sight) { place throws(SyncError) in
                try body(VisitedRow(place: place, key: key, value: value, form: form))
            }
        }
        guard let sight = try EncodedRowView(table: prefixLength, key: key, value: value, shapes) else { return true }
        return try withUnsafePointer(to: sight) { place throws(SyncError) in
            try body(VisitedRow(place: place, key: key, value: value, form: form))
        }
    }

    /// Calls `body` with what an entry of an index keeps of a row. The visitor's owner keeps the shapes.
    @inline(__always)
    func visit(
        entry id: Bytes, _ value: Bytes, _ body: (borrowing VisitedRow) throws(SyncError) -> Void
    ) throws(SyncError) {
        var reader = ByteReader(value)
        let view: RowView
        do throws(MalformedBytes) { view = try reader.view(shapes) } catch { throw .malformed("an index") }
        guard let form = id.first else { throw .malformed("an index") }
        try withUnsafePointer(to: EncodedRowView(formAndID: id, row: view)) { place throws(SyncError) in
            try body(VisitedRow(place: place, key: id, value: ValueView(value), form: form))
        }
    }
}
