// Masks events. The kind of an event, its time, the server's versions, times and statuses, and operation ids are
// kept.

package import SynclineCore

extension Masking {
    /// Settings that contain none of an app's data.
    private static let plainSettings: Set<String> = [
        SettingName.device, SettingName.place, SettingName.serverProtocol, SettingName.ids, SettingName.retention,
        SettingName.takenIn, "limits",
    ]

    package func mask(_ event: consuming Event) -> Event {
        // It is taken out, so that rows are masked in place.
        var body = Event.Body.undone(event: 0)
        swap(&body, &event.body)
        event.body = mask(body)
        return event
    }

    private func mask(_ body: consuming Event.Body) -> Event.Body {
        switch consume body {
        case .opened(let opening): return .opened(opening)
        case .undone(let event): return .undone(event: event)
        case .serverWorked: return .serverWorked
        case .declared(let declaration, let steps):
            return .declared(mask(declaration), steps: steps.map { mask($0) })
        case .configured(let name, let value):
            note(setting: name, value)
            return .configured(name: mask(setting: name), value: value.map { mask($0, setting: name) })
        case .local(var transaction):
            for index in transaction.changes.indices { mask(&transaction.changes[index]) }
            transaction.heading.name = transaction.heading.name.map { mask(words: $0) }
            return .local(transaction)
        case .page(let page): return .page(mask(page))
        case .purged(var purge):
            purge.ids = purge.ids.map { $0.map { mask(id: $0) } }
            purge.table = mask(table: purge.table)
            return .purged(purge)
        case .indexed(var change):
            change.table = mask(table: change.table)
            change.columns = change.columns.map { mask(column: $0) }
            change.including = change.including.map { mask(column: $0) }
            return .indexed(change)
        case .typed(var declaration):
            for column in declaration.columns { note(column.type, of: declaration.table, column.name) }
            declaration.columns = declaration.columns.map { TypedColumn(mask(column: $0.name), $0.type) }
            declaration.table = mask(table: declaration.table)
            return .typed(declaration)
        case .cursorReset(let table, let queryID):
            return .cursorReset(table: mask(table: table), queryID: mask(queryID: queryID))
        case .sent(let operations):
            return .sent(
                operations.map { operation in
                    var operation = operation
                    (operation.table, operation.id) = (mask(table: operation.table), mask(id: operation.id))
                    return operation
                })
        case .answered(var answer):
            mask(&answer)
            return .answered(answer)
        case .resolved(var resolution):
            if let columns = resolution.change?.columns {
                resolution.change?.columns = mask(columns, resolution.table)
            }
            (resolution.table, resolution.id) = (mask(table: resolution.table), mask(id: resolution.id))
            return .resolved(resolution)
        case .discarded(let table, let id):
            return .discarded(table: mask(table: table), id: mask(id: id))
        case .carried(let last, let rows): return .carried(through: last, rows.map { mask($0) })
        }
    }

    private func mask(_ change: inout LocalChange) {
        change.columns = mask(change.columns, change.table)
        change.seen = change.seen.map { mask($0, change.table) }
        (change.table, change.id) = (mask(table: change.table), mask(id: change.id))
    }

    private func mask(_ page: PulledPage) -> PulledPage {
        var page = page
        page.rows = page.rows.map { mask($0, page.table) }
        page.unreadable = page.unreadable.map { mask($0) }
        page.cursor = page.cursor.map { mask($0, page.table) }
        page.queryID = page.queryID.map { mask(queryID: $0) }
        page.table = mask(table: page.table)
        return page
    }

    func mask(_ row: UnreadableRow) -> UnreadableRow {
        var row = row
        (row.table, row.id) = (mask(table: row.table), row.id.map { mask(id: $0) })
        return row
    }

    private func mask(_ row: PulledRow, _ table: String) -> PulledRow {
        PulledRow(
            id: mask(id: row.id), row: row.row.map { mask($0, table) }, hasLeft: row.hasLeft, isByRight: row.isByRight)
    }

    /// Masks the query of a cursor, and the id it continues from.
    func mask(_ cursor: CursorState, _ table: String) -> CursorState {
        var cursor = cursor
        cursor.query = mask(filter: cursor.query, table, for: .datasync3)
        if case .time(let moment, let drain?) = cursor.place { cursor.place = .time(moment, drain: mask(id: drain)) }
        return cursor
    }

    private func mask(_ answer: inout Answer) {
        let table = answer.table
        switch answer.outcome {
        case .done(let row): answer.outcome = .done(mask(row, table))
        case .conflict(let server, let code):
            answer.outcome = .conflict(server: server.map { mask($0, table) }, code: code)
        case .tombstone(let row): answer.outcome = .tombstone(row.map { mask($0, table) })
        case .revived(let row): answer.outcome = .revived(mask(row, table))
        case .parked, .notReceived, .failing, .interrupted: break
        }
        answer.message = answer.message.map { mask(words: $0) }
        (answer.table, answer.id) = (mask(table: table), mask(id: answer.id))
    }

    private func mask(_ row: CarriedRow) -> CarriedRow {
        var row = row
        for index in row.changes.indices { row.changes[index].columns = mask(row.changes[index].columns, row.table) }
        row.frozen = row.frozen.map { mask($0, row.table) }
        (row.table, row.id) = (mask(table: row.table), mask(id: row.id))
        return row
    }

    func mask(_ frozen: FrozenOperation, _ table: String) -> FrozenOperation {
        var frozen = frozen
        frozen.columns = mask(frozen.columns, table)
        frozen.ancestor = frozen.ancestor.map { mask($0, table) }
        frozen.server = frozen.server.map { mask($0, table) }
        frozen.rival = frozen.rival.map { rival in rival.map { mask($0, table) } }
        frozen.revival = frozen.revival.map { Revival(tombstone: $0.tombstone.map { mask($0, table) }) }
        frozen.message = frozen.message.map { mask(words: $0) }
        return frozen
    }

    // MARK: Settings and schema

    /// The name of a setting; that of a hold has the names of its row.
    func mask(setting name: String) -> String {
        guard let row = Hold.row(name) else { return name }
        return Hold.setting(RowKey(table: mask(table: row.table), id: mask(id: row.id)))
    }

    func mask(_ value: Value, setting name: String) -> Value {
        if Hold.row(name) != nil, case .string(let id) = value { return .string(mask(id: id)) }
        if Masking.plainSettings.contains(name) { return value }
        return name == "backend" ? .string(Masking.backend) : mask(value, Place("", [name]))
    }

    func mask(_ declaration: Declaration) -> Declaration {
        let tables = declaration.tables.map { table in
            let columns = table.columns.map { column in
                join(table.name, column.serverName, column.name)
                return ColumnSchema(
                    mask(column: column.name), onServer: mask(column: column.serverName),
                    default: column.defaultValue.map { mask($0, Place(table.name, [column.name])) })
            }
            return TableSchema(
                mask(table: table.name), columns: columns, localColumns: table.localColumns.map { mask(column: $0) })
        }
        return Declaration(version: declaration.version, isStrict: declaration.isStrict, tables: tables)
    }

    private func mask(_ step: SchemaStep) -> SchemaStep {
        let table = mask(table: step.table)
        switch step {
        case .renameColumn(_, let from, let to):
            join(step.table, to, from)
            return .renameColumn(table: table, from: mask(column: from), to: mask(column: to))
        case .dropColumn(_, let column): return .dropColumn(table: table, column: mask(column: column))
        case .dropTable: return .dropTable(table)
        case .setType(_, let column, let type):
            note(type, of: step.table, column)
            return .setType(table: table, column: mask(column: column), type)
        case .changeValues(_, let column, let changes):
            let place = Place(step.table, [column])
            let masked = changes.map { ValueChange(mask($0.old, place), mask($0.new, place)) }
            return .changeValues(table: table, column: mask(column: column), masked)
        }
    }
}
