// The history of a store: its state at any past event, the differences between two states, and the event that set
// each field. Reading history writes nothing and does not block the store.

public import Foundation
package import SegmentLog
public import SynclineCore

/// A store as of an event. It can be read until the store is closed.
public struct StoreSnapshot: Sendable {
    let writer: StoreWriter
    private let state: StateReader
    /// The last event this state includes.
    public let event: EventNumber
    package let storage: any LogStorage

    fileprivate init(_ database: SyncDatabase, _ state: StateReader, through event: UInt64) {
        (writer, storage) = (database.writer, database.storage)
        self.state = state
        self.event = EventNumber(rawValue: event)
    }

    package var reader: StateReader {
        get throws(SyncError) {
            _ = try writer.current.reader
            return state
        }
    }

    /// Throws if the store was strict and the table was not declared.
    private func reader(of table: String) throws(SyncError) -> StateReader {
        let reader = try reader
        try reader.declaration.check(table)
        return reader
    }

    /// Returns the row with an id, or nil if there was none.
    @concurrent
    public func get(_ table: String, id: String) async throws(SyncError) -> StoredRow? {
        let reader = try reader(of: table)
        return try reader.row(table, id)
    }

    /// Returns the rows that matched a query.
    @concurrent
    public func query(_ query: RowQuery) async throws(SyncError) -> QueryResult {
        let reader = try reader(of: query.table)
        return try reader.run(query)
    }

    /// Computes values of the rows that matched.
    @concurrent
    public func compute(_ aggregate: RowAggregate) async throws(SyncError) -> [RowGroup] {
        let reader = try reader(of: aggregate.table)
        return try reader.run(aggregate)
    }

    /// Returns the operations that were pending.
    @concurrent
    public func pending() async throws(SyncError) -> [PlannedOperation] {
        let reader = try reader
        return try PushPlan(reader).operations
    }

    /// Returns the rows that differ between this state and another.
    @concurrent
    public func differences(to other: StoreSnapshot) async throws(SyncError) -> [RowDifference] {
        let (reader, other) = (try reader, try other.reader)
        var all: [RowDifference] = []
        try reader.differences(to: other) { all.append($0) }
        return all
    }
}

extension SyncDatabase {
    /// A snapshot of the current state. Later changes do not affect it.
    public var present: StoreSnapshot {
        get throws(SyncError) {
            let current = writer.current
            return StoreSnapshot(self, try current.reader, through: current.through)
        }
    }

    /// Returns the store as of an event.
    @concurrent
    public func history(at event: EventNumber) async throws(SyncError) -> StoreSnapshot {
        let projector = try readHistory { () throws(SyncError) in
            try StateLoader(storage).load(through: event.rawValue)
        }
        return StoreSnapshot(self, projector.reader(of: projector.store.endCommit()), through: projector.through)
    }

    /// Returns the store as of a time: of ``event(at:)``.
    @concurrent
    public func history(at time: Date) async throws(SyncError) -> StoreSnapshot {
        try await history(at: try await event(at: time))
    }

    /// Returns the last event until a time: the one before the first event that is later. So if the clock was set back
    /// meanwhile, events after that count only once an earlier one does.
    ///
    /// It reads the log from its beginning. Throws `collected` if the first event that the store still has is later.
    @concurrent
    public func event(at time: Date) async throws(SyncError) -> EventNumber {
        let (newest, first) = try readHistory { () throws(SyncError) in
            try EventWalk(storage).newest(until: time.milliseconds)
        }
        if newest == 0, let first {
            let start = Timestamp(.init(milliseconds: first.time))
            throw SyncError(
                .collected, "the history begins with @\(first.number), of \(start)", hint: "Choose a later moment.")
        }
        return EventNumber(rawValue: newest)
    }

    /// Returns the rows that differ between two events. Without `last`, compares with the current state.
    @concurrent
    public func differences(
        from first: EventNumber, to last: EventNumber? = nil
    ) async throws(SyncError) -> [RowDifference] {
        guard let last else { return try await history(at: first).differences(to: try present) }
        return try readHistory { () throws(SyncError) in
            try StateLoader(storage).differences(from: first.rawValue, to: last.rawValue)
        }
    }

    /// Returns, for each field of a row, the event that set its value; nil if there is no such row.
    @concurrent
    public func blame(_ table: String, id: String) async throws(SyncError) -> [FieldOrigin]? {
        try look(at: table, id).fields
    }

    /// Returns why the app does not see a row: it was deleted here or elsewhere, left a query, or the user lost the right to it,
    /// among others. Nil if the app sees it, or if the retained history does not know it.
    ///
    /// It reads the log from its beginning.
    @concurrent
    public func absence(_ table: String, id: String) async throws(SyncError) -> RowAbsence? {
        try look(at: table, id).absence
    }

    /// Follows a row through the retained history.
    private func look(at table: String, _ id: String) throws(SyncError) -> Blame {
        try readHistory { () throws(SyncError) in
            let start = try StateLoader(storage).earliest()
            let first = start.through + 1
            var blame = try Blame(table: table, id: id, from: start)
            try EventWalk(storage).forEachRecord(from: first) { number, record throws(SyncError) in
                _ = try blame.fold(record, number: number)
                return true
            }
            return blame
        }
    }

    func readHistory<Value>(_ body: () throws(SyncError) -> Value) throws(SyncError) -> Value {
        _ = try reader
        return try HistoryReading.run(storage, body)
    }
}

extension FieldOrigin {
    /// When the event was written.
    public var date: Date { Date(milliseconds: time) }
}
