// Removes history as the store's retention allows: whole segments that precede a verified checkpoint of the whole
// state. Unconfirmed changes are first written into the log again.

import SegmentLog
public import SynclineCore

/// The result of a compaction.
public struct CompactReport: Hashable, Sendable {
    /// The last event that the newest checkpoint covers.
    public var checkpoint: EventNumber
    /// The first event that is still in the log.
    public var firstEvent: EventNumber
    /// The number of log files removed.
    public var segmentsRemoved: Int
    /// The size of the removed files.
    public var bytesRemoved: UInt64
}

extension SyncDatabase {
    /// Returns how much of the history is kept.
    @concurrent
    public func retention() async throws(SyncError) -> Retention {
        try read { reader throws(SyncError) in try reader.retention }
    }

    /// Changes how much of the history is kept. Takes effect with the next `compact()`.
    @concurrent
    public func set(retention: Retention) async throws(SyncError) {
        try await set(SettingName.retention, .string(retention.description))
    }

    /// Seals the log's current segment, writes a checkpoint of the whole state, and removes the history that the
    /// retention does not keep. With `.everything`, nothing is removed.
    @discardableResult
    @concurrent
    public func compact() async throws(SyncError) -> CompactReport {
        try writer.compact(storage, now: configuration.environment.milliseconds())
    }
}

extension StoreWriter {
    func compact(_ storage: any LogStorage, now: Int64) throws(SyncError) -> CompactReport {
        let log = try log
        let reader = try current.reader
        let retention = try reader.retention
        try log.beginSegment()
        try checkpoint(isWhole: true)
        var report = CompactReport(
            checkpoint: EventNumber(rawValue: current.through), firstEvent: 1, segmentsRemoved: 0, bytesRemoved: 0)
        if let plan = try historyPlan(retention, storage, now: now), try canLetGo(of: plan, storage) {
            // Check the newest checkpoint, too: from now on it is all that remains of the removed history.
            for through in Set([plan.anchor, try newestCheckpoint(storage)]) {
                try CheckpointFile.check(storage, through, log.identity)
            }
            try carry(through: plan.anchor)
            if log.lastSequence.rawValue <= plan.anchor { try log.beginSegment() }
            let collection = try log.letGo(before: plan.anchor + 1, checkpoints: plan.dropped)
            report.segmentsRemoved = collection.segmentsRemoved
            report.bytesRemoved = collection.bytesRemoved.rawValue
            observers.tellOfRemoval()
        }
        report.firstEvent = EventNumber(rawValue: try storage.openLog().floor.rawValue)
        return report
    }

    /// Returns what may be removed, or nil if nothing may.
    private func historyPlan(
        _ retention: Retention, _ storage: any LogStorage, now: Int64
    ) throws(SyncError) -> HistoryPlan? {
        // By then, the newest event is the one that carries the changes.
        var horizon = try StoreWriter.horizon(retention, storage, through: current.through + 1, now: now)
        // A reader also needs the state before the first event it has claimed.
        let claimed = try storage.lowestClaim()
        if let claimed { horizon = min(horizon, claimed.rawValue - min(claimed.rawValue, 1)) }
        return HistoryPlan(try CheckpointFile.all(storage, try log.identity), horizon: horizon)
    }

    /// Returns the last event that need not be kept.
    private static func horizon(
        _ retention: Retention, _ storage: any LogStorage, through last: UInt64, now: Int64
    ) throws(SyncError) -> UInt64 {
        switch retention {
        case .everything: return 0
        case .events(let count): return last - min(last, UInt64(count))
        case .days(let count):
            let (milliseconds, isTooMany) = Int64(count).multipliedReportingOverflow(by: 86_400_000)
            if isTooMany { return 0 }
            let moment = WallTime(rawValue: now - min(now, milliseconds))
            return try storage.lastEvent(before: moment, else: last)
        }
    }

    /// Returns whether a segment or a checkpoint file would be removed.
    private func canLetGo(of plan: HistoryPlan, _ storage: any LogStorage) throws(SyncError) -> Bool {
        if !plan.dropped.isEmpty { return true }
        let segments = try storage.segments()
        return segments.count > 1 && segments[1].first.rawValue <= plan.anchor + 1
    }

    private func newestCheckpoint(_ storage: any LogStorage) throws(SyncError) -> UInt64 {
        try storage.checkpoints().first?.rawValue ?? 0
    }

    /// Writes what no server has of the events through `last` into the log again. It is durable when it returns.
    private func carry(through last: UInt64) throws(SyncError) {
        try performNow(.durable) { engine in
            try engine.reader.forEachCarriedEvent(through: last) { event throws(SyncError) in try engine.record(event) }
        }
    }
}
