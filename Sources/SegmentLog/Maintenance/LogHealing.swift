// Heals damage to records that are safe elsewhere: copies the damaged bytes to quarantine and replaces them by a
// hole that names the lost records, so that the log can be read again. The caller decides for each range whether it
// is safe.

/// Heals a damaged log in place.
public struct LogHealing: Sendable {
    private let storage: any LogStorage
    private let clock: any LogClock

    /// Creates a healing of the log in a storage.
    public init(_ storage: any LogStorage, clock: any LogClock = SystemClock()) {
        self.storage = storage
        self.clock = clock
    }

    /// Replaces each damaged stretch whose lost records are safe according to `isSafeElsewhere`, and returns the
    /// lost ranges. If some are not, changes nothing and throws an error that names them.
    public func run(isSafeElsewhere: (SequenceRange) -> Bool) throws(LogError) -> [SequenceRange] {
        try locked { healing, catalog throws(LogError) in
            let stretches = try healing.findStretches(catalog)
            for stretch in stretches where !stretch.lost.isEmpty && !isSafeElsewhere(stretch.lost) {
                throw LogError(
                    .storeCorrupt, stretch.fault.reason, file: stretch.segment, position: stretch.start,
                    records: stretch.lost,
                    hint:
                        "Nothing was changed: these records are not known to be safe elsewhere. Salvage what can be read."
                )
            }
            try healing.heal(stretches, catalog)
            return stretches.map(\.lost).filter { !$0.isEmpty }
        }
    }

    /// Replaces only stretches that lose no record: an index, a seal, a session. A segment without an index is
    /// scanned.
    package func mendDerived() throws(LogError) {
        try locked { healing, catalog throws(LogError) in
            try healing.heal(try healing.findStretches(catalog).filter(\.isDerived), catalog)
        }
    }

    private func locked<Value>(
        _ body: (LogHealing, LogCatalog) throws(LogError) -> Value
    ) throws(LogError) -> Value {
        var creator = LogCreator(storage: storage, clock: clock)
        try creator.prepare(.never)
        let lock = try creator.takeLock()
        defer { lock.release() }
        let catalog = try LogCatalog(creator.storage)
        if let damage = catalog.damage.first(where: { !$0.isRepairable }) { throw damage.error }
        return try body(LogHealing(creator.storage, clock: clock), catalog)
    }

    private func findStretches(_ catalog: LogCatalog) throws(LogError) -> [DamagedStretch] {
        var stretches: [DamagedStretch] = []
        for (index, segment) in catalog.segments.enumerated() {
            let successor = catalog.segments.successor(of: index)?.header
            var end = segment.reach
            if successor == nil, let header = segment.header {
                let file = try storage.reading(segment.name)
                defer { file.close() }
                let scan = try TailScan(FileWindow(file, name: segment.name), header, head: catalog.head)
                if case .corrupt = scan.verdict {
                    if scan.isSealed { end = segment.size }
                } else {
                    // Recovery repairs a clean or torn end.
                    end = scan.tail.offset
                }
            }
            var check = ReadingCheck(segment)
            var walk = try DamageWalk(segment, of: catalog, in: storage, through: end, before: successor)
            while let step = try walk.next() {
                switch step {
                case .frame(let found):
                    if let stretch = check.step(found) { stretches.append(stretch) }
                case .damage(var stretch):
                    if stretch.fault.isNewer { throw stretch.damage.error }
                    if stretch.chainAfter == nil, let head = catalog.head {
                        stretch.lost.last = max(stretch.lost.last, head.durableThrough)
                    }
                    stretches.append(stretch)
                    check.stepOverDamage()
                }
            }
        }
        return stretches
    }

    private func heal(_ stretches: [DamagedStretch], _ catalog: LogCatalog) throws(LogError) {
        for stretch in stretches where !HoleEncoder.fits(stretch) {
            throw LogError(
                .storeCorrupt, "the damage is too short for a hole in its place", file: stretch.segment,
                position: stretch.start, records: stretch.lost,
                hint: "Nothing was changed. Salvage what can be read.")
        }
        try callStorage { () throws(StorageError) in
            for stretch in stretches { try heal(stretch, catalog) }
        }
    }

    /// Replaces a stretch by hole frames of exactly its length. A stretch at the end of the log is truncated and
    /// replaced by one hole.
    private func heal(_ stretch: DamagedStretch, _ catalog: LogCatalog) throws(StorageError) {
        let file = try storage.openForWriting(stretch.segment, create: false)
        defer { file.close() }
        _ = try Quarantine(storage, limit: .max).keep(
            file, from: stretch.start, to: stretch.end, epoch: (catalog.head?.epoch ?? 0))
        let encoder = HoleEncoder(stretch, catalog)
        if stretch.chainAfter == nil {
            try file.resize(to: stretch.start.offset)
            try file.sync(.durable)
        }
        try file.writeFully(encoder.bytes.bytes, at: stretch.start.offset)
        try file.sync(.durable)
    }
}

/// Builds the frames that replace a damaged stretch.
private struct HoleEncoder {
    let bytes = ByteBuffer(capacity: 4096)

    init(_ stretch: DamagedStretch, _ catalog: LogCatalog) {
        var encoder = FrameEncoder(seed: catalog.identity.seed, acceleration: 1)
        let whole = stretch.chainAfter == nil ? nil : Int(stretch.end - stretch.start.offset)
        let payload = ByteBuffer(capacity: 4096)
        var chain = stretch.chainBefore
        var sequence = stretch.lost.first
        var records = stretch.lost.count
        repeat {
            let left = whole.map { $0 - bytes.count } ?? 0
            // Each piece is as large as a frame may be, but leaves enough room for another.
            let piece =
                whole == nil ? 0 : left <= HoleEncoder.pieceLimit ? left : min(HoleEncoder.pieceLimit, left - 128)
            let isLast = piece == left
            let hole = HolePayload(chainAfter: isLast ? stretch.chainAfter : nil, recordCount: records)
            payload.truncate(to: 0)
            hole.encode(into: payload, length: whole == nil ? nil : piece - Format.frameOverhead)
            var frame = FrameHeader(kind: .hole, firstSequence: sequence)
            frame.chain = chain
            chain = encoder.encode(frame, payload: payload.bytes, compressed: false, into: bytes).checksum
            sequence = sequence.advanced(by: records)
            records = 0
        } while whole.map { bytes.count < $0 } ?? false
    }

    static let pieceLimit = 1 << 19

    /// Returns whether a hole fits into the stretch.
    static func fits(_ stretch: DamagedStretch) -> Bool {
        let hole = HolePayload(chainAfter: stretch.chainAfter, recordCount: stretch.lost.count)
        return stretch.chainAfter == nil
            || stretch.end - stretch.start.offset >= UInt64(Format.frameOverhead + hole.length)
    }
}
