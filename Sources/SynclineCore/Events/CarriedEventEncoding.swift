// The bytes of the event that carries unconfirmed changes on.
//
//   carried := through · (name of the table · id · count · change* · (00 | 01 frozen))*
//   change  := flags · position · row
//              flags: 03 kind · 08 replaces · 10 cancels · 20 made in a transaction · 40 made by a resolution
//   frozen  := kind · status · 01 if the server may have seen it, else 00 · position · through · operation id · row
//              · (00 | 01 ancestor) · (00 | 01 server's row) · status code · [code] · [message]

extension EventWriter {
    mutating func append(carriedThrough last: UInt64, _ rows: [CarriedRow]) {
        append(number: last)
        for row in rows {
            append(name: row.table)
            append(id: row.id)
            append(varint: row.changes.count)
            for change in row.changes { append(change) }
            append(flag: row.frozen != nil)
            if let frozen = row.frozen { append(frozen) }
        }
    }

    private mutating func append(_ change: CarriedRow.Change) {
        var flags = change.kind.rawValue
        if change.replaces { flags |= 8 }
        if change.cancels { flags |= 0x10 }
        if change.isGrouped { flags |= 0x20 }
        if change.isResolution { flags |= 0x40 }
        append(varint: Int(flags))
        append(position: change.position)
        append(row: change.columns)
    }

    private mutating func append(_ frozen: FrozenOperation) {
        append(varint: Int(frozen.kind.rawValue))
        append(varint: Int(frozen.status.rawValue))
        append(flag: frozen.maybeSent)
        append(position: frozen.position)
        append(position: frozen.through)
        append(id: frozen.operationID)
        append(row: frozen.columns)
        append(optional: frozen.ancestor)
        append(optional: frozen.server)
        append(varint: frozen.httpStatus ?? 0)
        append(value: frozen.code.map { .string($0) } ?? .null)
        append(value: frozen.message.map { .string($0) } ?? .null)
    }
}

extension EventReader {
    mutating func carried() throws(MalformedBytes) -> (through: UInt64, rows: [CarriedRow]) {
        let last = try varint()
        var rows: [CarriedRow] = []
        while !isAtEnd {
            let table = try name()
            let id = try id()
            var changes: [CarriedRow.Change] = []
            for _ in 0..<(try count()) { changes.append(try carriedChange()) }
            let frozen = try flag() ? try frozenOperation() : nil
            rows.append(CarriedRow(table: table, id: id, changes: changes, frozen: frozen))
        }
        return (last, rows)
    }

    private mutating func carriedChange() throws(MalformedBytes) -> CarriedRow.Change {
        let flags = try number()
        guard let kind = OperationKind(rawValue: UInt8(flags & 3)), flags < 0x80, flags & 4 == 0 else {
            throw MalformedBytes()
        }
        let position = try position()
        var change = CarriedRow.Change(position: position, kind: kind, columns: try row())
        change.replaces = flags & 8 != 0
        change.cancels = flags & 0x10 != 0
        change.isGrouped = flags & 0x20 != 0
        change.isResolution = flags & 0x40 != 0
        return change
    }

    private mutating func frozenOperation() throws(MalformedBytes) -> FrozenOperation {
        guard let kind = OperationKind(rawValue: UInt8(truncatingIfNeeded: try number())),
            let status = FrozenOperation.Status(rawValue: UInt8(truncatingIfNeeded: try number()))
        else { throw MalformedBytes() }
        let maybeSent = try flag()
        let position = try position()
        let through = try self.position()
        let operationID = try id()
        let columns = try row()
        var frozen = FrozenOperation(
            kind: kind, status: status, maybeSent: maybeSent, position: position, through: through,
            operationID: operationID, columns: columns, ancestor: try optionalRow())
        frozen.server = try optionalRow()
        let httpStatus = try number()
        frozen.httpStatus = httpStatus == 0 ? nil : httpStatus
        frozen.code = try text()
        frozen.message = try text()
        return frozen
    }
}
