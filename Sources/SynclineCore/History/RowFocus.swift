// The events that concern one row. An event is folded only as far as it concerns the row. Most events are excluded
// by a look at their bytes, so that the whole history of a row costs little more than reading the log.

import SynclineGround

/// The row of a history. Rows whose ids differ only in case are followed, too: a later event may make them one.
package struct RowFocus: Hashable, Sendable {
    package let table: String
    package let id: String
    /// What the encodings of the id in events contain, whatever its case.
    private let encodings: [[UInt8]]
    /// The id in lower case, if it has letters.
    private let letters: [UInt8]

    package init(table: String, id: String) {
        self.table = table
        self.id = id
        let folded = IDComparison.folded(id)
        letters = id.utf8.contains { $0 & 0xdf &- 0x41 < 26 } ? Array(folded.utf8) : []
        // A UUID in one case has the same bytes after its tag in the other.
        let encoded = Value.string(folded).encoded
        encodings = letters.isEmpty || encoded[0] < ValueTag.shortText ? [Array(encoded.dropFirst())] : []
    }

    /// Whether a row is followed.
    package func isRow(_ table: String, _ id: String) -> Bool {
        table.hasSameBytes(as: self.table) && IDComparison.ignoreCase.areEqual(id, self.id)
    }

    /// Returns whether an event may concern the row. True may be wrong, false never is.
    package func mayConcern(_ record: UnsafeRawBufferPointer, kind: EventKind) -> Bool {
        switch kind {
        case .opened, .cursorReset, .indexed, .carried: false
        case .configured, .declared, .typed, .undone, .purged, .serverWorked: true
        case .local, .page, .sent, .answered, .resolved, .discarded:
            encodings.contains { $0.withBytes { record.contains(bytes: $0) } }
                || !letters.isEmpty && letters.withBytes { record.contains(lowered: $0) }
        }
    }
}

extension Projector {
    /// Folds the part of a record that concerns one row; most records have none.
    package func apply(
        _ record: UnsafeRawBufferPointer, number: UInt64, onlyTo row: RowFocus
    ) throws(SyncError) {
        var reader = try EventReader(record, shapes)
        if row.mayConcern(record, kind: reader.kind) {
            try apply(try reader.event(), number: number, onlyTo: row)
        }
        state.through = number
    }

    /// Folds the part of an event that concerns one row.
    package func apply(_ event: Event, number: UInt64, onlyTo row: RowFocus) throws(SyncError) {
        if case .purged(let purge) = event.body, purge.table != row.table {
            state.through = number
        } else {
            try apply(event, number: number, where: row.isRow)
        }
    }

    /// Folds the part of an event that concerns some rows.
    func apply(
        _ event: Event, number: UInt64, where isWanted: (String, String) -> Bool
    ) throws(SyncError) {
        switch event.body {
        case .opened, .cursorReset, .indexed, .carried: break
        case .configured, .declared, .typed, .serverWorked: try apply(event, number: number)
        case .local(let transaction):
            try local.apply(transaction, number: number) { isWanted($0.table, $0.id) }
        case .undone(let undone): try local.undo(undone) { isWanted($0.table, $0.id) }
        case .page(var page):
            page.rows.removeAll { !isWanted(page.table, $0.id) }
            (page.unreadable, page.vanished) = ([], [])
            // Whether it is read again depends on the cursor, which is not the row's.
            page.queryID = nil
            if !page.rows.isEmpty { try apply(Event(time: event.time, .page(page)), number: number) }
        case .purged(let purge):
            var part = purge
            part.ids?.removeAll { !isWanted(purge.table, $0) }
            if part.ids?.isEmpty != true { try apply(Event(time: event.time, .purged(part)), number: number) }
        case .sent(let operations):
            for operation in operations where isWanted(operation.table, operation.id) {
                try PushFold(state: state).apply(operation)
            }
        case .answered(let answer):
            if isWanted(answer.table, answer.id) { try apply(event, number: number) }
        case .resolved(let resolution):
            if isWanted(resolution.table, resolution.id) { try apply(event, number: number) }
        case .discarded(let table, let id):
            if isWanted(table, id) { try apply(event, number: number) }
        }
        state.through = number
    }
}
