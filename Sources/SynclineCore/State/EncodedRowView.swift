// A row of the state as an app sees it, read in place: base and pending columns stay encoded until one is requested. It
// retains nothing, so its creator must keep the row and the shapes alive.

import SynclineGround

package struct EncodedRowView: FilterSubject {
    /// Where the id is: given separately, or in the row's key.
    private enum Name {
        case text(UnsafeRawBufferPointer)
        case key(UnsafeRawBufferPointer, skipping: Int)
        case row(Unmanaged<ColumnRow>, skipping: Int)
    }

    private let name: Name
    /// The columns that never leave the device.
    private let local: RowView?
    private let over: RowView?
    private let under: RowView?

    /// Nil if an app does not see the row. It sees every row of a block in columns.
    @inline(__always)
    package init?(
        table prefixLength: Int, key: UnsafeRawBufferPointer, value: ValueView, _ shapes: ShapeList
    ) throws(SyncError) {
        if let row = value.row {
            try self.init(.key(key, skipping: prefixLength), row, shapes)
        } else {
            try self.init(table: prefixLength, key: key, bytes: value.head, shapes)
        }
    }

    private init?(
        table prefixLength: Int, key: UnsafeRawBufferPointer, bytes: UnsafeRawBufferPointer, _ shapes: ShapeList
    ) throws(SyncError) {
        do throws(MalformedBytes) {
            var reader = ByteReader(bytes)
            let flags = RowFlags(rawValue: try reader.byte())
            name = flags.contains(.spelling) ? .text(try reader.counted()) : .key(key, skipping: prefixLength)
            local = flags.contains(.local) ? try reader.view(shapes) : nil
            let base = flags.contains(.base) ? try reader.view(shapes) : nil
            guard flags.contains(.pending) else {
                guard base != nil else { return nil }
                over = nil
                under = base
                return
            }
            let pendingFlags = PendingFlags(rawValue: try reader.byte())
            guard pendingFlags.contains(.present) else { return nil }
            over = try reader.view(shapes)
            under = pendingFlags.contains(.hidesBase) ? nil : base
        } catch {
            throw .malformed("a row of the state")
        }
    }

    package var id: String { compactID.text }

    var compactID: CompactID {
        switch name {
        case .text(let id): CompactID(String(decoding: id, as: UTF8.self))
        case .key(let key, let prefix): (try? RowKey.id(in: key, skipping: prefix)) ?? CompactID("")
        case .row(let row, let prefix):
            (try? RowKey.id(in: row.borrowed { $0.key }, skipping: prefix)) ?? CompactID("")
        }
    }

    /// Calls `body` with the UTF-8 of the id.
    @inline(__always)
    package func withID(_ body: (UnsafeRawBufferPointer) -> Void) {
        switch name {
        case .text(let id): body(id)
        case .key(let key, let prefix): if (try? RowKey.withID(in: key, skipping: prefix, body)) == nil { body(key) }
        case .row(let row, let prefix):
            let key = row.borrowed { $0.key }
            if (try? RowKey.withID(in: key, skipping: prefix, body)) == nil { body(key) }
        }
    }

    /// Calls `body` with the shape of each of its parts.
    @inline(__always)
    func forEachShape(_ body: (Unmanaged<RowShape>) -> Void) {
        if let local { body(local.reference) }
        if let over { body(over.reference) }
        if let under { body(under.reference) }
    }

    /// A row of a block in columns. The view stays the same if it is moved.
    @inline(__always)
    init(table prefixLength: Int, _ row: Unmanaged<ColumnRow>, _ shapes: ShapeList) throws(SyncError) {
        try self.init(.row(row, skipping: prefixLength), row, shapes)
    }

    @inline(__always)
    private init(_ name: Name, _ row: Unmanaged<ColumnRow>, _ shapes: ShapeList) throws(SyncError) {
        guard let number = row.borrowed({ $0.shape }), number < shapes.references.count else {
            throw .malformed("a row of the state")
        }
        self.name = name
        local = nil
        over = nil
        under = RowView(shapes.references[number], row)
    }

    /// The value of a column, if the row is in a block in columns whose encoding says of what kind it is.
    @inline(__always)
    package func entryValue(_ column: inout ColumnPlaces) -> EntryValue? {
        guard case .row(let row, _) = name, let under else { return nil }
        guard let place = column.under.place(column.name, under.reference) else { return .null }
        return row.borrowed { $0.entryValue(place) }
    }

    /// A column's encoded value and what follows it; nil if the row has no such column.
    @inline(__always)
    package func encoded(_ column: inout ColumnPlaces) -> UnsafeRawBufferPointer? {
        if let local, let place = column.local.place(column.name, local.reference) { return local.encoded(at: place) }
        if let over, let place = column.over.place(column.name, over.reference) { return over.encoded(at: place) }
        if let under, let place = column.under.place(column.name, under.reference) { return under.encoded(at: place) }
        return nil
    }

    /// Whether the row must be decoded as a whole, because an operation that was sent may show another base.
    @inline(__always)
    package static func isFrozen(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let flags = value.first.map(RowFlags.init), flags.contains(.pending), !flags.contains(.base) else {
            return false
        }
        if flags == .pending { return value.count > 1 && PendingFlags(rawValue: value[1]).contains(.frozen) }
        return isFrozen(value, flags)
    }

    private static func isFrozen(_ value: UnsafeRawBufferPointer, _ flags: RowFlags) -> Bool {
        var reader = ByteReader(value, at: 1)
        if flags.contains(.spelling) { guard (try? reader.counted()) != nil else { return false } }
        if flags.contains(.local) {
            guard (try? reader.varint()) != nil, (try? reader.counted()) != nil else { return false }
        }
        guard let pending = try? reader.byte() else { return false }
        return PendingFlags(rawValue: pending).contains(.frozen)
    }

    /// Creates a view of a row whose id is given as text.
    package init(id: UnsafeRawBufferPointer, row: RowView) {
        name = .text(id)
        local = nil
        over = nil
        under = row
    }

    /// A row whose id is in the form that keys have.
    init(formAndID id: UnsafeRawBufferPointer, row: RowView?) {
        name = .key(id, skipping: 0)
        local = nil
        over = nil
        under = row
    }

    package func value(ofColumn name: String) -> Value {
        if name == "id" { return .string(id) }
        if let local, let place = local.shape.place(of: name) { return local.value(at: place) }
        if let over, let place = over.shape.place(of: name) { return over.value(at: place) }
        if let under, let place = under.shape.place(of: name) { return under.value(at: place) }
        return .null
    }

    /// The whole row, copied.
    package var row: Row {
        get throws(SyncError) {
            guard let local else { return try shared }
            return try shared.merged(with: local.row)
        }
    }

    /// The whole row, copied, if it has these columns in this order.
    @inline(__always)
    func row(ofOnly shape: RowShape) throws(SyncError) -> Row? {
        guard local == nil, over == nil, let under,
            under.reference.toOpaque() == Unmanaged.passUnretained(shape).toOpaque()
        else { return nil }
        return try under.row
    }

    private var shared: Row {
        get throws(SyncError) {
            guard let over else { return try under?.row ?? .empty }
            guard let under else { return try over.row }
            return try under.row.merged(with: over.row)
        }
    }
}

extension ByteReader {
    @inline(__always)
    mutating func view(_ shapes: ShapeList) throws(MalformedBytes) -> RowView {
        let number = try varint()
        guard number < UInt64(shapes.references.count) else { throw MalformedBytes() }
        return RowView(shapes.references[Int(number)], try counted())
    }
}

extension RowKey {
    /// Calls `body` with the UTF-8 of the id in a row's key whose table is known.
    static func withID(
        in key: UnsafeRawBufferPointer, skipping prefix: Int, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(MalformedBytes) {
        var reader = ByteReader(key)
        try reader.skip(prefix)
        let form = try reader.byte()
        guard form == 1 || form == 2 else { return body(reader.rest) }
        let digits = try reader.take(16)
        withTextMemory(36) { memory in
            body(memory.filled(TextForm.write(uuid: digits, isUpper: form == 2, memory)))
        }
    }

    /// The id in a row's key, after the part with its table.
    static func id(in key: UnsafeRawBufferPointer, skipping prefix: Int) throws(MalformedBytes) -> CompactID {
        var reader = ByteReader(key)
        try reader.skip(prefix)
        return try CompactID(&reader)
    }
}
