// The events that concern one row. An event is folded only as far as it concerns the row. Most events are excluded
// by a look at their bytes, so that the whole history of a row costs little more than reading the log.

import SynclineGround

/// The row of a history.
package struct RowFocus: Hashable, Sendable {
    package let table: String
    package let id: String
    /// The id as encoded in events.
    private let encodedID: [UInt8]

    package init(table: String, id: String) {
        self.table = table
        self.id = id
        var writer = ByteWriter()
        writer.append(value: .string(id))
        encodedID = writer.bytes
    }

    /// Returns whether an event may concern the row. True may be wrong, false never is.
    package func mayConcern(_ record: UnsafeRawBufferPointer, kind: EventKind, _ ids: IDComparison) -> Bool {
        switch kind {
        case .opened, .cursorReset, .indexed, .indexedByColumns, .indexedWithMarks, .carried: false
        case .configured, .declared, .undone, .purged, .serverWorked: true
        case .local, .page, .sent, .answered, .resolved, .discarded:
            // An id compared without case may be spelled in many ways.
            ids == .ignoreCase || encodedID.withBytes { record.contains(bytes: $0) }
        }
    }
}

extension Projector {
    /// Folds the part of a record that concerns one row; most records have none.
    package func apply(
        _ record: UnsafeRawBufferPointer, number: UInt64, onlyTo row: RowFocus
    ) throws(StateError) {
        var reader = try EventReader(record, shapes)
        if row.mayConcern(record, kind: reader.kind, state.ids) {
            try apply(try reader.event(), number: number, onlyTo: row)
        }
        state.through = number
    }

    /// Folds the part of an event that concerns one row.
    package func apply(_ event: Event, number: UInt64, onlyTo row: RowFocus) throws(StateError) {
        let key = state.rowKey(row.table, row.id)
        func isRow(_ table: String, _ id: String) -> Bool { table == row.table && state.rowKey(table, id) == key }
        switch event.body {
        case .opened, .cursorReset, .indexed, .carried: break
        case .configured, .declared, .serverWorked: try apply(event, number: number)
        case .local(let transaction):
            var made = 0
            for (index, change) in transaction.changes.enumerated() where isRow(change.table, change.id) {
                let position = Position(event: number, index: UInt32(index))
                if try local.apply(change, at: position, isGrouped: transaction.isGrouped) { made += 1 }
            }
            if transaction.isGrouped { local.endGroup(number, count: made) }
        case .undone(let undone): try local.undo(undone, of: key)
        case .page(var page):
            page.rows.removeAll { !isRow(page.table, $0.id) }
            page.cursor = nil
            if !page.rows.isEmpty { try apply(Event(time: event.time, .page(page)), number: number) }
        case .purged(let purge):
            guard purge.table == row.table else { break }
            guard purge.ids?.contains(where: { isRow(purge.table, $0) }) ?? true else { break }
            let part = Purge(table: purge.table, ids: [row.id], isForced: purge.isForced)
            try apply(Event(time: event.time, .purged(part)), number: number)
        case .sent(let operations):
            for operation in operations where isRow(operation.table, operation.id) {
                try PushFold(state: state).apply(operation)
            }
        case .answered(let answer):
            if isRow(answer.table, answer.id) { try apply(event, number: number) }
        case .resolved(let resolution):
            if isRow(resolution.table, resolution.id) { try apply(event, number: number) }
        case .discarded(let table, let id):
            if isRow(table, id) { try apply(event, number: number) }
        }
        state.through = number
    }
}
