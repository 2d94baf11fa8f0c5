// Verifies a whole log without changing it: every frame, record, chain, segment end, index and checkpoint. Damage is listed
// with its position; frames and records are counted if they can be read.

/// The result of a verification.
public struct LogReport: Hashable, Sendable {
    /// The findings about one segment.
    public struct Segment: Hashable, Sendable {
        /// The file's name.
        public var name: String
        /// Its number among the segments.
        public var ordinal: UInt64
        /// The records it holds.
        public var records: SequenceRange
        /// The frames it holds.
        public var frames: UInt64
        /// The size of the header and the intact frames.
        public var length: ByteCount
        /// The size of the file, including preallocated space.
        public var fileSize: ByteCount
        /// The size of the payloads before compression.
        public var rawLength: ByteCount
        /// Whether it is complete and has an index.
        public var isSealed: Bool
        /// When it was created; nil if its header can't be read.
        public var created: WallTime?
        /// The epoch of the writer that created it; each opening of the log increases the epoch.
        public var epoch: UInt32
        /// The user's note from when it was sealed.
        public var note: LogNote?
    }

    /// The identity of the log.
    public var identity: LogIdentity
    /// The segments, oldest first.
    public var segments: [Segment] = []
    /// Checkpoints that verified, each by the last record it covers.
    public var checkpoints: [SequenceNumber] = []
    /// The number of frames that can be read.
    public var frames: UInt64 = 0
    /// The number of records that can be read.
    public var records: UInt64 = 0
    /// Records known to be lost: holes left by healing or salvage.
    public var holes: [SequenceRange] = []
    /// The damage found.
    public var damage: [LogDamage] = []

    /// Whether nothing is damaged.
    public var isHealthy: Bool { damage.isEmpty }
}

/// A summary of one frame, for reports.
public struct FrameSummary: Hashable, Sendable {
    /// Where the frame begins.
    public var position: LogPosition
    /// Its kind; nil if this version does not know it.
    public var kind: FrameKind?
    /// The number of its kind.
    public var kindNumber: UInt8
    /// The records it holds.
    public var records: SequenceRange
    /// The size of the frame on disk.
    public var length: ByteCount
    /// The stored size of the payload.
    public var storedLength: ByteCount
    /// The uncompressed size of the payload.
    public var rawLength: ByteCount
    /// "stored" or "lz4".
    public var codec: String
    /// The number of records before this frame's that were not known to be durable when it was written.
    public var durableLag: UInt32
    /// Whether its transaction began in an earlier frame.
    public var continuesFromPrevious: Bool
    /// Whether its transaction continues in the next frame.
    public var continuesInNext: Bool
    /// Whether its payload is stored masked, so that no piece of it is all zeros.
    public var isMasked: Bool

    package init(_ header: FrameHeader, at position: LogPosition) {
        self.position = position
        kind = header.knownKind
        kindNumber = header.kind
        records = header.records
        length = .bytes(UInt64(header.frameLength))
        storedLength = .bytes(UInt64(header.storedLength))
        rawLength = .bytes(UInt64(header.rawLength))
        codec =
            switch header.codec {
            case .stored: "stored"
            case .lz4: "lz4"
            case nil: "\(header.flags.codec)"
            }
        durableLag = header.durableLag
        continuesFromPrevious = header.flags.contains(.continuesFromPrevious)
        continuesInNext = header.flags.contains(.continuesInNext)
        isMasked = header.flags.contains(.masked)
    }
}

/// Verifies a log, tolerating damage. Safe to use while the log is being written.
public struct LogVerification: Sendable {
    private let storage: any LogStorage

    /// Creates a verification of the log in a storage.
    public init(_ storage: any LogStorage) {
        self.storage = storage
    }

    /// Verifies everything. Calls `frame` with each frame whose checksums are right, in order.
    public func run(frame visit: (FrameSummary) -> Void = { _ in }) throws(LogError) -> LogReport {
        let catalog = try LogCatalog(storage)
        var report = LogReport(identity: catalog.identity)
        report.damage = catalog.damage
        if catalog.head == nil && !catalog.headIsDamaged {
            report.damage.append(
                LogDamage(
                    file: FileName.head, reason: "it is missing, so records may be missing at the end", remedy: .rebuild
                ))
        }
        for index in catalog.segments.indices {
            try check(index, catalog, &report, visit)
        }
        try catalog.verifyCheckpoints(in: storage) { checkpoint in
            report.checkpoints.append(checkpoint.through)
        } damage: { damage in
            report.damage.append(damage)
        }
        return report
    }

    private func check(
        _ index: Int, _ catalog: LogCatalog, _ report: inout LogReport, _ visit: (FrameSummary) -> Void
    ) throws(LogError) {
        let entry = catalog.segments[index]
        let successor = catalog.segments.successor(of: index)?.header
        var end = entry.reach
        var tailDamage: LogDamage?
        if index == catalog.segments.count - 1, let header = entry.header {
            let file = try storage.reading(entry.name)
            defer { file.close() }
            let scan = try TailScan(FileWindow(file, name: entry.name), header, head: catalog.head)
            tailDamage = scan.damage(in: entry, endIsKnown: catalog.endIsKnown)
            // After a clean or torn end there is nothing to check.
            if tailDamage?.remedy == .cutTail || tailDamage == nil { end = scan.tail.offset }
        }
        var walked = SegmentCheck(entry)
        var stretches: [DamagedStretch] = []
        var walk = try DamageWalk(entry, of: catalog, in: storage, through: end, before: successor)
        while let step = try walk.next() {
            switch step {
            case .frame(let found):
                walked.step(found)
                visit(FrameSummary(found.header, at: LogPosition(segment: entry.ordinal, offset: found.offset)))
            case .damage(let stretch):
                stretches.append(stretch)
                walked.stepOverDamage()
            }
        }
        report.damage += stretches.map(\.damage)
        if let tailDamage, stretches.isEmpty { report.damage.append(tailDamage) }
        report.damage += walked.finish(isWhole: stretches.isEmpty)
        report.frames += walked.summary.frames
        report.records += walked.recordCount
        report.holes += walked.holes
        report.segments.append(walked.summary)
    }
}

/// Counts and checks the frames of one segment, and their records.
private struct SegmentCheck {
    var summary: LogReport.Segment
    var recordCount: UInt64 = 0
    var holes: [SequenceRange] = []
    private var tail: SegmentTail?
    private let decoder = PayloadDecoder()
    private var index: (payload: IndexPayload, at: SegmentTail)?
    /// Whether a hole covers frames that the index counts.
    private var hasHole = false
    private var damage: [LogDamage] = []
    private let segment: LogCatalog.Segment
    private var assembler = RecordAssembler()

    init(_ segment: LogCatalog.Segment) {
        self.segment = segment
        let header = segment.header
        tail = header.map(SegmentTail.init(after:))
        summary = LogReport.Segment(
            name: segment.name, ordinal: segment.ordinal,
            records: SequenceRange(first: segment.first, last: segment.first.previous),
            frames: 0, length: .bytes(UInt64(Format.segmentHeaderLength)), fileSize: .bytes(segment.size),
            rawLength: .bytes(0),
            isSealed: false, created: header?.created, epoch: header?.epoch ?? 0)
    }

    mutating func step(_ found: DamageWalk.Frame) {
        let frame = found.header
        summary.length.rawValue += UInt64(frame.frameLength)
        summary.rawLength.rawValue += UInt64(frame.rawLength)
        summary.records.last = max(summary.records.last, frame.records.last)
        var hole: HolePayload?
        switch frame.knownKind {
        case .hole:
            hasHole = true
            hole = HolePayload(of: frame, found.stored)
            if let hole, hole.recordCount > 0 {
                holes.append(SequenceRange(first: frame.firstSequence, count: hole.recordCount))
                summary.records.last = max(
                    summary.records.last, frame.firstSequence.advanced(by: hole.recordCount).previous)
            }
        case .index:
            if let tail, let payload = decoder.payload(of: frame, stored: found.stored).flatMap(IndexPayload.init) {
                index = (payload, tail)
                summary.note = payload.note
            } else {
                report(found, "the index can't be read", remedy: .rebuild)
            }
        case .seal:
            summary.isSealed = true
        default: break
        }
        let time = frame.knownKind == .data ? decoder.time(of: frame, stored: found.stored) : nil
        tail?.step(over: frame, time: time, hole: hole)
        count(found)
    }

    /// Counts a frame and its records, or reports why they can't be read.
    private mutating func count(_ found: DamageWalk.Frame) {
        let frame = found.header
        if RuleZ.hasLongZeroRun(found.stored) { report(found, "a piece of the frame could be all zero (rule Z)") }
        // An index that can't be read was reported above.
        guard let kind = frame.knownKind, kind != .index else { return summary.frames += 1 }
        let payload = decoder.payload(of: frame, stored: found.stored)
        do throws(RecordFault) {
            let holdsRecords = kind == .data || kind == .fragment
            if payload == nil && !holdsRecords { throw .undecodable }
            _ = try assembler.take(frame, payload)
            summary.frames += 1
            recordCount += UInt64(frame.recordCount)
        } catch {
            report(found, error.reason)
        }
    }

    /// Discards the record being assembled, which the damage affects.
    mutating func stepOverDamage() {
        assembler.reset()
    }

    private mutating func report(_ found: DamageWalk.Frame, _ reason: String, remedy: LogDamage.Remedy = .salvage) {
        let records = found.header.records
        damage.append(
            segment.damage(
                at: found.offset, length: UInt64(found.header.frameLength), records: records.isEmpty ? nil : records,
                reason: reason, remedy: remedy))
    }

    /// Compares the index with the frames walked, if none is missing.
    mutating func finish(isWhole: Bool) -> [LogDamage] {
        if isWhole, let index, !hasHole, !index.payload.matches(index.at) {
            damage.append(
                segment.damage(
                    at: index.at.offset, reason: "the index does not match the frames before it", remedy: .rebuild))
        }
        return damage
    }
}
