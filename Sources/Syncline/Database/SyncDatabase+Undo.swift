// Undo and redo of local transactions. An undo is an event; a redo makes what it took back again, as a new transaction. The
// state knows what can be redone, and the log what that was.

public import Foundation
import SegmentLog
public import SynclineCore
import SynclineGround

/// A transaction that can be undone or redone.
public struct UndoStep: Hashable, Sendable {
    /// Its event.
    public var event: EventNumber
    /// The name that the app gave it; nil if it gave none, or a compaction has removed the event.
    public var name: String?
    /// When it was made; nil if a compaction has removed the event.
    public var date: Date?
    /// The number of rows that it changed.
    public var rows: Int
}

/// What can be undone and redone.
public struct UndoSteps: Hashable, Sendable {
    /// The transactions that ``SyncDatabase/undo()`` would undo if it was called again and again, the newest first.
    public var undo: [UndoStep] = []
    /// The transactions that ``SyncDatabase/redo()`` would make again, in this order.
    public var redo: [UndoStep] = []
}

extension SyncDatabase {
    /// Undoes the newest local transaction that can be undone, and returns its event.
    @discardableResult
    @concurrent
    public func undo() async throws(SyncError) -> EventNumber {
        try await perform { engine throws(SyncError) in
            guard let event = try UndoSearch.newest(engine.reader, through: engine.projector.through) else {
                throw SyncError(.operationNotFound, "there is nothing to undo")
            }
            try engine.record(.undone(event: event))
            return EventNumber(rawValue: event)
        }
    }

    /// Makes the changes of the newest undone transaction again, as a new transaction, and returns its event.
    ///
    /// It is possible until the app makes another change or a migration changes columns, also after a restart and in another
    /// process, as long as the history has the undo. Columns that the transaction did not change keep what a pull
    /// has received meanwhile. If a row that it updates is gone, this throws `row-absent`, and if one that it inserts
    /// exists, `row-exists`; then nothing is changed.
    @discardableResult
    @concurrent
    public func redo() async throws(SyncError) -> EventNumber {
        while true {
            guard let (step, taken) = try nextRedo() else {
                throw SyncError(
                    .operationNotFound, "there is nothing to redo",
                    hint: "What was undone can be redone until the app changes something else.")
            }
            let event = try await perform { engine throws(SyncError) -> UInt64? in
                _ = try engine.log
                // The app may have made a change since the log was read.
                guard try engine.reader.undone.first == step else { return nil }
                let heading = TransactionHeading(redoing: step.undo, name: taken.heading?.name)
                return try engine.local(heading) { here throws(SyncError) in
                    for change in taken.changes { try here.redo(change, after: step.undo, self.storage) }
                }.event
            }
            if let event { return EventNumber(rawValue: event) }
        }
    }

    /// Whether there is a transaction that ``undo()`` would undo now.
    @concurrent
    public func canUndo() async throws(SyncError) -> Bool {
        let current = writer.current
        let reader = try current.reader
        return try UndoSearch.newest(reader, through: current.through) != nil
    }

    /// Whether there is a transaction that ``redo()`` would make again now.
    @concurrent
    public func canRedo() async throws(SyncError) -> Bool {
        let reader = try reader
        return try HistoryReading.run(storage, claiming: false) { () throws(SyncError) in
            try !EventWalk(storage).redoable(reader).isEmpty
        }
    }

    /// Returns the transactions that ``undo()`` and ``redo()`` would take, at most `limit` of each.
    @concurrent
    public func undoSteps(limit: Int = 20) async throws(SyncError) -> UndoSteps {
        try steps(limit)
    }

    /// Observes ``undoSteps(limit:)``.
    public func observeUndoSteps(limit: Int = 20) -> LiveResults<UndoSteps, SyncError> {
        LiveResults { [self] in
            let shown = Mutex<Result<UndoSteps, SyncError>?>(nil)
            return .init(signals: writer.observers.signals(of: .everyCommit, beginsNow: true)) { [self] in
                shown.withLock { shown in
                    let known = (try? shown?.get()) ?? UndoSteps()
                    let new = Result { () throws(SyncError) in try steps(limit, known: known.undo + known.redo) }
                    if case .failure(let error) = new, error.endsReads { return nil }
                    if new == shown { return nil }
                    shown = new
                    return new
                }
            }
        }
    }

    /// - Parameter known: Steps that need not be read again.
    private func steps(_ limit: Int, known: [UndoStep] = []) throws(SyncError) -> UndoSteps {
        let current = writer.current
        let reader = try current.reader
        let events = try UndoSearch.events(reader, through: current.through, limit: limit)
        if events.isEmpty, try reader.undone.isEmpty { return UndoSteps() }
        return try HistoryReading.run(storage, claiming: false) { () throws(SyncError) in
            let walk = try EventWalk(opening: storage)
            let undo = try events.map { number throws(SyncError) -> UndoStep in
                if let step = known.first(where: { $0.event.rawValue == number }) { return step }
                let found = try walk.transaction(number)
                return UndoStep(number, found?.name, found?.time, rows: try reader.rowCount(changedBy: number))
            }
            let redo = try walk.redoable(reader).prefix(limit).map { next throws(SyncError) -> UndoStep in
                if let step = known.first(where: { $0.event.rawValue == next.event }) { return step }
                let taken = try walk.taken(back: next, storage)
                let rows = Set(taken.changes.map { RowKey(table: $0.table, id: $0.id) }).count
                return UndoStep(next.event, taken.heading?.name, taken.time, rows: rows)
            }
            return UndoSteps(undo: undo, redo: Array(redo))
        }
    }

    /// What a redo makes again now.
    private func nextRedo() throws(SyncError) -> (UndoneTransaction, TakenBack)? {
        let reader = try reader
        return try HistoryReading.run(storage, claiming: false) { () throws(SyncError) in
            let walk = EventWalk(storage)
            guard let step = try walk.redoable(reader).first else { return nil }
            return (step, try walk.taken(back: step, storage))
        }
    }
}

/// What an undo took back.
private struct TakenBack: Sendable {
    /// Nil if a compaction has removed the event.
    var heading: TransactionHeading?
    var time: Int64?
    var changes: [LocalChange]
}

extension UndoStep {
    fileprivate init(_ event: UInt64, _ name: String?, _ time: Int64?, rows: Int) {
        self.init(
            event: EventNumber(rawValue: event), name: name, date: time.map { Date(milliseconds: $0) }, rows: rows)
    }
}

extension EventWalk {
    /// The undone transactions that can be made again one after the other: those whose undo the log has.
    fileprivate func redoable(_ reader: StateReader) throws(SyncError) -> [UndoneTransaction] {
        let undone = try reader.undone
        if undone.isEmpty { return [] }
        let first = try first
        return Array(undone.prefix { $0.undo >= first })
    }

    fileprivate func taken(back step: UndoneTransaction, _ storage: any LogStorage) throws(SyncError) -> TakenBack {
        if let event = try event(step.event), case .local(let transaction) = event.body {
            return TakenBack(heading: transaction.heading, time: event.time, changes: transaction.changes)
        }
        return TakenBack(changes: try StateLoader(storage).changes(takenBackBy: step))
    }
}

extension StateLoader {
    /// What an undo did to rows, as the changes that take it back.
    fileprivate func changes(takenBackBy step: UndoneTransaction) throws(SyncError) -> [LocalChange] {
        let (done, undone) = (try state(through: step.undo - 1), try state(through: step.undo))
        let types = try undone.types
        var changes: [LocalChange] = []
        for key in try done.rows(changedBy: step.event) {
            let rows = (undone: try undone.row(key.table, key.id), done: try done.row(key.table, key.id))
            var change = LocalChange(kind: .update, table: key.table, id: (rows.done ?? rows.undone)?.id ?? key.id)
            switch rows {
            case (nil, nil): continue
            case (_?, nil): change.kind = .delete
            case (nil, let row?): (change.kind, change.columns) = (.insert, row.columns.own)
            case (let before?, let row?):
                let difference = RowDifference(
                    table: key.table, id: key.id, before: before.columns.own, after: row.columns.own, types[key.table])
                change.columns = Row(difference.fields.map { Value.Member($0.name, $0.after ?? .null) })
            }
            changes.append(change)
        }
        return changes
    }
}

extension SyncTransaction {
    /// Makes a change again. An update makes a row only where it did so before.
    fileprivate func redo(
        _ change: LocalChange, after undo: UInt64, _ storage: any LogStorage
    ) throws(SyncError) {
        if change.kind == .update, try get(change.table, id: change.id) == nil,
            try StateLoader(storage).state(through: undo).row(change.table, change.id) != nil
        {
            _ = try present(change.table, change.id)
        }
        try make(change)
    }
}
