// The fold: computes the next state from a state and an event. It does no I/O of its own and reads no clock and no
// random numbers, so the same events give the same bytes everywhere. What each kind of event means is a type of its
// own; they have `FoldState` in common.

package final class Projector {
    package let state: FoldState

    /// Raised with every change of the fold or of the state's encoding: older checkpoints are then rebuilt from the
    /// events.
    package static let version: UInt32 = 13

    package init(
        store: StateStore = StateStore(), through: UInt64 = 0, totals: ChangeCounts = ChangeCounts()
    ) throws(SyncError) {
        state = try FoldState(store: store, through: through, totals: totals)
    }

    package var store: StateStore { state.store }
    package var shapes: ShapeTable { state.shapes }
    package var declaration: Declaration? { state.declaration }
    package var totals: ChangeCounts { state.totals }
    /// The last event that was folded.
    package var through: UInt64 { state.through }

    /// Reads a snapshot of the current state.
    package func reader(of snapshot: StateSnapshot) -> StateReader { state.reader(of: snapshot) }

    package var local: LocalFold { LocalFold(state: state) }
    package var pages: PageFold { PageFold(state: state) }

    /// Folds a record of the log.
    package func apply(_ record: UnsafeRawBufferPointer, number: UInt64) throws(SyncError) {
        var reader = try EventReader(record, shapes)
        if reader.kind == .local {
            try local.apply(&reader, number: number)
        } else {
            try apply(try reader.event(), number: number)
        }
    }

    package func apply(_ event: Event, number: UInt64) throws(SyncError) {
        switch event.body {
        case .opened(let opening): try SettingsFold(state: state).apply(opening)
        case .configured(let name, let value): try SettingsFold(state: state).set(name, value)
        case .local(let transaction): try local.apply(transaction, number: number)
        case .undone(let undone):
            try local.undo(undone)
            try state.note(undone: undone, by: number)
        case .page(let page): try pages.apply(page)
        case .purged(let purge): try PurgeFold(state: state).apply(purge)
        case .indexed(let change): try IndexFold(state: state).apply(change)
        case .typed(let declaration): try TypeFold(state: state).apply(declaration)
        case .cursorReset(let table, let queryID): try state.putCursor(table, queryID, nil)
        case .sent(let operations):
            for operation in operations { try PushFold(state: state).apply(operation) }
        case .answered(let answer): try PushFold(state: state).apply(answer)
        case .serverWorked: try PushFold(state: state).noteThatServerWorks()
        case .resolved(let resolution): try DecisionFold(state: state).apply(resolution, number: number)
        case .discarded(let table, let id): try DecisionFold(state: state).discard(table, id)
        case .declared(let declaration, let steps): try SchemaFold(state: state).apply(declaration, steps)
        case .carried(_, let rows):
            for row in rows { try local.check(row) }
        }
        state.through = number
    }

    /// Refuses a name that no table can have and, in a strict store, a table that is not declared.
    package func check(table: String) throws(SyncError) {
        try Item.check(table: table)
        try declaration.check(table)
    }

    /// Refuses a column whose name on the server belongs to another column.
    package func check(columnsOf row: Row, in table: String) throws(SyncError) {
        guard let names = declaration?.wireNames(of: table) else { return }
        guard let column = row.columns.first(where: { names.owner(of: $0) != nil }) else { return }
        throw SyncError(
            .invalidItem, "\(table) has no column \"\(column)\": on the server, another column has this name",
            hint: names.owner(of: column).map { "Here it is called \"\($0)\"." })
    }
}
