// The bytes of the event that carries unconfirmed changes on.
//
//   carried := through · (name of the table · id · count · change* · (00 | 01 frozen))*
//   change  := flags · position · row
//              flags: 03 kind · 04 revives · 08 replaces · 10 cancels · 20 made in a transaction · 40 made by a resolution
//   frozen  := kind · status · flags · failures · position · through · operation id · row · (00 | 01 ancestor)
//              · (00 | 01 server's row) · status code · [code] · [message] · [00 | 01 tombstone]
//              flags: 01 the server may have seen it · 02 goes on as an undelete · 04 brings its row back ·
//              08 may have been done · 20 the server works

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
        if change.revives { flags |= 4 }
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
        append(
            varint: (frozen.maybeSent ? 1 : 0) | (frozen.revival == nil ? 0 : 2) | (frozen.isDecided ? 4 : 0)
                | (frozen.mayHaveBeenDone ? 8 : 0) | (frozen.serverWorks ? 0x20 : 0))
        append(varint: frozen.failures)
        append(position: frozen.position)
        append(position: frozen.through)
        append(id: frozen.operationID)
        append(row: frozen.columns)
        append(optional: frozen.ancestor)
        append(optional: frozen.server)
        append(varint: frozen.httpStatus ?? 0)
        append(value: frozen.code.map { .string($0) } ?? .null)
        append(value: frozen.message.map { .string($0) } ?? .null)
        if let revival = frozen.revival { append(optional: revival.tombstone) }
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
        guard let kind = OperationKind(rawValue: UInt8(flags & 3)), flags < 0x80 else {
            throw MalformedBytes()
        }
        let position = try position()
        var change = CarriedRow.Change(position: position, kind: kind, columns: try row())
        change.revives = flags & 4 != 0
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
        let flags = try number()
        guard flags & ~0x2f == 0 else { throw MalformedBytes() }
        let failures = try number()
        let position = try position()
        let through = try self.position()
        let operationID = try id()
        let columns = try row()
        var frozen = FrozenOperation(
            kind: kind, status: status, maybeSent: flags & 1 != 0, position: position, through: through,
            operationID: operationID, columns: columns, ancestor: try optionalRow())
        frozen.server = try optionalRow()
        let httpStatus = try number()
        frozen.httpStatus = httpStatus == 0 ? nil : httpStatus
        frozen.code = try text()
        frozen.message = try text()
        if flags & 2 != 0 { frozen.revival = Revival(tombstone: try optionalRow()) }
        frozen.isDecided = flags & 4 != 0
        frozen.mayHaveBeenDone = flags & 8 != 0
        frozen.serverWorks = flags & 0x20 != 0
        frozen.failures = failures
        return frozen
    }
}
