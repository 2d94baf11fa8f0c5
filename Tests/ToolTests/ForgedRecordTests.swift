// Logs with records that no writer makes, with every checksum right: too large, truncated, or assembled wrongly. All
// readers must report the same: which frame it is, why, and which records are lost.

import SegmentLog
import Testing

/// A log of one segment whose frames the test writes.
private struct ForgedLog {
    let storage = MemoryStorage()
    private var frames: [(offset: UInt64, header: FrameHeader)] = []
    private var encoder: FrameEncoder
    private var bytes: [UInt8]
    private var next: FrameHeader
    private static let segment = "00000001-0000000000000001.seg"

    /// Holds the records 1 and 2 as a writer writes them.
    init() throws {
        var configuration = LogConfiguration()
        (configuration.zeroAhead, configuration.syncsWhenIdle) = (.bytes(0), false)
        let writer = try LogWriter.open(storage, configuration: configuration, clock: SteppingClock())
        for record in ["one", "two"] { try writer.append(RecordBatch(Array(record.utf8))) }
        bytes = storage.contents(of: ForgedLog.segment) ?? []
        let catalog = try LogCatalog(storage)
        encoder = FrameEncoder(seed: catalog.identity.seed, acceleration: 1)
        let scan = try TailScan(
            FileWindow(try storage.reading(ForgedLog.segment), name: ForgedLog.segment),
            try #require(catalog.segments.first?.header), head: nil)
        next = FrameHeader(kind: .data, firstSequence: scan.tail.next)
        next.chain = scan.tail.chain
    }

    mutating func add(
        _ kind: FrameKind, _ count: UInt16, _ flags: FrameFlags, _ payload: [UInt8], skipping skipped: UInt64 = 0
    ) {
        var header = next
        (header.kind, header.recordCount, header.flags) = (kind.rawValue, count, flags)
        header.firstSequence = header.firstSequence.advanced(by: skipped)
        let buffer = ByteBuffer(capacity: 4096)
        let written = payload.withUnsafeBytes { encoder.encode(header, payload: $0, into: buffer) }
        frames.append((UInt64(bytes.count), written))
        bytes += buffer.bytes
        next.chain = written.checksum
        next.firstSequence = written.firstSequence.advanced(by: UInt64(count))
    }

    mutating func data(
        _ records: [String], _ flags: FrameFlags = [], wire: [UInt8]? = nil, skipping skipped: UInt64 = 0
    ) {
        add(.data, UInt16(records.count), flags, ForgedLog.payload(wire ?? ForgedLog.wire(records)), skipping: skipped)
    }

    /// The last frame: it proves that all before it was durable.
    mutating func finish() {
        data(["the last"])
        storage.setContents(bytes, of: ForgedLog.segment)
    }

    func offset(_ index: Int) -> UInt64 { frames[index].offset }

    static func payload(_ wire: [UInt8]) -> [UInt8] { [0, 0, 0, 0, 1, 0, 0, 0] + wire }

    static func wire(_ records: [String]) -> [UInt8] { records.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } }

    static func varint(_ value: UInt64) -> [UInt8] {
        let buffer = ByteBuffer(capacity: 64)
        buffer.append(varint: value)
        return [UInt8](buffer.bytes)
    }
}

/// What each reader reports about a log.
private struct Sayings {
    /// The cursor's error, and the records before it.
    var cursor: LogError?
    var read: [UInt64] = []
    var verified: [LogDamage] = []
    /// What a list of the records shows in place of some.
    var listed: [LogDamage] = []
    var shown: [UInt64] = []
    /// How many records the verification counts.
    var counted: UInt64 = 0
    /// The reason healing gives when it asks whether the records are safe elsewhere.
    var healing: LogError?
    var salvaged: [UInt64] = []
    var lost: [SequenceRange] = []

    init(_ storage: MemoryStorage) throws {
        let report = try LogVerification(storage).run()
        (verified, counted) = (report.damage, report.records)
        do throws(LogError) {
            var cursor = try LogReader.open(storage, showing: .written).cursor()
            while try cursor.nextFrame() {
                cursor.forEachRecord { number, _ in read.append(number.rawValue) }
            }
        } catch {
            cursor = error
        }
        _ = try LogInspection(storage).records(from: nil) { found in
            switch found {
            case .record(let record): shown.append(record.sequence.rawValue)
            case .damage(let damage): listed.append(damage)
            case .hole: break
            }
        }
        do throws(LogError) {
            _ = try LogHealing(storage.copy()).run { _ in false }
        } catch {
            healing = error
        }
        let salvage = try SalvageReading(storage) { first, _, batch in
            salvaged += (0..<UInt64(batch.count)).map { first.rawValue + $0 }
        }
        lost = salvage.lost
    }
}

@Suite struct ForgedRecordTests {
    private static let inside: FrameFlags = [.continuesFromPrevious, .continuesInNext]

    /// All readers report `reason` for the frame at `offset`, which is in a transaction with the records `lost`.
    private func expect(
        _ log: ForgedLog, _ reason: String, at offset: UInt64, losing lost: ClosedRange<UInt64>, of count: UInt64,
        counting counted: UInt64? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let said = try Sayings(log.storage)
        let position = LogPosition(segment: 1, offset: offset)
        let range = SequenceRange(
            first: SequenceNumber(rawValue: lost.lowerBound), last: SequenceNumber(rawValue: lost.upperBound))
        #expect(said.cursor?.code == .storeCorrupt, sourceLocation: sourceLocation)
        #expect(said.cursor?.message == reason, sourceLocation: sourceLocation)
        #expect(said.cursor?.position == position, sourceLocation: sourceLocation)
        #expect(said.verified.map(\.reason) == [reason], sourceLocation: sourceLocation)
        #expect(said.verified.map(\.position) == [position], sourceLocation: sourceLocation)
        #expect(said.listed.map(\.reason) == [reason], sourceLocation: sourceLocation)
        #expect(said.listed.map(\.position) == [position], sourceLocation: sourceLocation)
        #expect(said.listed.map(\.records) == [range], sourceLocation: sourceLocation)
        #expect(said.healing?.message == reason, sourceLocation: sourceLocation)
        #expect(said.healing?.records == range, sourceLocation: sourceLocation)
        #expect(said.lost == [range], sourceLocation: sourceLocation)
        let whole = (1...count).filter { !lost.contains($0) }
        #expect(said.shown == whole, sourceLocation: sourceLocation)
        #expect(said.salvaged == whole, sourceLocation: sourceLocation)
        #expect(said.counted == counted ?? UInt64(whole.count), sourceLocation: sourceLocation)
        #expect(said.read == said.read.filter { $0 < lost.upperBound }, sourceLocation: sourceLocation)
    }

    @Test func `a record in fragments that is whole is read by all`() throws {
        var log = try ForgedLog()
        log.add(.fragment, 0, .continuesInNext, [6] + Array("thr".utf8))
        log.data(["three", "four"], .continuesFromPrevious, wire: Array("ee!".utf8) + ForgedLog.wire(["four"]))
        log.finish()
        let said = try Sayings(log.storage)
        #expect(said.cursor == nil && said.healing == nil && said.lost.isEmpty)
        #expect(said.verified.isEmpty && said.listed.isEmpty)
        #expect(said.read == [1, 2, 3, 4, 5] && said.shown == said.read && said.salvaged == said.read)
    }

    @Test func `a record larger than the format allows`() throws {
        var log = try ForgedLog()
        let piece = [UInt8](repeating: 7, count: Format.frameRawLimit)
        let pieces = Format.recordLimit / piece.count + 2
        let prefix = ForgedLog.varint(UInt64(pieces * piece.count))
        log.add(.fragment, 0, .continuesInNext, prefix + piece.dropLast(prefix.count))
        for _ in 1..<pieces { log.add(.fragment, 0, Self.inside, piece) }
        log.data(["three"], .continuesFromPrevious, wire: Array(piece.prefix(prefix.count)))
        log.finish()
        try expect(
            log, "a record is larger than the format allows", at: log.offset(pieces), losing: 3...3, of: 4)
    }

    @Test func `a fragment whose record has another length`() throws {
        var log = try ForgedLog()
        log.add(.fragment, 0, .continuesInNext, [5] + Array("thr".utf8))
        log.data(["three"], .continuesFromPrevious, wire: Array("ee and more".utf8))
        log.finish()
        try expect(log, "the records do not fill the payload", at: log.offset(1), losing: 3...3, of: 4)
    }

    @Test func `a fragment that does not decompress`() throws {
        var log = try ForgedLog()
        log.add(.fragment, 0, [.continuesInNext, FrameFlags(codec: .lz4)], [5] + Array("thr".utf8))
        // Alone it looks like a record.
        log.data(["three"], .continuesFromPrevious)
        log.finish()
        try expect(log, "the payload does not decompress", at: log.offset(1), losing: 3...3, of: 4)
    }

    @Test func `a frame too short for its time`() throws {
        var log = try ForgedLog()
        log.add(.data, 1, [], [0, 0, 0])
        log.finish()
        try expect(log, "the payload is too short", at: log.offset(0), losing: 3...3, of: 4)
    }

    @Test func `a frame that holds fewer records than it counts costs its whole transaction`() throws {
        var log = try ForgedLog()
        log.data(["three", "four"], .continuesInNext)
        log.data(["five", "six"], Self.inside, wire: ForgedLog.wire(["five"]))
        log.data(["seven"], .continuesFromPrevious)
        log.finish()
        try expect(log, "the records do not fill the payload", at: log.offset(1), losing: 3...7, of: 8, counting: 6)
    }

    @Test func `a fragment without a beginning`() throws {
        var log = try ForgedLog()
        log.add(.fragment, 0, Self.inside, Array("ree".utf8))
        log.data(["three"], .continuesFromPrevious)
        log.finish()
        try expectMisplaced(log, FrameFault.transaction, first: 3, of: 4)
    }

    @Test func `a fragment without an end`() throws {
        var log = try ForgedLog()
        log.add(.fragment, 0, .continuesInNext, [5] + Array("thr".utf8))
        log.data(["three"])
        log.finish()
        try expectMisplaced(log, FrameFault.transaction, first: 3, of: 4)
    }

    @Test func `a fragment of another record`() throws {
        var log = try ForgedLog()
        log.add(.fragment, 0, .continuesInNext, [5] + Array("thr".utf8))
        log.data(["four"], .continuesFromPrevious, wire: Array("ee".utf8), skipping: 1)
        log.finish()
        try expectMisplaced(log, FrameFault.sequence, first: 3, of: 5)
    }

    /// Frames that do not follow each other: the walk that all readers share detects that, and continues after them.
    private func expectMisplaced(
        _ log: ForgedLog, _ fault: FrameFault, first: UInt64, of count: UInt64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let said = try Sayings(log.storage)
        #expect(said.cursor?.code == .storeCorrupt, sourceLocation: sourceLocation)
        #expect(said.cursor?.position?.offset == log.offset(0), sourceLocation: sourceLocation)
        #expect(said.verified.map(\.reason) == [fault.reason], sourceLocation: sourceLocation)
        #expect(said.listed == said.verified, sourceLocation: sourceLocation)
        #expect(said.healing?.message == fault.reason, sourceLocation: sourceLocation)
        #expect(said.lost.first?.first.rawValue == first, sourceLocation: sourceLocation)
        #expect(said.healing?.records == said.lost.first, sourceLocation: sourceLocation)
        #expect(said.verified.first?.records == said.lost.first, sourceLocation: sourceLocation)
        #expect(said.salvaged == [1, 2, count], sourceLocation: sourceLocation)
        #expect(said.shown == said.salvaged, sourceLocation: sourceLocation)
    }

    @Test func `a list shows one record from within a transaction of several frames`() throws {
        var log = try ForgedLog()
        log.data(["three"], .continuesInNext)
        log.data(["four"], Self.inside)
        log.data(["five"], .continuesFromPrevious)
        log.finish()
        let four = SequenceNumber(rawValue: 4)
        var shown: [UInt64] = []
        _ = try LogInspection(log.storage).records(from: .range(SequenceRange(first: four, last: four))) {
            if case .record(let record) = $0 { shown.append(record.sequence.rawValue) }
        }
        #expect(shown == [4])
    }
}
