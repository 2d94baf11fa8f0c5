// The rows that an event names: what a reader of history is shown, and which rows may differ after the event.

/// A row that an event names.
package struct NamedRow: Hashable, Sendable {
    package var table: String
    /// Nil if the event may change every row of the table.
    package var id: String?
    /// What the event did to the row, if the event says so.
    package var kind: OperationKind?
    /// The columns that the event has for the row.
    package var columns: Row?

    init(_ table: String, _ id: String?, _ kind: OperationKind? = nil, _ columns: Row? = nil) {
        self.table = table
        self.id = id
        self.kind = kind
        self.columns = columns
    }
}

extension Event {
    /// The rows that the event names. An event that undoes another one changes that one's rows, and names none.
    package var namedRows: [NamedRow] {
        switch body {
        case .local(let transaction):
            transaction.changes.map {
                NamedRow($0.table, $0.id, $0.kind, $0.kind == .delete ? nil : $0.columns)
            }
        case .page(let page):
            page.rows.map { NamedRow(page.table, $0.id, $0.row == nil ? .delete : nil, $0.row) }
        case .purged(let purge):
            purge.ids?.map { NamedRow(purge.table, $0) } ?? [NamedRow(purge.table, nil)]
        case .sent(let operations): operations.map { NamedRow($0.table, $0.id) }
        case .answered(let answer):
            [NamedRow(answer.table, answer.id, nil, answer.outcome.row)]
        case .resolved(let resolution):
            [NamedRow(resolution.table, resolution.id, resolution.change?.kind, resolution.change?.columns)]
        case .discarded(let table, let id): [NamedRow(table, id)]
        case .declared(let declaration, let steps):
            Set(declaration.tables.map(\.name) + steps.map(\.table)).sorted().map { NamedRow($0, nil) }
        case .carried(_, let rows): rows.map { NamedRow($0.table, $0.id) }
        case .typed(let declaration): [NamedRow(declaration.table, nil)]
        case .opened, .configured, .undone, .indexed, .cursorReset, .serverWorked: []
        }
    }

    /// The rows that the event names, by their ids.
    package var rows: [(table: String, id: String)] {
        namedRows.compactMap { row in row.id.map { (row.table, $0) } }
    }

    /// Whether it may change the present or the future of rows that it does not name.
    package var changesOthers: Bool {
        switch body {
        case .opened, .configured, .undone, .declared, .typed, .serverWorked: true
        case .purged(let purge): purge.ids == nil
        default: false
        }
    }
}

extension Answer.Outcome {
    /// The row that the server sent.
    package var row: Row? {
        switch self {
        case .done(let pulled), .revived(let pulled): pulled.row
        case .conflict(let server, _): server
        case .tombstone(let row): row
        case .parked, .notReceived, .failing, .interrupted: nil
        }
    }
}
