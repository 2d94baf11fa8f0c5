// Makes one event of local changes. Each change is decided on the state after the previous ones, written into the
// event, and folded by the same code that folds it from the log. If a change is refused, the caller restores the
// state.

import SynclineGround

package struct LocalTransactionWriter {
    private let projector: Projector
    private let isGrouped: Bool
    private let number: UInt64
    private var event: EventWriter
    /// The encoded id of the current row.
    private var id = ByteWriter(capacity: 64)
    package private(set) var count = 0
    /// The number of changes in the outbox: all but those of local columns.
    private var made = 0
    /// Why the whole event is refused.
    private var failure: SyncError?
    /// Whether an update that creates its row is written as an insert, so that `redo` can tell it from one whose row was
    /// deleted since.
    private let isForRedo: Bool

    package init(_ projector: Projector, number: UInt64, time: Int64, isGrouped: Bool, isForRedo: Bool = false) {
        self.isForRedo = isForRedo
        self.projector = projector
        self.number = number
        self.isGrouped = isGrouped
        event = EventWriter(.local, time: time)
        event.append(flag: isGrouped)
    }

    /// Makes a change; returns false if it changes nothing.
    @discardableResult
    package mutating func change(
        _ kind: OperationKind, _ table: String, _ id: String, _ columns: Row = .empty
    ) throws(SyncError) -> Bool {
        try projector.check(columnsOf: columns, in: table)
        if kind == .insert, try insertNew(table, id, columns) { return true }
        guard let change = try decide(kind, table, id, columns) else { return false }
        event.append(change: change)
        do throws(StateError) {
            let position = Position(event: number, index: UInt32(count))
            if try projector.local.apply(change, at: position, isGrouped: isGrouped) { made += 1 }
        } catch {
            let failure = SyncError(error)
            self.failure = failure
            throw failure
        }
        count += 1
        return true
    }

    /// Inserts a row that is not in the state, which needs no decision; returns false if it is in the state.
    private mutating func insertNew(_ table: String, _ id: String, _ columns: Row) throws(SyncError) -> Bool {
        self.id.removeAll()
        self.id.append(textValue: id)
        let position = Position(event: number, index: UInt32(count))
        do throws(StateError) {
            let isMade = try self.id.withView { id throws(StateError) in
                try columns.withView { row throws(StateError) in
                    try projector.local.insertNew(table, id, row.shape, row.bytes, at: position, isGrouped: isGrouped)
                }
            }
            guard isMade else { return false }
        } catch {
            throw SyncError(error)
        }
        self.id.withView { event.append(insertInto: table, $0, columns) }
        count += 1
        made += 1
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
        try change(kind, table, id, item.columns)
        let found: StoredRow?
        do throws(StateError) {
            found = try projector.reader(of: projector.store.snapshot).row(table, id)
        } catch {
            throw SyncError(error)
        }
        return found ?? StoredRow(id: id, columns: .empty)
    }

    private func decide(
        _ kind: OperationKind, _ table: String, _ id: String, _ columns: Row
    ) throws(SyncError) -> LocalChange? {
        let entry = try entry(table, id)
        let kind = isForRedo && kind == .update && entry == nil ? .insert : kind
        return try LocalDecision.decide(kind, table: table, id: id, columns: columns, on: entry)
    }

    private func entry(_ table: String, _ id: String) throws(SyncError) -> RowEntry? {
        do throws(StateError) {
            return try projector.state.entry(projector.state.rowKey(table, id)).entry
        } catch {
            throw SyncError(error)
        }
    }

    /// Refuses the whole event, whatever follows.
    package mutating func refuse(_ error: SyncError) {
        failure = failure ?? error
    }

    /// Returns the event's bytes, or nil if nothing changed.
    package mutating func finish() throws(SyncError) -> [UInt8]? {
        if let failure { throw failure }
        guard count > 0 else { return nil }
        if isGrouped { projector.local.endGroup(number, count: made) }
        projector.state.through = number
        return event.bytes
    }
}

extension LocalTransactionWriter {
    /// Makes a change that was decided on another state, as far as the row is still there: an insert of a row that exists by
    /// now sets its columns, and a row that was deleted stays deleted.
    package mutating func redo(_ change: LocalChange) throws(SyncError) {
        try projector.check(table: change.table)
        switch (change.kind, try entry(change.table, change.id)?.isPresent ?? false) {
        case (.insert, true): try self.change(.update, change.table, change.id, change.columns)
        case (.insert, false), (.update, true), (.delete, true):
            try self.change(change.kind, change.table, change.id, change.columns)
        case (.update, false), (.delete, false): break
        }
    }
}
