// Makes one event of local changes. Each change is decided on the state after the previous ones, written into the
// event, and folded by the same code that folds it from the log. If a change is refused, the caller restores the
// state.

import SynclineGround

package struct LocalTransactionWriter {
    private let projector: Projector
    private let heading: TransactionHeading
    private let number: UInt64
    private var event: EventWriter
    /// The encoded id of the current row.
    private var id = ByteWriter(capacity: 64)
    package private(set) var count = 0
    private var group = ChangeGroup()
    /// Why the whole event is refused.
    private var failure: SyncError?
    /// Whether the changes are for another process, so that each is written with the row that this one sees. An update
    /// that creates its row is then an insert.
    private let notesSeen: Bool
    /// Whether the changes met others that their process had not seen.
    private var isContested = false

    package init(
        _ projector: Projector, number: UInt64, time: Int64, _ heading: TransactionHeading, notesSeen: Bool = false
    ) {
        self.notesSeen = notesSeen
        self.projector = projector
        self.number = number
        self.heading = heading
        event = EventWriter(.local, time: time)
        event.append(heading)
    }

    /// Makes a change; returns false if it changes nothing.
    @discardableResult
    package mutating func change(
        _ kind: OperationKind, _ table: String, _ id: String, _ columns: Row = .empty
    ) throws(SyncError) -> Bool {
        try make(LocalChange(kind: kind, table: table, id: id, columns: try fitting(columns, table, id)))
    }

    /// The columns as their types have them stored. Throws if a value does not fit, unless the row has it.
    private func fitting(_ columns: Row, _ table: String, _ id: String) throws(SyncError) -> Row {
        let types = projector.state.types[table]
        if types.isEmpty || types.fit(columns) { return columns }
        return try types.stored(columns, over: try entry(table, id)?.visible, "\(table)/\(id)")
    }

    private mutating func make(_ wanted: LocalChange) throws(SyncError) -> Bool {
        try projector.check(columnsOf: wanted.columns, in: wanted.table)
        if wanted.kind == .insert, !isContested, try insertNew(wanted.table, wanted.id, wanted.columns) { return true }
        guard let change = try decide(wanted) else { return false }
        event.append(change: change)
        do throws(SyncError) {
            let position = Position(event: number, index: UInt32(count))
            let isMade = try projector.local.apply(change, at: position, isGrouped: heading.isGrouped)
            group.add(isMade: isMade, isLocal: projector.state.types.isLocal(change.table))
        } catch {
            failure = error
            throw error
        }
        count += 1
        return true
    }

    /// Inserts a row that is not in the state, which needs no decision; returns false if it is in the state.
    private mutating func insertNew(_ table: String, _ id: String, _ columns: Row) throws(SyncError) -> Bool {
        self.id.removeAll()
        self.id.append(textValue: id)
        let position = Position(event: number, index: UInt32(count))
        let isMade = try self.id.withView { id throws(SyncError) in
            try columns.withView { row throws(SyncError) in
                try projector.local.insertNew(
                    table, id, row.shape, row.bytes, at: position, isGrouped: heading.isGrouped)
            }
        }
        guard isMade else { return false }
        self.id.withView { event.append(insertInto: table, $0, columns) }
        count += 1
        group.add(isMade: true, isLocal: false)
        return true
    }

    /// Checks an item and makes a change of it; returns the row as stored. An insert without an id gets one.
    package mutating func change(
        _ kind: OperationKind, _ table: String, item: Value, _ newID: () -> String
    ) throws(SyncError) -> StoredRow {
        try projector.check(table: table)
        let item = try Item(item)
        if item.id == nil, kind != .insert {
            throw SyncError(.missingID, "the item has no \"id\"", hint: "Pass the id of the row to change.")
        }
        let id = item.id ?? newID()
        try Item.check(id: id)
        if item.hasWideNumbers {
            try item.checkWideNumbers(over: entry(table, id)?.visible, projector.state.types[table])
        }
        try change(kind, table, id, item.columns)
        let found = try projector.reader(of: projector.store.snapshot).row(table, id)
        return found ?? StoredRow(id: id, columns: .empty)
    }

    private func decide(_ wanted: LocalChange) throws(SyncError) -> LocalChange? {
        let entry = try entry(wanted.table, wanted.id)
        let kind = notesSeen && wanted.kind == .update && entry == nil ? .insert : wanted.kind
        var change = try LocalDecision.decide(
            kind, table: wanted.table, id: wanted.id, columns: wanted.columns, on: entry,
            projector.state.types[wanted.table])
        change?.isContested = isContested && !projector.state.types.isLocal(wanted.table)
        if notesSeen { change?.seen = entry?.visible } else if isContested { change?.seen = wanted.seen }
        return change
    }

    private func entry(_ table: String, _ id: String) throws(SyncError) -> RowEntry? {
        return try projector.state.entry(projector.state.rowKey(table, id)).entry
    }

    /// Refuses the whole event, whatever follows.
    package mutating func refuse(_ error: SyncError) {
        failure = failure ?? error
    }

    /// Returns the event's bytes, or nil if nothing changed. A redo is an event even then: it is not left to be made.
    package mutating func finish() throws(SyncError) -> [UInt8]? {
        if let failure { throw failure }
        guard count > 0 || heading.undo != nil else { return nil }
        try projector.local.end(group, number, heading)
        projector.state.through = number
        return event.bytes
    }
}

// MARK: Changes of another process

extension LocalTransactionWriter {
    /// Makes the changes of a transaction that another process made on the state that it saw. If one of them meets
    /// something that the process had not seen, all of them are in conflict, except those of tables that never leave the
    /// device: there the change that is taken in later replaces the columns that it sets. If an operation on one of their
    /// rows must end first, none is made and an error thrown, or, without `waits`, they are made without a conflict.
    package mutating func takeIn(_ transaction: LocalTransaction, waits: Bool = true) throws(SyncError) {
        for table in Set(transaction.changes.map(\.table)) { try projector.check(table: table) }
        isContested = try isMet(transaction)
        if isContested, let reason = try occupied(transaction) {
            if waits { throw reason }
            isContested = false
        }
        for change in transaction.changes { try takeIn(change) }
    }

    private func isMet(_ transaction: LocalTransaction) throws(SyncError) -> Bool {
        var made = SeenChanges()
        for change in transaction.changes where !projector.state.types.isLocal(change.table) {
            let local = projector.state.localColumns(of: change.table) ?? []
            let key = projector.state.rowKey(change.table, change.id)
            let (row, types) = (try entry(change.table, change.id)?.visible, projector.state.types[change.table])
            if made.isMet(change, key, local, by: row, types) { return true }
        }
        return false
    }

    /// Why the changes must wait: a row has an operation that was sent or awaits a decision.
    private func occupied(_ transaction: LocalTransaction) throws(SyncError) -> SyncError? {
        for change in transaction.changes where try entry(change.table, change.id)?.pending?.frozen != nil {
            return SyncError(
                .pendingChanges, "a change of another process waits until an earlier operation on its row has ended",
                hint: "Push, or decide the conflict.", address: "\(change.table)/\(change.id)")
        }
        return nil
    }

    private mutating func takeIn(_ change: LocalChange) throws(SyncError) {
        var change = change
        let entry = try entry(change.table, change.id)
        switch (change.kind, entry?.isPresent ?? false) {
        case (.insert, true): change.kind = .update
        case (.delete, false): return
        case (.update, false)
        where entry?.pending?.operation?.kind == .delete || projector.state.types.isLocal(change.table):
            // The app deleted the row; the other process keeps it.
            change.kind = .insert
            change.columns = (change.seen ?? .empty).own.merged(with: change.columns)
        case (.insert, false), (.update, _), (.delete, true): break
        }
        _ = try make(change)
    }
}
