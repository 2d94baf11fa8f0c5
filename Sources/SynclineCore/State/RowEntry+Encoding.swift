// The bytes of a row's entry, written and read. Its flags are `RowFlags`, `PendingFlags` and `FrozenFlags`.

package import SynclineGround

extension RowEntry {
    /// Whether an encoded entry has pending changes.
    static func hasPending(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.first.map { RowFlags(rawValue: $0).contains(.pending) } ?? false
    }
}

/// Writes rows with their shapes as numbers.
package protocol ShapeNumbering {
    func number(of shape: RowShape) -> Int
}

extension ByteWriter {
    package mutating func append(row: Row, _ shapes: some ShapeNumbering) {
        append(varint: shapes.number(of: row.shape))
        append(counted: row.bytes)
    }

    private mutating func append(optional row: Row?, _ shapes: some ShapeNumbering) {
        append(row == nil ? 0 : 1)
        if let row { append(row: row, shapes) }
    }

    private mutating func append(optional text: String?) {
        append(text == nil ? 0 : 1)
        if let text { append(text: text) }
    }

    package mutating func append(entry: RowEntry, _ shapes: some ShapeNumbering) {
        var flags: RowFlags = []
        flags.set(.base, if: entry.base != nil)
        flags.set(.pending, if: entry.pending != nil)
        flags.set(.spelling, if: entry.spelling != nil)
        flags.set(.overtaken, if: !entry.overtaken.isEmpty)
        flags.set(.local, if: entry.local != nil)
        flags.set(.ownTombstone, if: entry.isOwnTombstone)
        flags.set(.answered, if: entry.isAnswered)
        flags.set(.rightLost, if: entry.isRightLost && entry.pending != nil)
        append(flags.rawValue)
        if let spelling = entry.spelling { append(text: spelling) }
        if let local = entry.local { append(row: local, shapes) }
        if let base = entry.base { append(row: base, shapes) }
        if let pending = entry.pending { append(pending: pending, shapes) }
        if entry.overtaken.isEmpty { return }
        append(varint: entry.overtaken.count)
        for state in entry.overtaken {
            append(value: state.version ?? .null)
            append(value: state.moment.map { .integer($0) } ?? .null)
        }
    }

    /// The entry of a row that was just inserted and nothing else.
    mutating func append(insertedRow shape: Int, _ values: UnsafeRawBufferPointer, _ position: Position) {
        append(RowFlags.pending.rawValue)
        let flags: PendingFlags = [.present, .operation, .isFromFirst, .kind(.insert)]
        append(flags.rawValue)
        append(varint: shape)
        append(counted: values)
        append(position: position)
    }

    private mutating func append(pending: PendingRow, _ shapes: some ShapeNumbering) {
        var flags: PendingFlags = []
        flags.set(.present, if: pending.isPresent)
        flags.set(.hidesBase, if: pending.hidesBase)
        flags.set(.several, if: pending.count > 1)
        flags.set(.frozen, if: pending.frozen != nil)
        if let operation = pending.operation {
            flags.formUnion([.operation, .kind(operation.kind)])
            flags.set(.isFromFirst, if: operation.first == pending.first)
        }
        append(flags.rawValue)
        append(row: pending.overlay, shapes)
        append(position: pending.first)
        if pending.count > 1 {
            append(position: pending.last)
            append(varint: pending.count)
        }
        if let operation = pending.operation, operation.first != pending.first { append(position: operation.first) }
        if let frozen = pending.frozen { append(frozen: frozen, shapes) }
    }

    private mutating func append(frozen: FrozenOperation, _ shapes: some ShapeNumbering) {
        append(frozen.kind.rawValue)
        append(frozen.status.rawValue)
        append(FrozenFlags(frozen).rawValue)
        append(position: frozen.position)
        append(position: frozen.through)
        append(text: frozen.operationID)
        append(row: frozen.columns, shapes)
        append(optional: frozen.ancestor, shapes)
        append(optional: frozen.server, shapes)
        append(varint: frozen.httpStatus ?? 0)
        append(optional: frozen.code)
        append(optional: frozen.message)
        if let revival = frozen.revival { append(optional: revival.tombstone, shapes) }
        if frozen.failures > 0 { append(varint: frozen.failures) }
        if let rival = frozen.rival { append(rival: rival, shapes) }
    }
}

extension ByteReader {
    package mutating func row(_ shapes: ShapeTable) throws(MalformedBytes) -> Row {
        guard let shape = shapes.shape(Int(truncatingIfNeeded: try varint())) else { throw MalformedBytes() }
        return Row(shape: shape, bytes: [UInt8](try counted()))
    }

    private mutating func optionalRow(_ shapes: ShapeTable) throws(MalformedBytes) -> Row? {
        try byte() == 0 ? nil : try row(shapes)
    }

    private mutating func optionalText() throws(MalformedBytes) -> String? {
        try byte() == 0 ? nil : try text()
    }

    package mutating func entry(_ shapes: ShapeTable) throws(MalformedBytes) -> RowEntry {
        let flags = RowFlags(rawValue: try byte())
        var entry = RowEntry()
        if flags.contains(.spelling) { entry.spelling = try text() }
        if flags.contains(.local) { entry.local = try row(shapes) }
        if flags.contains(.base) { entry.base = try row(shapes) }
        if flags.contains(.pending) { entry.pending = try pending(shapes) }
        if flags.contains(.overtaken) { entry.overtaken = try overtaken() }
        entry.isOwnTombstone = flags.contains(.ownTombstone)
        entry.isAnswered = flags.contains(.answered)
        entry.isRightLost = flags.contains(.rightLost)
        return entry
    }

    private mutating func overtaken() throws(MalformedBytes) -> [Overtaken] {
        var states: [Overtaken] = []
        for _ in 0..<(try count()) {
            let version = try value()
            var moment: Int64?
            if case .integer(let number) = try value() { moment = number }
            states.append(Overtaken(version: version.isNull ? nil : version, moment: moment))
        }
        return states
    }

    private mutating func pending(_ shapes: ShapeTable) throws(MalformedBytes) -> PendingRow {
        let flags = PendingFlags(rawValue: try byte())
        let overlay = try row(shapes)
        let first = try position()
        var pending = PendingRow(first: first, last: first, count: 1, isPresent: flags.contains(.present))
        pending.overlay = overlay
        pending.hidesBase = flags.contains(.hidesBase)
        if flags.contains(.several) {
            pending.last = try position()
            pending.count = Int(truncatingIfNeeded: try varint())
        }
        if flags.contains(.operation) {
            guard let kind = flags.kind else { throw MalformedBytes() }
            pending.operation = .init(kind: kind, first: flags.contains(.isFromFirst) ? first : try position())
        }
        if flags.contains(.frozen) { pending.frozen = try frozen(shapes) }
        return pending
    }

    private mutating func frozen(_ shapes: ShapeTable) throws(MalformedBytes) -> FrozenOperation {
        guard let kind = OperationKind(rawValue: try byte()), let status = FrozenOperation.Status(rawValue: try byte())
        else { throw MalformedBytes() }
        let flags = FrozenFlags(rawValue: try byte())
        let position = try position()
        let through = try self.position()
        let operationID = try text()
        let columns = try row(shapes)
        var frozen = FrozenOperation(
            kind: kind, status: status, maybeSent: flags.contains(.maybeSent), position: position, through: through,
            operationID: operationID, columns: columns, ancestor: try optionalRow(shapes))
        frozen.isDecided = flags.contains(.decided)
        frozen.mayHaveBeenDone = flags.contains(.mayHaveBeenDone)
        frozen.server = try optionalRow(shapes)
        let httpStatus = Int(truncatingIfNeeded: try varint())
        frozen.httpStatus = httpStatus == 0 ? nil : httpStatus
        frozen.code = try optionalText()
        frozen.message = try optionalText()
        if flags.contains(.revival) { frozen.revival = Revival(tombstone: try optionalRow(shapes)) }
        if flags.contains(.failures) { frozen.failures = Int(truncatingIfNeeded: try varint()) }
        if flags.contains(.rival) { frozen.rival = try rival(shapes) }
        frozen.serverWorks = flags.contains(.serverWorks)
        return frozen
    }
}
