// What an event did to the state, in the state's words: the rows that are not what they were, and the changes that entered
// or left the outbox. Read from what the store keeps in order to take an event back.

/// A row before and behind an event.
package struct RowChange: Hashable, Sendable {
    package var table: String
    package var id: String
    /// The row's key in the state.
    package var key: [UInt8]
    package var before: RowEntry?
    package var after: RowEntry?
}

/// A change of the outbox that came or went; one that stayed and was written anew is neither.
package struct JournalChange: Hashable, Sendable {
    package var position: Position
    /// The change as it was; nil if it came.
    package var before: JournalEntry?
    /// The change as it is; nil if it went.
    package var after: JournalEntry?
}

/// What changed since a store began to keep its changes, or since so many of them.
package struct StateChanges: Sendable {
    /// What of it is looked at: all else costs nothing but that.
    package enum Scope: Hashable, Sendable {
        case all
        case rows(of: String)
        /// Rows with changes in the outbox, before or behind.
        case pendingRows
    }

    package private(set) var rows: [RowChange] = []
    package private(set) var journal: [JournalChange] = []

    package init(_ projector: Projector, behind count: Int = 0, of scope: Scope = .all) throws(StateError) {
        let prefix = scope.prefix
        var known: Set<[UInt8]> = []
        try projector.store.forEachChange(behind: count) { key, old throws(StateError) in
            let bytes = key.copy
            guard let space = bytes.first, space == Keyspace.rows || space == Keyspace.journal,
                bytes.starts(with: prefix), known.insert(bytes).inserted
            else { return }
            let new = try projector.value(bytes)
            if scope == .pendingRows, !old.holdsPending, !new.holdsPending { return }
            if space == Keyspace.rows {
                try addRow(bytes, old, new, projector)
            } else {
                try addChange(bytes, old, new, projector)
            }
        }
        journal.sort { $0.position < $1.position }
    }

    private mutating func addRow(
        _ key: [UInt8], _ old: StateValue?, _ new: StateValue?, _ projector: Projector
    ) throws(StateError) {
        let before = try old.map { old throws(StateError) in try RowEntry(old, projector.shapes) }
        let after = try new.map { new throws(StateError) in try RowEntry(new, projector.shapes) }
        if before == after { return }
        let row = try RowKey(malformed: key)
        rows.append(
            RowChange(
                table: row.table, id: after?.spelling ?? before?.spelling ?? row.id, key: key, before: before,
                after: after))
    }

    private mutating func addChange(
        _ key: [UInt8], _ old: StateValue?, _ new: StateValue?, _ projector: Projector
    ) throws(StateError) {
        let position = try key.withBytes { key throws(StateError) in try Position(journalKey: key) }
        guard position.index != .max, old == nil || new == nil else { return }
        journal.append(
            JournalChange(
                position: position,
                before: try old.map { old throws(StateError) in try JournalEntry(old, projector.shapes) },
                after: try new.map { new throws(StateError) in try JournalEntry(new, projector.shapes) }))
    }
}

extension StateChanges.Scope {
    /// What the keys begin with.
    fileprivate var prefix: [UInt8] {
        var key = ByteWriter()
        switch self {
        case .all: break
        case .rows(let table): key.append(tablePrefix: table)
        case .pendingRows: key.append(Keyspace.rows)
        }
        return key.bytes
    }
}

extension StateValue? {
    /// Of a row: whether it has changes in the outbox, by its first byte.
    fileprivate var holdsPending: Bool {
        self?.withBytes { RowEntry.hasPending($0) } ?? false
    }
}
