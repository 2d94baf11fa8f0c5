// The past of a store: any state that ever was, what changed between two of them, and which event gave a field its
// value. Nothing is written, and the store goes on meanwhile.

import SegmentLog
public import SynclineCore

/// A store as it was when an event had happened.
public struct HistoricState: Sendable {
    let reader: StateReader
    /// The last event it knows of.
    public let event: UInt64

    /// The row with an id; nil if there was none.
    public func get(_ table: String, id: String) throws(SyncError) -> StoredRow? {
        try inAppWords { () throws(StateError) in try reader.declaration }.check(table)
        return try inAppWords { () throws(StateError) in try reader.row(table, id) }
    }

    /// The rows that matched a query.
    public func query(_ query: Query) throws(SyncError) -> QueryResult {
        try inAppWords { () throws(StateError) in try reader.declaration }.check(query.table)
        return try inAppWords { () throws(StateError) in try reader.run(query) }
    }

    /// What would have been pushed.
    public func pending() throws(SyncError) -> [PlannedOperation] {
        try inAppWords { () throws(StateError) in try PushPlan(reader).operations }
    }

    /// The rows that differ in another state.
    public func differences(to other: HistoricState) throws(SyncError) -> [RowDifference] {
        try inAppWords { () throws(StateError) in
            var all: [RowDifference] = []
            try reader.differences(to: other.reader) { all.append($0) }
            return all
        }
    }
}

extension SyncDatabase {
    /// The store as it is; what happens later does not change it.
    public var present: HistoricState {
        let current = writer.current
        return HistoricState(reader: current.reader, event: current.through)
    }

    /// The store as it was when an event had happened.
    public func history(at event: UInt64) async throws(SyncError) -> HistoricState {
        let projector = try HistoryReading.run(storage) { () throws(SyncError) in
            try StateLoader(storage).load(through: event)
        }
        return HistoricState(
            reader: projector.reader(of: projector.store.endCommit()), event: projector.through)
    }

    /// The rows that differ between two moments; the present, where the later is not given.
    public func differences(from first: UInt64, to last: UInt64? = nil) async throws(SyncError) -> [RowDifference] {
        guard let last else { return try await history(at: first).differences(to: present) }
        return try HistoryReading.run(storage) { () throws(SyncError) in
            try StateLoader(storage).differences(from: first, to: last)
        }
    }

    /// The events that gave the fields of a row their values; nil if there is no such row.
    public func blame(_ table: String, id: String) async throws(SyncError) -> [FieldOrigin]? {
        do {
            return try HistoryReading.run(storage) {
                let start = try StateLoader(storage).earliest()
                let first = start.through + 1
                var blame = try Blame(table: table, id: id, from: start)
                try EventWalk(storage).forEachRecord(from: first) { number, record throws(SyncError) in
                    _ = try inAppWords { () throws(StateError) in try blame.fold(record, number: number) }
                    return true
                }
                return blame.fields
            }
        } catch let error as SyncError {
            throw error
        } catch let error as StateError {
            throw SyncError(error)
        } catch {
            throw SyncError(.internalError, "\(error)")
        }
    }
}
