// Copies every intact transaction of a log into a new one, with the same numbers, and holes for lost records. The
// damaged log is only read.

/// The result of a salvage.
public struct LogSalvage: Hashable, Sendable {
    /// The number of records copied.
    public var records: UInt64
    /// The records that were lost.
    public var lost: [SequenceRange]
    /// Whether it is known that no record is missing after the last one.
    public var endIsKnown: Bool

    /// Copies a log, which no writer may have open, into an empty or missing directory.
    public static func copy(from damaged: any LogStorage, to fresh: any LogStorage) throws(LogError) -> LogSalvage {
        let plan = try SalvageReading(damaged)
        if plan.whole.isEmpty, plan.last > .none {
            throw LogError(.storeCorrupt, "it has no record left to copy", file: FileName.head)
        }
        let clock = FrameClock()
        var configuration = LogConfiguration()
        configuration.syncsWhenIdle = false
        let writer = try LogWriter.create(fresh, first: plan.first, configuration: configuration, clock: clock)
        var salvage = LogSalvage(records: 0, lost: plan.lost, endIsKnown: plan.endIsKnown)
        _ = try SalvageReading(damaged) { first, time, batch throws(LogError) in
            try writer.leaveHole(through: first.previous)
            clock.set(time)
            try writer.append(batch, durability: .buffered)
            salvage.records += UInt64(batch.count)
        }
        // Acknowledged records after the last intact one are lost as well; their numbers must not be used again.
        try writer.leaveHole(through: plan.last)
        try writer.close()
        return salvage
    }
}

extension LogWriter {
    /// Appends a hole for the records missing before the next one.
    fileprivate func leaveHole(through last: SequenceNumber) throws(LogError) {
        let missing = SequenceRange(first: lastSequence.next, last: last)
        if !missing.isEmpty { try appendHole(missing.count) }
    }

    /// Records that `count` records are lost, and continues after them.
    func appendHole(_ count: UInt64) throws(LogError) {
        try use { appender throws(LogError) in try appender.appendHole(count) }
    }
}

extension Appender {
    func appendHole(_ count: UInt64) throws(LogError) {
        let start = (tail: tail, unsynced: unsynced.count)
let hole = HolePayload(chainAfter: nil, recordCount: Breakage.holeCountOff.isActive ? count - 1 : count)
        payload.truncate(to: 0)
        hole.encode(into: payload)
        encode(FrameHeader(kind: .hole, firstSequence: tail.next), compressed: false, hole: hole)
        do throws(StorageError) {
            try writeOut(zeroingAhead: false)
        } catch {
            throw cutBack(to: start.tail, unsynced: start.unsynced, after: error)
        }
    }
}
