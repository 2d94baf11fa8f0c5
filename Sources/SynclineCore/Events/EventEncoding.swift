// An event in bytes. Each decodes alone: a name or a shape is written where it is first used and is a number after that.
//
//   event  := kind · time zigzag · body
//   name   := 00 text, or the number of one before, from 1
//   shape  := 00 length in bytes and the names' texts, or the number of one before, from 1
//   row    := shape · length and value bytes
//   change := flags · name of the table · id as value · [version as value] · row unless a delete
//             its flags are `ChangeFlags`

package import SynclineGround

package enum EventKind: UInt8, CaseIterable, Sendable {
    case opened = 1
    case configured, local, undone, page, purged, cursorReset, indexed, sent, answered, resolved, declared
    case discarded
    case carried = 14
    case serverWorked = 16
    case typed = 17
}

/// Builds the bytes of one event.
package struct EventWriter {
    package fileprivate(set) var writer: ByteWriter
    private var names: [String: (number: Int, spelling: String)] = [:]
    private var nameCount = 0
    /// The name and the shape written last, which the next row usually has too. Others are in the dictionaries.
    private var latestName: (name: String, number: Int)?
    private var latestShape: (shape: RowShape, number: Int)?
    private var shapes: [ObjectIdentifier: Int] = [:]
    private var shapesByName: [RowShape: Int] = [:]
    /// Retains shapes whose identity is a key above.
    private var keptShapes: [RowShape] = []

    package init(_ kind: EventKind, time: Int64, capacity: Int = 256) {
        writer = ByteWriter(capacity: capacity)
        writer.append(kind.rawValue)
        writer.append(zigzag: time)
    }

    package var bytes: [UInt8] { writer.bytes }

    mutating func append(name: String) {
        if let latest = latestName {
            if latest.name.hasSameBytes(as: name) { return writer.append(varint: latest.number) }
            names[latest.name] = (latest.number, latest.name)
        }
        // Strings that are equal in Unicode may have different bytes, which the state distinguishes.
        if let known = names[name], known.spelling.hasSameBytes(as: name) {
            latestName = (name, known.number)
            return writer.append(varint: known.number)
        }
        nameCount += 1
        latestName = (name, nameCount)
        writer.append(0)
        writer.append(text: name)
    }

    mutating func append(row: Row) {
        append(shape: row.shape)
        writer.append(counted: row.bytes)
    }

    private mutating func append(shape: RowShape) {
        if let latest = latestShape {
            if latest.shape === shape { return writer.append(varint: latest.number) }
            shapesByName[latest.shape] = latest.number
            if shapes.updateValue(latest.number, forKey: ObjectIdentifier(latest.shape)) == nil {
                keptShapes.append(latest.shape)
            }
        }
        let known = shapes[ObjectIdentifier(shape)] ?? shapesByName[shape]
        let number = known ?? shapesByName.count + 1
        latestShape = (shape, number)
        if known != nil { return writer.append(varint: number) }
        writer.append(0)
        writer.append(counted: shape.encodedNames)
    }

    /// Appends a plain insert whose row id is already encoded.
    mutating func append(insertInto table: String, _ id: Bytes, _ columns: Row) {
        writer.append(ChangeFlags.kind(.insert).rawValue)
        append(name: table)
        writer.append(id)
        append(row: columns)
    }

    package mutating func append(change: LocalChange) {
        var flags = ChangeFlags.kind(change.kind)
        flags.set(.version, if: change.baseVersion != nil)
        flags.set(.replaces, if: change.replaces)
        flags.set(.cancels, if: change.cancels)
        flags.set(.seen, if: change.seen != nil)
        flags.set(.contested, if: change.isContested)
        writer.append(flags.rawValue)
        append(name: change.table)
        append(id: change.id)
        if let version = change.baseVersion { writer.append(value: version) }
        if let seen = change.seen { append(row: seen) }
        if change.kind != .delete { append(row: change.columns) }
    }

    mutating func append(id: String) { writer.append(textValue: id) }

    fileprivate mutating func append(optional value: Value?) {
        writer.append(value == nil ? 0 : 1)
        if let value { writer.append(value: value) }
    }

    fileprivate mutating func append(optional text: String?) {
        append(optional: text.map { Value.string($0) })
    }

    mutating func append(flag: Bool) { writer.append(flag ? 1 : 0) }

    /// Whether a pulled row is there: 0 if the server does not have it, 1 if it does, 2 if only the query's view does not,
    /// 5 if the user lost the right to it. 3 and 4 begin something else.
    mutating func append(presence row: PulledRow) {
        writer.append(row.row != nil ? 1 : row.isByRight ? 5 : row.hasLeft ? 2 : 0)
    }

    mutating func append(cursor: CursorState) { writer.append(cursor: cursor) }

    mutating func append(value: Value) { writer.append(value: value) }

    mutating func append(varint: Int) { writer.append(varint: varint) }

    mutating func append(number: UInt64) { writer.append(varint: number) }

    mutating func append(position: Position) { writer.append(position: position) }
}

extension Event {
    package var bytes: [UInt8] {
        var writer = EventWriter(kind, time: time, capacity: sizeHint)
        switch body {
        case .opened(let opening):
            writer.append(id: opening.device)
            writer.append(id: opening.engineVersion)
            writer.append(optional: .integer(Int64(opening.projectorVersion)))
            writer.append(optional: .integer(Int64(opening.schemaVersion)))
            if let place = opening.place { writer.append(id: place) }
        case .configured(let name, let value):
            writer.append(name: name)
            writer.append(optional: value)
        case .local(let transaction):
            writer.append(transaction.heading)
            for change in transaction.changes { writer.append(change: change) }
        case .undone(let event):
            writer.append(optional: .integer(Int64(bitPattern: event)))
        case .page(let page):
            writer.append(name: page.table)
            writer.append(optional: page.queryID)
            writer.append(flag: page.isAudit)
            writer.append(flag: page.cursor != nil)
            if let cursor = page.cursor { writer.append(cursor: cursor) }
            for row in page.rows {
                writer.append(presence: row)
                writer.append(id: row.id)
                if let row = row.row { writer.append(row: row) }
            }
            for row in page.unreadable { writer.writer.append(unreadableOfPage: row) }
            for digest in page.vanished { writer.writer.append(vanishedOfPage: digest) }
        case .purged(let purge):
            writer.append(name: purge.table)
            writer.append(flag: purge.isForced)
            writer.append(flag: purge.ids != nil)
            for id in purge.ids ?? [] { writer.append(id: id) }
        case .indexed(let change): writer.append(change)
        case .typed(let declaration): writer.append(declaration)
        case .cursorReset(let table, let queryID):
            writer.append(name: table)
            writer.append(id: queryID)
        case .sent(let operations):
            for operation in operations { writer.append(sent: operation) }
        case .answered(let answer):
            writer.append(answer: answer)
        case .resolved(let resolution):
            writer.append(resolution: resolution)
        case .declared(let declaration, let steps):
            writer.append(declaration, steps)
        case .discarded(let table, let id):
            writer.append(name: table)
            writer.append(id: id)
        case .serverWorked: break
        case .carried(let last, let rows):
            writer.append(carriedThrough: last, rows)
        }
        return writer.bytes
    }

    /// The approximate size of the encoding, if it is large.
    private var sizeHint: Int {
        guard case .page(let page) = body else { return 256 }
        return page.rows.reduce(256) { $0 + $1.id.utf8.count + ($1.row?.bytes.count ?? 0) + 8 }
    }

    package var kind: EventKind {
        switch body {
        case .opened: .opened
        case .configured: .configured
        case .local: .local
        case .undone: .undone
        case .page: .page
        case .purged: .purged
        case .indexed: .indexed
        case .typed: .typed
        case .cursorReset: .cursorReset
        case .sent: .sent
        case .answered: .answered
        case .resolved: .resolved
        case .declared: .declared
        case .discarded: .discarded
        case .serverWorked: .serverWorked
        case .carried: .carried
        }
    }
}

/// Decodes an event.
package struct EventReader {
    package let time: Int64
    package let kind: EventKind
    private var reader: ByteReader
    private var names: [String] = []
    private var shapes: [RowShape] = []
    private let table: ShapeTable

    /// `table` has the shapes that are already known, so that rows of one shape share it.
    package init(_ bytes: UnsafeRawBufferPointer, _ table: ShapeTable) throws(SyncError) {
        var reader = ByteReader(bytes)
        self.table = table
        do throws(MalformedBytes) {
            let number = try reader.byte()
            guard let kind = EventKind(rawValue: number) else { throw MalformedBytes() }
            self.kind = kind
            time = try reader.zigzag()
        } catch {
            if let first = bytes.first, first > 0, EventKind(rawValue: first) == nil {
                throw .newer("an event of kind \(first)")
            }
            throw .malformed("an event of \(bytes.count) bytes")
        }
        self.reader = reader
    }

    var isAtEnd: Bool { reader.isAtEnd }

    mutating func name() throws(MalformedBytes) -> String {
        let number = try reader.varint()
        if number == 0 {
            let name = try reader.text()
            names.append(name)
            return name
        }
        guard number <= UInt64(names.count) else { throw MalformedBytes() }
        return names[Int(number) - 1]
    }

    mutating func row() throws(MalformedBytes) -> Row {
        let shape = try shape()
        let values = try reader.counted()
        var check = ByteReader(values)
        for _ in shape.names { try check.skipValue() }
        guard check.isAtEnd else { throw MalformedBytes() }
        return Row(shape: shape, bytes: [UInt8](values))
    }

    private mutating func shape() throws(MalformedBytes) -> RowShape {
        let number = try reader.varint()
        if number > 0 {
            guard number <= UInt64(shapes.count) else { throw MalformedBytes() }
            return shapes[Int(number) - 1]
        }
        let shape = try table.shape(encodedNames: try reader.counted())
        shapes.append(shape)
        return shape
    }

    mutating func id() throws(MalformedBytes) -> String {
        guard case .string(let id) = try reader.value() else { throw MalformedBytes() }
        return id
    }

    mutating func value() throws(MalformedBytes) -> Value { try reader.value() }

    mutating func varint() throws(MalformedBytes) -> UInt64 { try reader.varint() }

    mutating func count() throws(MalformedBytes) -> Int { try reader.count() }

    mutating func position() throws(MalformedBytes) -> Position { try reader.position() }

    mutating func flag() throws(MalformedBytes) -> Bool {
        let byte = try reader.byte()
        guard byte <= 1 else { throw MalformedBytes() }
        return byte == 1
    }

    private mutating func optionalValue() throws(MalformedBytes) -> Value? {
        try flag() ? try reader.value() : nil
    }

    private mutating func optionalText() throws(MalformedBytes) -> String? {
        switch try optionalValue() {
        case nil: nil
        case .string(let text): text
        default: throw MalformedBytes()
        }
    }

    private mutating func integer() throws(MalformedBytes) -> Int64 {
        guard case .integer(let number)? = try optionalValue() else { throw MalformedBytes() }
        return number
    }

    mutating func change() throws(MalformedBytes) -> LocalChange {
        try LocalChange(try encodedChange())
    }

    /// Reads the next change, its parts still encoded.
    mutating func encodedChange() throws(MalformedBytes) -> EncodedChange {
        let flags = ChangeFlags(rawValue: try reader.byte())
        guard let kind = flags.kind else { throw MalformedBytes() }
        let table = try name()
        let id = try encodedValue()
        let version = flags.contains(.version) ? try encodedValue() : nil
        let seen = flags.contains(.seen) ? (shape: try self.shape(), values: try reader.counted()) : nil
        var shape = RowShape.empty
        var values = UnsafeRawBufferPointer(start: nil, count: 0)
        if kind != .delete {
            shape = try self.shape()
            values = try reader.counted()
        }
        return EncodedChange(
            kind: kind, flags: flags, table: table, id: id, version: version, seen: seen, shape: shape, values: values)
    }

    mutating func encodedValue() throws(MalformedBytes) -> UnsafeRawBufferPointer {
        let start = reader.offset
        try reader.skipValue()
        return UnsafeRawBufferPointer(rebasing: reader.bytes[start..<reader.offset])
    }

    /// Reads the rest of the event.
    package mutating func event() throws(SyncError) -> Event {
        do throws(MalformedBytes) {
            let event = Event(time: time, try body())
            guard reader.isAtEnd else { throw MalformedBytes() }
            return event
        } catch {
            throw .malformed("an event of kind \(kind.rawValue)")
        }
    }

    private mutating func body() throws(MalformedBytes) -> Event.Body {
        switch kind {
        case .opened:
            let device = try id()
            let version = try id()
            let projector = UInt32(truncatingIfNeeded: try integer())
            let schema = UInt32(truncatingIfNeeded: try integer())
            return .opened(
                Opening(
                    device: device, engineVersion: version, projectorVersion: projector, schemaVersion: schema,
                    place: isAtEnd ? nil : try id()))
        case .configured:
            let name = try name()
            return .configured(name: name, value: try optionalValue())
        case .local:
            let heading = try transaction()
            var changes: [LocalChange] = []
            while !isAtEnd { changes.append(try change()) }
            return .local(LocalTransaction(changes, heading))
        case .undone:
            return .undone(event: UInt64(bitPattern: try integer()))
        case .page:
            return .page(try page())
        case .purged:
            let table = try name()
            let isForced = try flag()
            guard try flag() else { return .purged(Purge(table: table, ids: nil, isForced: isForced)) }
            var ids: [String] = []
            while !isAtEnd { ids.append(try id()) }
            return .purged(Purge(table: table, ids: ids, isForced: isForced))
        case .indexed: return .indexed(try indexChange())
        case .typed: return .typed(try typeDeclaration())
        case .cursorReset:
            let table = try name()
            return .cursorReset(table: table, queryID: try id())
        case .sent: return .sent(try sentOperations())
        case .answered: return .answered(try answer())
        case .resolved: return .resolved(try resolution())
        case .declared:
            let (declaration, steps) = try declaration()
            return .declared(declaration, steps: steps)
        case .discarded:
            let table = try name()
            return .discarded(table: table, id: try id())
        case .serverWorked: return .serverWorked
        case .carried:
            let (last, rows) = try carried()
            return .carried(through: last, rows)
        }
    }

    /// Reads the head of a page, without its rows.
    mutating func pageHead() throws(SyncError) -> (table: String, queryID: String?) {
        do throws(MalformedBytes) {
            return (try name(), try optionalText())
        } catch {
            throw .malformed("an event of kind \(kind.rawValue)")
        }
    }

    private mutating func page() throws(MalformedBytes) -> PulledPage {
        let table = try name()
        let queryID = try optionalText()
        let isAudit = try flag()
        let cursor = try flag() ? try reader.cursor() : nil
        var page = PulledPage(table: table, queryID: queryID, rows: [], cursor: cursor, isAudit: isAudit)
        while !isAtEnd {
            if let row = try reader.unreadableOfPage(table) {
                page.unreadable.append(row)
                continue
            }
            if let digest = try reader.vanishedOfPage() {
                page.vanished.append(digest)
                continue
            }
            let presence = try reader.byte()
            guard presence <= 2 || presence == 5 else { throw MalformedBytes() }
            let id = try id()
            page.rows.append(
                PulledRow(
                    id: id, row: presence == 1 ? try row() : nil, hasLeft: presence >= 2, isByRight: presence == 5))
        }
        return page
    }
}

extension Event {
    /// Decodes one record of the log.
    package init(
        _ bytes: UnsafeRawBufferPointer, shapes: ShapeTable = ShapeTable()
    ) throws(SyncError) {
        var reader = try EventReader(bytes, shapes)
        self = try reader.event()
    }
}
