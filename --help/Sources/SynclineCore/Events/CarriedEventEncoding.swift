// The bytes of the event that carries unconfirmed changes on.
//
//   carried := through · (name of the table · id · count · change* · (00 | 01 frozen))*
//   change  := flags · position · row
//              its flags are `CarriedFlags`
//   frozen  := kind · status · flags · failures · position · through · operation id · row · (00 | 01 ancestor)
//              · (00 | 01 server's row) · status code · [code] · [message] · [00 | 01 tombstone]
//              · [kind · row · (00 | 01 row): what the app had pending beside a change of another process, and its base]
//              its flags are `FrozenFlags`

import SynclineGround

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
        var flags = CarriedFlags.kind(change.kind)
        flags.set(.revives, if: change.revives)
        flags.set(.replaces, if: change.replaces)
        flags.set(.cancels, if: change.cancels)
        flags.set(.grouped, if: change.isGrouped)
        flags.set(.resolution, if: change.isResolution)
        append(varint: Int(flags.rawValue))
        append(position: change.position)
        append(row: change.columns)
    }

    private mutating func append(_ frozen: FrozenOperation) {
        append(varint: Int(frozen.kind.rawValue))
        append(varint: Int(frozen.status.rawValue))
        append(varint: Int(FrozenFlags(frozen).intersection(.ofEvents).rawValue))
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
        if let rival = frozen.rival {
            append(varint: Int(rival.kind.rawValue))
            append(row: rival.columns)
            append(optional: rival.base)
        }
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
        guard let byte = UInt8(exactly: try number()) else { throw MalformedBytes() }
        let flags = CarriedFlags(rawValue: byte)
        guard let kind = flags.kind else { throw MalformedBytes() }
        return CarriedRow.Change(
            position: try position(), kind: kind, columns: try row(), replaces: flags.contains(.replaces),
            cancels: flags.contains(.cancels), revives: flags.contains(.revives),
            isGrouped: flags.contains(.grouped), isResolution: flags.contains(.resolution))
    }

    private mutating func frozenOperation() throws(MalformedBytes) -> FrozenOperation {
        let kind: OperationKind = try numbered()
        let status: FrozenOperation.Status = try numbered()
        guard let byte = UInt8(exactly: try number()) else { throw MalformedBytes() }
        let flags = FrozenFlags(rawValue: byte)
        guard flags.isSubset(of: .ofEvents) else { throw MalformedBytes() }
        let failures = try number()
        let position = try position()
        let through = try self.position()
        let operationID = try id()
        let columns = try row()
        var frozen = FrozenOperation(
            kind: kind, status: status, maybeSent: flags.contains(.maybeSent), position: position, through: through,
            operationID: operationID, columns: columns, ancestor: try optionalRow())
        frozen.server = try optionalRow()
        let httpStatus = try number()
        frozen.httpStatus = httpStatus == 0 ? nil : httpStatus
        frozen.code = try text()
        frozen.message = try text()
        if flags.contains(.revival) { frozen.revival = Revival(tombstone: try optionalRow()) }
        if flags.contains(.rival) {
            let kind: OperationKind = try numbered()
            let columns = try row()
            frozen.rival = Rival(kind: kind, columns: columns, base: try optionalRow())
        }
        frozen.isDecided = flags.contains(.decided)
        frozen.mayHaveBeenDone = flags.contains(.mayHaveBeenDone)
        frozen.serverWorks = flags.contains(.serverWorks)
        frozen.failures = failures
        return frozen
    }
}
