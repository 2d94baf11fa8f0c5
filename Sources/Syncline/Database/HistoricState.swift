// The history of a store: its state at any past event, the differences between two states, and the event that set
// each field. Reading history writes nothing and does not block the store.

public import Foundation
package import SegmentLog
public import SynclineCore

/// A store as of an event.
public struct HistoricState: Sendable {
    package let reader: StateReader
    /// The last event this state includes.
    public let event: EventNumber
    package let storage: any LogStorage

    /// Returns the row with an id, or nil if there was none.
    @concurrent
    public func get(_ table: String, id: String) async throws(SyncError) -> StoredRow? {
        try mapErrors { () throws(StateError) in try reader.declaration }.check(table)
        return try mapErrors { () throws(StateError) in try reader.row(table, id) }
    }

    /// Returns the rows that matched a query.
    @concurrent
    public func query(_ query: RowQuery) async throws(SyncError) -> QueryResult {
        try mapErrors { () throws(StateError) in try reader.declaration }.check(query.table)
        return try mapErrors { () throws(StateError) in try reader.run(query) }
    }

    /// Computes values of the rows that matched.
    @concurrent
    public func compute(_ aggregate: RowAggregate) async throws(SyncError) -> [RowGroup] {
        try mapErrors { () throws(StateError) in try reader.declaration }.check(aggregate.table)
        return try mapErrors { () throws(StateError) in try reader.run(aggregate) }
    }

    /// Returns the operations that were pending.
    @concurrent
    public func pending() async throws(SyncError) -> [PlannedOperation] {
        try mapErrors { () throws(StateError) in try PushPlan(reader).operations }
    }

    /// Returns the rows that differ between this state and another.
    @concurrent
    public func differences(to other: HistoricState) async throws(SyncError) -> [RowDifference] {
        try mapErrors { () throws(StateError) in
            var all: [RowDifference] = []
            try reader.differences(to: other.reader) { all.append($0) }
            return all
        }
    }
}

extension SyncDatabase {
    /// A snapshot of the current state. Later changes do not affect it.
    public var present: HistoricState {
        let current = writer.current
        return HistoricState(
            reader: current.reader, event: EventNumber(rawValue: current.through), storage: storage)
    }

    /// Returns the store as of an event.
    @concurrent
    public func history(at event: EventNumber) async throws(SyncError) -> HistoricState {
        let projector = try HistoryReading.run(storage) { () throws(SyncError) in
            try StateLoader(storage).load(through: event.rawValue)
        }
        return HistoricState(
            reader: projector.reader(of: projector.store.endCommit()), event: EventNumber(rawValue: projector.through),
            storage: storage)
    }

    /// Returns the rows that differ between two events. Without `last`, compares with the current state.
    @concurrent
    public func differences(
        from first: EventNumber, to last: EventNumber? = nil
    ) async throws(SyncError) -> [RowDifference] {
        guard let last else { return try await history(at: first).differences(to: present) }
        return try HistoryReading.run(storage) { () throws(SyncError) in
            try StateLoader(storage).differences(from: first.rawValue, to: last.rawValue)
        }
    }

    /// Returns, for each field of a row, the event that set its value; nil if there is no such row.
    @concurrent
    public func blame(_ table: String, id: String) async throws(SyncError) -> [FieldOrigin]? {
        try HistoryReading.run(storage) { () throws(SyncError) in
            let start = try StateLoader(storage).earliest()
            let first = start.through + 1
            var blame = try mapErrors { () throws(StateError) in try Blame(table: table, id: id, from: start) }
            try EventWalk(storage).forEachRecord(from: first) { number, record throws(SyncError) in
                _ = try mapErrors { () throws(StateError) in try blame.fold(record, number: number) }
                return true
            }
            return blame.fields
        }
    }
}

extension FieldOrigin {
    /// When the event was written.
    public var date: Date { Date(milliseconds: time) }
}
