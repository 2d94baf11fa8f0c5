// Copies every whole transaction of a log, damaged or not, into a new one, under the same numbers, with holes where
// records are lost. The damaged log is only read.

/// What a salvage did.
public struct LogSalvage: Hashable, Sendable {
    /// How many records were copied.
    public var records: UInt64
    /// Which were lost.
    public var lost: [SequenceRange]
    /// The newest record that a frame attests as acknowledged.
    private var attested = SequenceNumber.none

    private init() {
        records = 0
        lost = []
    }

    /// Copies a log into an empty or missing directory.
    public static func copy(from damaged: any LogStorage, to fresh: any LogStorage) throws(LogError) -> LogSalvage {
        let catalog = try LogCatalog(damaged)
        if let newer = catalog.damage.first(where: { $0.remedy == .upgrade }) { throw newer.error }
        guard let first = catalog.segments.first?.first else {
            throw LogError(.storeCorrupt, "it has no segment left to copy from", file: FileName.head)
        }
        let clock = FrameClock()
        var birth = LogBirth(storage: fresh, clock: clock)
        try birth.prepare(.always)
        try birth.makeFirstSegment(first: first)
        let writer = try LogWriter.open(fresh, creating: .never, configuration: configuration, clock: clock)
        var salvage = LogSalvage()
        for index in catalog.segments.indices {
            try salvage.copy(catalog.segments[index], of: damaged, catalog, index, writer, clock)
        }
        // What was acknowledged behind the last whole record is lost too; its numbers must not be given out again.
        try salvage.skip(through: max(salvage.attested, catalog.head?.durableThrough ?? .none), writer)
        try writer.close()
        return salvage
    }

    private static var configuration: LogConfiguration {
        var configuration = LogConfiguration()
        configuration.syncsWhenIdle = false
        return configuration
    }

    /// A transaction while its frames arrive: a batch for each time.
    private final class Transaction {
        var batch = RecordBatch()
        var first = SequenceNumber.none
        let fragments = ByteBuffer(capacity: 64)

        func reset() {
            batch.removeAll()
            fragments.truncate(to: 0)
        }
    }

    private mutating func copy(
        _ segment: LogCatalog.Segment, of storage: any LogStorage, _ catalog: LogCatalog, _ index: Int,
        _ writer: LogWriter, _ clock: FrameClock
    ) throws(LogError) {
        let successor = index + 1 < catalog.segments.count ? catalog.segments[index + 1].header : nil
        var decoder = PayloadDecoder()
        let transaction = Transaction()
        var copied = self
        try DamageWalk(storage, catalog).walk(
            segment, through: min(segment.end ?? segment.size, segment.size), behind: successor
        ) {
            found throws(LogError) in
            copied.attested = max(copied.attested, found.header.durableThrough)
            guard let payload = decoder.payload(of: found.header, stored: found.stored) else {
                return transaction.reset()
            }
            switch found.header.knownKind {
            case .dictionary: decoder.dictionary = [UInt8](payload)
            case .fragment: transaction.fragments.append(payload)
            case .data: try copied.take(found.header, payload, transaction, writer, clock)
            default: break
            }
        } damage: { _ throws(LogError) in
            transaction.reset()
        }
        self = copied
    }

    private mutating func take(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ transaction: Transaction, _ writer: LogWriter,
        _ clock: FrameClock
    ) throws(LogError) {
        guard payload.count >= 8 else { return transaction.reset() }
        if transaction.batch.isEmpty { transaction.first = header.firstSequence }
        transaction.fragments.append(payload.slice(8, payload.count - 8))
        guard RecordWire.holds(transaction.fragments.bytes, count: Int(header.recordCount)) else {
            return transaction.reset()
        }
        var wire = RecordWire(transaction.fragments.bytes)
        while let record = wire.next() { transaction.batch.append(record) }
        transaction.fragments.truncate(to: 0)
        guard header.flags.isDisjoint(with: .continuesInNext) else { return }
        try skip(through: transaction.first.previous, writer)
        clock.set(WallTime(rawValue: payload.number(at: 0)))
        try writer.append(transaction.batch, durability: .buffered)
        records += UInt64(transaction.batch.count)
        transaction.reset()
    }
}

extension LogSalvage {
    /// Leaves a hole for the records that are missing before the next one.
    private mutating func skip(through last: SequenceNumber, _ writer: LogWriter) throws(LogError) {
        let missing = SequenceRange(first: writer.lastSequence.next, last: last)
        guard !missing.isEmpty else { return }
        try writer.appendHole(missing.count)
        lost.append(missing)
    }
}

extension LogWriter {
    /// Says that `count` records are lost, and goes on behind them.
    func appendHole(_ count: UInt64) throws(LogError) {
        try use { appender throws(LogError) in try appender.appendHole(count) }
    }
}

extension Appender {
    func appendHole(_ count: UInt64) throws(LogError) {
        let start = (tail: tail, unsynced: unsynced.count)
        let hole = HolePayload(chainAfter: nil, recordCount: SeededBug.holeCountOff.isActive ? count - 1 : count)
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
