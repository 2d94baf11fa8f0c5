// The effect of an event on the state: the rows that changed, and the changes that entered or left the outbox. Read
// from the data that the store keeps in order to undo an event.

import SynclineGround

/// A row before and after an event.
package struct RowChange: Hashable, Sendable {
    package var table: String
    package var id: String
    /// The row's key in the state.
    package var key: [UInt8]
    package var before: RowEntry?
    package var after: RowEntry?
}

/// A change that entered or left the outbox. One that stayed and was written again is neither.
package struct JournalChange: Hashable, Sendable {
    package var position: Position
    /// The change before; nil if it entered.
    package var before: JournalEntry?
    /// The change after; nil if it left.
    package var after: JournalEntry?
}

/// What changed since a store began to record its changes, or after the first of them.
package struct StateChanges: Sendable {
    /// Which changes are examined.
    package enum Scope: Hashable, Sendable {
        case all
        case rows(of: String)
        /// Rows with changes in the outbox, before or after.
        case pendingRows
    }

    package private(set) var rows: [RowChange] = []
    package private(set) var journal: [JournalChange] = []
    /// The types of columns after the changes.
    private(set) var types = TypeCatalog()

    package init(_ projector: Projector, after count: Int = 0, of scope: Scope = .all) throws(SyncError) {
        let prefix = scope.prefix
        var known: Set<[UInt8]> = []
        try projector.store.forEachChange(after: count) { key, old throws(SyncError) in
            let bytes = key.copy
            guard let space = bytes.first, space == Keyspace.rows || space == Keyspace.journal,
                bytes.starts(with: prefix), known.insert(bytes).inserted
            else { return }
            let new = try projector.state.value(bytes)
            if scope == .pendingRows, !old.holdsPending, !new.holdsPending { return }
            if space == Keyspace.rows {
                try addRow(bytes, old, new, projector)
            } else {
                try addChange(bytes, old, new, projector)
            }
        }
        journal.sort { $0.position < $1.position }
        types = projector.state.types
    }

    /// The changes of an event that was folded in parts.
    package init(joining parts: [StateChanges]) {
        types = parts.last?.types ?? TypeCatalog()
        var places: [[UInt8]: Int] = [:]
        for change in parts.flatMap(\.rows) {
            if let place = places[change.key] {
                rows[place].after = change.after
            } else {
                places[change.key] = rows.count
                rows.append(change)
            }
        }
        journal = parts.flatMap(\.journal)
    }

    private mutating func addRow(
        _ key: [UInt8], _ old: StateValue?, _ new: StateValue?, _ projector: Projector
    ) throws(SyncError) {
        let before = try old.map { old throws(SyncError) in try RowEntry(old, projector.shapes) }
        let after = try new.map { new throws(SyncError) in try RowEntry(new, projector.shapes) }
        if before == after { return }
        let row = try RowKey(malformed: key)
        rows.append(
            RowChange(
                table: row.table, id: after?.spelling ?? before?.spelling ?? row.id, key: key, before: before,
                after: after))
    }

    private mutating func addChange(
        _ key: [UInt8], _ old: StateValue?, _ new: StateValue?, _ projector: Projector
    ) throws(SyncError) {
        let position = try key.withBytes { key throws(SyncError) in try Position(journalKey: key) }
        guard position.index != .max, old == nil || new == nil else { return }
        journal.append(
            JournalChange(
                position: position,
                before: try old.map { old throws(SyncError) in try JournalEntry(old, projector.shapes) },
                after: try new.map { new throws(SyncError) in try JournalEntry(new, projector.shapes) }))
    }
}

extension StateChanges.Scope {
    /// The prefix of the keys.
    fileprivate var prefix: [UInt8] {
        switch self {
        case .all: []
        case .rows(let table): RowKey.prefix(table)
        case .pendingRows: [Keyspace.rows]
        }
    }
}

extension StateValue? {
    /// For a row: whether it has changes in the outbox, according to its first byte.
    fileprivate var holdsPending: Bool {
        self?.withBytes { RowEntry.hasPending($0) } ?? false
    }
}
