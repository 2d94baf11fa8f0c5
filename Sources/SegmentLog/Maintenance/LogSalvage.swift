// Copies every whole transaction of a log, damaged or not, into a new one, under the same numbers, with holes where
// records are lost. The damaged log is only read.

/// What a salvage did.
public struct LogSalvage: Hashable, Sendable {
    /// How many records were copied.
    public var records: UInt64
    /// Which were lost.
    public var lost: [SequenceRange]

    /// Copies a log into an empty or missing directory.
    public static func copy(from damaged: any LogStorage, to fresh: any LogStorage) throws(LogError) -> LogSalvage {
        let plan = try SalvageReading(damaged)
        if plan.whole.isEmpty, plan.last > .none {
            throw LogError(.storeCorrupt, "it has no record left to copy", file: FileName.head)
        }
        let clock = FrameClock()
        var configuration = LogConfiguration()
        configuration.syncsWhenIdle = false
        let writer = try LogWriter.create(fresh, first: plan.first, configuration: configuration, clock: clock)
        var salvage = LogSalvage(records: 0, lost: plan.lost)
        _ = try SalvageReading(damaged) { first, time, batch throws(LogError) in
            try writer.leaveHole(through: first.previous)
            clock.set(time)
            try writer.append(batch, durability: .buffered)
            salvage.records += UInt64(batch.count)
        }
        // What was acknowledged after the last whole record is lost, too; its numbers must not be given out again.
        try writer.leaveHole(through: plan.last)
        try writer.close()
        return salvage
    }
}

extension LogWriter {
    /// Leaves a hole for the records that are missing before the next one.
    fileprivate func leaveHole(through last: SequenceNumber) throws(LogError) {
        let missing = SequenceRange(first: lastSequence.next, last: last)
        if !missing.isEmpty { try appendHole(missing.count) }
    }

    /// Says that `count` records are lost, and goes on behind them.
    func appendHole(_ count: UInt64) throws(LogError) {
        try use { appender throws(LogError) in try appender.appendHole(count) }
    }
}

extension Appender {
    func appendHole(_ count: UInt64) throws(LogError) {
        let start = (tail: tail, unsynced: unsynced.count)
        let hole = HolePayload(chainAfter: nil, recordCount: count)
        payload.truncate(to: 0)
        hole.encode(into: payload)
        var frame = FrameHeader(kind: .hole, firstSequence: tail.next)
        frame.chain = tail.chain
        frame.durableLag = UInt32(clamping: tail.next.previous.rawValue - durableThrough.rawValue)
        tail.step(
            over: encoder.encode(frame, payload: payload.bytes, compressed: false, into: unsynced), time: nil,
            hole: hole)
        do throws(StorageError) {
            try writeOut(zeroingAhead: false)
        } catch {
            throw cutBack(to: start.tail, unsynced: start.unsynced, after: error)
        }
    }
}
