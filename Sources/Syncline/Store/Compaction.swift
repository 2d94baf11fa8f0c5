// Lets go of history as the store's retention says: whole segments, below a checkpoint that holds the whole state and was
// read back, and never what the outbox still needs.

import SegmentLog
public import SynclineCore

/// What a compaction did.
public struct CompactReport: Hashable, Sendable {
    /// The last event the newest checkpoint covers.
    public var checkpoint: UInt64
    /// The first event that is left.
    public var firstEvent: UInt64
    /// Files of the log that went.
    public var segmentsRemoved: Int
    /// Their size.
    public var bytesRemoved: UInt64
}

extension SyncDatabase {
    /// What is kept of the history.
    public func retention() async throws(SyncError) -> Retention {
        try inAppWords { () throws(StateError) in try reader.retention }
    }

    /// Changes how much of the history is kept. Nothing goes before the next `compact()`.
    public func set(retention: Retention) async throws(SyncError) {
        try await set(SettingName.retention, .string(retention.description))
    }

    /// Closes the log's segment, writes a checkpoint of the whole state, and removes the history that the retention does
    /// not ask for. A store that keeps all of it loses nothing.
    @discardableResult
    public func compact() async throws(SyncError) -> CompactReport {
        let now = configuration.surroundings.now()
        return try await offCallersActor { () throws(SyncError) in try self.writer.compact(self.storage, now: now) }
    }

    /// What takes long and waits for the disk is not done on the caller's actor.
    @concurrent
    private func offCallersActor<Value: Sendable>(
        _ body: @Sendable () throws(SyncError) -> Value
    ) async throws(SyncError) -> Value {
        try body()
    }
}

extension StoreWriter {
    func compact(_ storage: any LogStorage, now: Int64) throws(SyncError) -> CompactReport {
        let log = log
        try inAppWords { () throws(LogError) in try log.roll() }
        try checkpoint(isWhole: true)
        let reader = current.reader
        let through = current.through
        var report = CompactReport(checkpoint: through, firstEvent: 1, segmentsRemoved: 0, bytesRemoved: 0)
        let (retention, oldestPending) = try inAppWords { () throws(StateError) in
            (try reader.retention, try reader.oldestPending)
        }
        let horizon = try StoreWriter.horizon(retention, storage, through: through, now: now)
        let plan = HistoryPlan(
            checkpoints: try CheckpointFile.whole(storage, log.identity), horizon: horizon, oldestPending: oldestPending
        )
        do throws(LogError) {
            if let anchor = plan.anchor {
                let through = SequenceNumber(rawValue: anchor)
                try Checkpoint.open(storage, through: through, identity: log.identity).verify()
                let collection = try log.collect(keepingFrom: SequenceNumber(rawValue: plan.firstEvent))
                report.segmentsRemoved = collection.segmentsRemoved
                report.bytesRemoved = collection.bytesRemoved.rawValue
                try log.remove(checkpoints: plan.dropped.map { SequenceNumber(rawValue: $0) })
            }
            report.firstEvent = try LogReader.open(storage, showing: .written).floor.rawValue
        } catch {
            throw SyncError(error)
        }
        return report
    }

    /// The last event that need not be kept.
    private static func horizon(
        _ retention: Retention, _ storage: any LogStorage, through: UInt64, now: Int64
    ) throws(SyncError) -> UInt64 {
        switch retention {
        case .everything: return 0
        case .events(let count): return through - min(through, UInt64(count))
        case .days(let count):
            let (milliseconds, isTooMany) = Int64(count).multipliedReportingOverflow(by: 86_400_000)
            if isTooMany { return 0 }
            let moment = WallTime(rawValue: now - min(now, milliseconds))
            return try inAppWords { () throws(LogError) in
                var cursor = try LogReader.open(storage, showing: .written).cursor(since: moment)
                return try cursor.nextFrame() ? cursor.firstSequence.rawValue - 1 : through
            }
        }
    }
}
