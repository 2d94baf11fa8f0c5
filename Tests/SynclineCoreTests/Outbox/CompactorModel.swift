// The contract for local operations, implemented naively: each row has its changes in a list, and every result is
// computed from the list.

@testable import SynclineCore

/// What can happen to one of the two rows.
enum CompactorStep: CaseIterable {
    case insert, update, delete, freeze, page
}

struct CompactorModel {
    struct Change {
        var event: UInt64
        var kind: OperationKind
        var columns: [String: Int?]
        /// A delete of a row that the server does not know: nothing is left to push.
        var cancels = false
    }

    struct Operation: Hashable {
        var row: Int
        var kind: OperationKind
        var state: PlannedOperation.State
        var position: UInt64
    }

    struct RowModel {
        var base: [String: Int]?
        var frozen: (operation: Operation, columns: [String: Int?])?
        /// Changes that were not sent, in order.
        var changes: [Change] = []
    }

    var rows = [RowModel(), RowModel()]

    /// Runs one step; returns the refusal, if there is one.
    mutating func apply(_ step: CompactorStep, row: Int, event: UInt64) -> ChangeRefusal? {
        switch step {
        case .insert: return insert(row, event)
        case .update, .delete: return change(step == .update ? .update : .delete, row, event)
        case .freeze: freeze(row, .inFlight)
        case .page: page(row, event)
        }
        return nil
    }

    private mutating func insert(_ row: Int, _ event: UInt64) -> ChangeRefusal? {
        if visible(row) != nil { return .rowExists }
        var columns: [String: Int?] = event % 2 == 0 ? ["a": Int(event)] : ["a": Int(event), "b": 0]
        if pending(row)?.kind == .delete {
            // Other columns of the server's row become null.
            var known: [String: Int?] = rows[row].base ?? [:]
            if let frozen = rows[row].frozen { known.merge(frozen.columns) { $1 } }
            for name in known.keys where columns[name] == nil { columns[name] = .some(nil) }
        }
        rows[row].changes.append(Change(event: event, kind: .insert, columns: columns))
        return nil
    }

    private mutating func change(_ kind: OperationKind, _ row: Int, _ event: UInt64) -> ChangeRefusal? {
        let operation = pending(row)
        if operation?.kind == .delete { return .rowDeleted }
        if operation == nil, rows[row].frozen?.operation.kind == .delete { return .rowDeleted }
        var change = Change(event: event, kind: kind, columns: [:])
        if kind == .update { change.columns = [event % 2 == 0 ? "a" : "b": Int(event)] }
        let hasBase = rows[row].base != nil && rows[row].frozen?.operation.kind != .delete
        change.cancels = kind == .delete && operation?.kind == .insert && !hasBase
        rows[row].changes.append(change)
        return nil
    }

    private mutating func freeze(_ row: Int, _ state: PlannedOperation.State) {
        guard rows[row].frozen == nil, var operation = plan().first(where: { $0.row == row }) else { return }
        operation.state = state
        rows[row].frozen = (operation, columns(row))
        rows[row].changes = []
    }

    private mutating func page(_ row: Int, _ event: UInt64) {
        let before = rows[row].base
        let pulled = ["a": 100, "b": 100, "c": 1000 + Int(event)]
        if rows[row].frozen == nil, let operation = pending(row) {
            let mine = columns(row)
            let clashes = mine.contains { name, value in pulled[name] != before?[name] && pulled[name] != value }
            if operation.kind == .delete || operation.kind == .update && clashes { freeze(row, .conflict) }
        }
        rows[row].base = pulled
        settleVoid(row)
    }

    /// Changes without a remaining effect do not hide what the server has.
    private mutating func settleVoid(_ row: Int) {
        if rows[row].frozen == nil, rows[row].base != nil, pending(row) == nil { rows[row].changes = [] }
    }

    // MARK: Results

    /// The combined effect of the changes that were not sent.
    func pending(_ row: Int) -> Operation? {
        var result: Operation?
        for change in rows[row].changes {
            let kind: OperationKind
            switch (result?.kind, change.kind) {
            case (.insert?, .update): kind = .insert
            case (.delete?, .insert): kind = .update
            case (_, .delete) where change.cancels:
                result = nil
                continue
            default: kind = change.kind
            }
            result = Operation(row: row, kind: kind, state: .pending, position: result?.position ?? change.event)
        }
        return result
    }

    /// The columns that differ from the base.
    private func columns(_ row: Int) -> [String: Int?] {
        var columns: [String: Int?] = rows[row].frozen?.columns ?? [:]
        for change in rows[row].changes {
            if change.kind == .update { columns.merge(change.columns) { $1 } } else { columns = change.columns }
        }
        return columns
    }

    /// The row an app sees, without nulls.
    func visible(_ row: Int) -> [String: Int]? {
        let model = rows[row]
        guard let last = model.changes.last?.kind ?? model.frozen?.operation.kind else { return model.base }
        if last == .delete { return nil }
        var seen: [String: Int?] = model.base ?? [:]
        // What follows a delete that was sent is another row.
        if model.frozen?.operation.kind == .delete, model.changes.contains(where: { $0.kind == .insert }) { seen = [:] }
        seen.merge(columns(row)) { $1 }
        return seen.compactMapValues { $0 }
    }

    /// What would be pushed, in order.
    func plan() -> [Operation] {
        let all = rows.indices.flatMap { [rows[$0].frozen?.operation, pending($0)].compactMap { $0 } }
        return all.map { operation in
            guard operation.kind == .update, operation.state == .pending, let last = rows[operation.row].changes.last
            else { return operation }
            var moved = operation
            let hasInsert = all.contains {
                $0.kind == .insert && $0.row != operation.row && operation.position < $0.position
                    && $0.position < last.event
            }
            if hasInsert { moved.position = last.event }
            return moved
        }
        // No push is running: what was sent is pending again.
        .map { operation in
            var shown = operation
            if shown.state == .inFlight { shown.state = .pending }
            return shown
        }
        .sorted { $0.position < $1.position }
    }

    /// Undoes the newest change that can be undone; returns its event.
    mutating func undo() -> UInt64? {
        let newest = rows.indices.filter { !rows[$0].changes.isEmpty }
            .max {
                rows[$0].changes[rows[$0].changes.count - 1].event < rows[$1].changes[rows[$1].changes.count - 1].event
            }
        guard let newest else { return nil }
        let event = rows[newest].changes.removeLast().event
        settleVoid(newest)
        return event
    }
}
