// Undo and redo of local transactions. An undo is an event; a redo makes the same changes again as a new transaction.

public import Foundation
import SegmentLog
public import SynclineCore
import SynclineGround

/// A transaction that can be undone.
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

extension SyncDatabase {
    /// Undoes the newest local transaction that can be undone, and returns its event.
    @discardableResult
    @concurrent
    public func undo() async throws(SyncError) -> EventNumber {
        let (event, changes, made) = try await perform { engine throws(SyncError) in
            let reader = engine.reader
            guard let event = try UndoSearch.newest(reader, through: engine.projector.through) else {
                throw SyncError(.operationNotFound, "there is nothing to undo")
            }
            let isKept = try reader.changeCount(of: event) <= UndoneTransactions.limit
            let rows = isKept ? try reader.rows(changedBy: event) : []
            let before = try engine.values(of: rows)
            try engine.record(.undone(event: event))
            let after = try engine.values(of: rows)
            let changes = zip(rows, zip(before, after)).map {
                UndoneTransactions.Change(table: $0.table, done: $1.0, undone: $1.1)
            }
            return (event, changes, engine.projector.totals.made)
        }
        undone.withLock { $0.push(changes, made: made) }
        return EventNumber(rawValue: event)
    }

    /// Whether there is a transaction that ``undo()`` would undo now.
    @concurrent
    public func canUndo() async throws(SyncError) -> Bool {
        let current = writer.current
        let reader = try current.reader
        return try UndoSearch.newest(reader, through: current.through) != nil
    }

    /// Returns the transactions that ``undo()`` would undo if it was called again and again, the newest first.
    @concurrent
    public func undoSteps(limit: Int = 20) async throws(SyncError) -> [UndoStep] {
        let current = writer.current
        let reader = try current.reader
        let events = try UndoSearch.events(reader, through: current.through, limit: limit)
        if events.isEmpty { return [] }
        let found = try readHistory { () throws(SyncError) in
            let walk = try EventWalk(opening: storage)
            return try events.map { event throws(SyncError) in try walk.transaction(event) }
        }
        return try zip(events, found).map { event, found throws(SyncError) in
            UndoStep(
                event: EventNumber(rawValue: event), name: found?.name,
                date: found.map { Date(milliseconds: $0.time) }, rows: try reader.rowCount(changedBy: event))
        }
    }

    /// Whether there is a transaction that ``redo()`` would make again now.
    public var canRedo: Bool {
        let made = writer.current.totals.made
        return undone.withLock { $0.newest(made: made) != nil }
    }

    /// Makes the changes of the newest undone transaction again, as a new transaction. Returns its event, or nil if
    /// the rows have these values already.
    ///
    /// Undone transactions of up to 100,000 changes are kept in memory while the store is open, until the app makes another
    /// change. Columns that the transaction did not change keep what a pull has received meanwhile.
    @discardableResult
    @concurrent
    public func redo() async throws(SyncError) -> EventNumber? {
        do {
            let (made, event) = try await perform(transaction: nil) { transaction throws(SyncError) in
                guard let changes = self.undone.withLock({ $0.newest(made: transaction.totals.made) }) else {
                    throw SyncError(
                        .operationNotFound, "there is nothing to redo",
                        hint: "What was undone can be redone until the app changes something else.")
                }
                for change in changes { try transaction.redo(change) }
                return transaction.totals.made
            }
            undone.withLock { $0.pop(made: made) }
            return event.map { EventNumber(rawValue: $0) }
        } catch {
            throw error as? SyncError ?? SyncError(.internalError, "\(error)")
        }
    }
}

extension StoreEngine {
    fileprivate func values(of rows: [RowKey]) throws(SyncError) -> [StoredRow?] {
        let reader = reader
        return try rows.map { row throws(SyncError) in try reader.row(row.table, row.id) }
    }
}

extension SyncTransaction {
    fileprivate func redo(_ change: UndoneTransactions.Change) throws(SyncError) {
        switch (change.done, change.undone) {
        case (let done?, let undone?): try update(change.table, done, from: undone)
        case (let done?, nil): try insert(change.table, id: done.id, columns: done.columns.own)
        case (nil, let undone?): try delete(change.table, id: undone.id)
        case (nil, nil): break
        }
    }
}

/// The transactions that can be redone.
struct UndoneTransactions: Sendable {
    /// What an undo did to a row; nil if there was no row.
    struct Change: Sendable {
        var table: String
        var done: StoredRow?
        var undone: StoredRow?
    }

    /// The changes of each transaction, the newest last.
    private var transactions: [[Change]] = []
    /// The number of changes that the app had made when the newest was undone. A different number shows that it made
    /// others.
    private var made: UInt64 = 0

    /// A transaction with more changes is not kept, and neither are those that were undone before it.
    static let limit = 100_000

    mutating func push(_ changes: [Change], made: UInt64) {
        if made != self.made || changes.isEmpty { transactions = [] }
        self.made = made
        if !changes.isEmpty { transactions.append(changes) }
    }

    func newest(made: UInt64) -> [Change]? { made == self.made ? transactions.last : nil }

    mutating func pop(made: UInt64) {
        _ = transactions.popLast()
        self.made = made
    }
}
