// The events of one row, each reduced to the part that concerns it. Pure.

import SynclineCore
import SynclineGround

struct RowEvents {
    let focus: RowFocus
    private let ids: IDComparison
    /// The row's own changes, which a later undo may name.
    private var own: [UInt64: [LocalChange]] = [:]

    init(_ focus: RowFocus, _ ids: IDComparison) {
        (self.focus, self.ids) = (focus, ids)
    }

    private func isRow(_ table: String, _ id: String) -> Bool {
        table.hasSameBytes(as: focus.table) && ids.areEqual(id, focus.id)
    }

    /// The part of an event that concerns the row; nil if none does. Events come in their order.
    mutating func part(of event: Event, number: UInt64) -> Event? {
        var body = event.body
        switch event.body {
        case .local(var transaction):
            transaction.changes = transaction.changes.filter { isRow($0.table, $0.id) }
            if transaction.changes.isEmpty { return nil }
            own[number] = transaction.changes
            body = .local(transaction)
        case .undone(let undone): if own[undone] == nil { return nil }
        case .page(var page):
            guard page.table.hasSameBytes(as: focus.table) else { return nil }
            page.rows = page.rows.filter { isRow(page.table, $0.id) }
            page.unreadable = page.unreadable.filter { isRow(page.table, $0.id ?? "") }
            page.vanished = []
            if page.rows.isEmpty, page.unreadable.isEmpty { return nil }
            body = .page(page)
        case .purged(var purge):
            guard purge.table.hasSameBytes(as: focus.table) else { return nil }
            purge.ids = purge.ids?.filter { isRow(purge.table, $0) }
            if purge.ids?.isEmpty == true { return nil }
            body = .purged(purge)
        case .sent(let operations):
            let found = operations.filter { isRow($0.table, $0.id) }
            if found.isEmpty { return nil }
            body = .sent(found)
        case .answered(let answer): if !isRow(answer.table, answer.id) { return nil }
        case .resolved(let resolution): if !isRow(resolution.table, resolution.id) { return nil }
        case .discarded(let table, let id): if !isRow(table, id) { return nil }
        case .configured(let name, _):
            guard let held = Hold.row(name), isRow(held.table, held.id) else { return nil }
        case .declared(_, let steps):
            if !steps.contains(where: { $0.table.hasSameBytes(as: focus.table) }) { return nil }
        case .opened, .cursorReset, .indexed, .typed, .carried, .serverWorked: return nil
        }
        return Event(time: event.time, body)
    }

    /// The effect of such a part in one line; nil if the line of the event says it.
    static func line(of part: Event, redacts: Bool) -> String? {
        func shown(_ columns: Row) -> String {
            let json = JSONValue(columns)
            return (redacts ? json.redacted : json).text
        }
        switch part.body {
        case .local(let transaction):
            return transaction.changes.map { change in
                change.kind == .delete ? "delete" : "\(change.kind) \(shown(change.columns))"
            }.joined(separator: ", ")
        case .page(let page):
            let rows = page.rows.map { row in
                row.row.map { "the server's row: \(shown($0.own))" }
                    ?? (row.isByRight
                        ? "the right to it was lost"
                        : row.hasLeft ? "it no longer matches the query" : "the server has it no longer")
            }
            return (rows + page.unreadable.map { "the server's row can't be read: \($0.reason)" }).joined(
                separator: ", ")
        default: return nil
        }
    }
}

extension EventReading {
    /// Visits the events of a row from a number on, reduced to it, until the visitor returns false.
    func forEach(
        of row: inout RowEvents, from first: UInt64, through last: UInt64, _ body: (UInt64, Event) throws -> Bool
    ) throws {
        var events = row
        defer { row = events }
        let focus = row.focus
        // Earlier events are read, too: an undo names a change.
        let isWanted = { (record: UnsafeRawBufferPointer) in
            guard let kind = try? EventReader(record, ShapeTable()).kind else { return true }
            return focus.mayConcern(record, kind: kind)
        }
        try forEach(where: isWanted) { number, event in
            if number > last || context.output.isClosed { return false }
            guard let part = events.part(of: event, number: number), number >= first else { return true }
            return try body(number, part)
        }
    }
}
