// Lets go of history as the store's retention says: whole segments, below a checkpoint that holds the whole state, was read
// back, and holds the entries that the events made. Changes that no server has confirmed are written into the log again
// before the events that made them go.

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
        let retention = try inAppWords { () throws(StateError) in try current.reader.retention }
        try inAppWords { () throws(LogError) in
            // What may go must not stay as the dictionary of the segment that follows.
            if retention == .everything { try log.roll() } else { try log.rollForgetting() }
        }
        try checkpoint(isWhole: true)
        var report = CompactReport(checkpoint: current.through, firstEvent: 1, segmentsRemoved: 0, bytesRemoved: 0)
        if let plan = try historyPlan(retention, storage, now: now), try canLetGo(of: plan, storage) {
            // The newest, too: from now on it is what is left of what goes.
            for through in Set([plan.anchor, try newestCheckpoint(storage)]) {
                try CheckpointFile.check(storage, through, log.identity)
            }
            try carry(through: plan.anchor)
            let collection = try inAppWords { () throws(LogError) in
                if log.lastSequence.rawValue <= plan.anchor { try log.rollForgetting() }
                let collection = try log.collect(keepingFrom: SequenceNumber(rawValue: plan.anchor + 1))
                try log.remove(checkpoints: plan.dropped.map { SequenceNumber(rawValue: $0) })
                return collection
            }
            report.segmentsRemoved = collection.segmentsRemoved
            report.bytesRemoved = collection.bytesRemoved.rawValue
        }
        report.firstEvent = try inAppWords { () throws(LogError) in
            try LogReader.open(storage, showing: .written).floor.rawValue
        }
        return report
    }

    /// What may go; nil if that is nothing.
    private func historyPlan(
        _ retention: Retention, _ storage: any LogStorage, now: Int64
    ) throws(SyncError) -> HistoryPlan? {
        // The event that carries changes on is the newest by then.
        var horizon = try StoreWriter.horizon(retention, storage, through: current.through + 1, now: now)
        // A reader has the state before the first event that it claims, too.
        let claimed = try inAppWords { () throws(LogError) in try LogLease.lowest(in: storage) }
        if let claimed { horizon = min(horizon, claimed.rawValue - min(claimed.rawValue, 1)) }
        return HistoryPlan(try CheckpointFile.all(storage, log.identity), horizon: horizon)
    }

    /// The last event that need not be kept.
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
            return try inAppWords { () throws(LogError) in
                var cursor = try LogReader.open(storage, showing: .written).cursor(since: moment)
                return try cursor.nextFrame() ? cursor.firstSequence.rawValue - 1 : last
            }
        }
    }

    /// Whether a segment or a file of a checkpoint would go.
    private func canLetGo(of plan: HistoryPlan, _ storage: any LogStorage) throws(SyncError) -> Bool {
        if !plan.dropped.isEmpty { return true }
        let segments = try inAppWords { () throws(LogError) in try LogCatalog(storage) }.segments
        return segments.count > 1 && segments[1].first.rawValue <= plan.anchor + 1
    }

    private func newestCheckpoint(_ storage: any LogStorage) throws(SyncError) -> UInt64 {
        try inAppWords { () throws(LogError) in try Checkpoint.list(storage) }.first?.rawValue ?? 0
    }

    /// Writes the unconfirmed changes of the events through `last` into the log again. Durable when it returns.
    private func carry(through last: UInt64) throws(SyncError) {
        try performNow(.durable) { engine in
            let rows = try inAppWords { () throws(StateError) in try engine.reader.carriedRows(through: last) }
            for part in CarriedRow.parts(rows) { try engine.record(.carried(through: last, part)) }
        }
    }
}

extension CarriedRow {
    /// About how large an event of carried rows may become.
    private static let eventSize = 1 << 20

    /// Rows for one event each: at least one event, which may be of none.
    static func parts(_ rows: [CarriedRow]) -> [[CarriedRow]] {
        var parts: [[CarriedRow]] = [[]]
        var size = 0
        for row in rows {
            if size > eventSize {
                parts.append([])
                size = 0
            }
            parts[parts.count - 1].append(row)
            size += row.changes.reduce(64) { $0 + 16 + $1.columns.bytes.count }
            if let frozen = row.frozen {
                size +=
                    frozen.columns.bytes.count + (frozen.ancestor?.bytes.count ?? 0)
                    + (frozen.server?.bytes.count ?? 0)
            }
        }
        return parts
    }
}
