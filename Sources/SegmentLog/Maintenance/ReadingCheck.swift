// Finds what stands in whole frames and can't be read all the same: records that need a dictionary which is damaged, an
// index that says something else than the frames before it. A transaction is one piece: all of it reads, or none.

struct ReadingCheck {
    private let segment: LogCatalog.Segment
    private var decoder = PayloadDecoder()
    /// What the index must say; nil behind damage and holes, where it can't be told.
    private var tail: SegmentTail?
    private let fragments = ByteBuffer(capacity: 64)
    /// Where the transaction in hand begins.
    private var start: (offset: UInt64, header: FrameHeader)?
    private var isReadable = true

    init(_ segment: LogCatalog.Segment) {
        self.segment = segment
        tail = segment.header.map(SegmentTail.init(after:))
    }

    /// Steps over a frame; gives the transaction that ends with it if that can't be read.
    mutating func step(_ found: DamageWalk.Visit) -> DamagedStretch? {
        let header = found.header
        let first = start ?? (found.offset, header)
        start = first
        if !reads(found) { isReadable = false }
        let time = header.knownKind == .data ? decoder.time(of: header, stored: found.stored) : nil
        if header.knownKind == .hole { tail = nil }
        tail?.step(over: header, time: time)
        guard header.flags.isDisjoint(with: .continuesInNext) else { return nil }
        defer { startAnew() }
        guard !isReadable else { return nil }
        let behind = header.firstSequence.advanced(by: UInt64(header.recordCount))
        let lost = SequenceRange(first: first.header.firstSequence, last: behind.previous)
        return DamagedStretch(
            segment: segment.name, start: LogPosition(segment: segment.ordinal, offset: first.offset),
            end: found.offset + UInt64(header.frameLength), lost: lost, fault: .unreadable,
            chainBefore: first.header.chain, chainAfter: header.checksum,
            isDerived: lost.isEmpty && header.knownKind != .dictionary)
    }

    /// Damage takes the transaction in hand with it.
    mutating func stepOverDamage() {
        tail = nil
        startAnew()
    }

    private mutating func startAnew() {
        start = nil
        isReadable = true
        fragments.truncate(to: 0)
    }

    private mutating func reads(_ found: DamageWalk.Visit) -> Bool {
        guard let kind = found.header.knownKind, kind != .hole else { return true }
        guard let payload = decoder.payload(of: found.header, stored: found.stored) else { return false }
        switch kind {
        case .dictionary:
            guard UInt32(payload.count) == segment.header?.dictionaryLength,
                crc32c(payload) == segment.header?.dictionaryChecksum
            else { return false }
            decoder.dictionary = [UInt8](payload)
            return true
        case .fragment:
            guard fragments.count + payload.count <= Format.recordLimit + Format.frameRawLimit else { return false }
            fragments.append(payload)
            return true
        case .data:
            guard payload.count >= 8 else { return false }
            fragments.append(payload.slice(8, payload.count - 8))
            defer { fragments.truncate(to: 0) }
            return RecordWire.holds(fragments.bytes, count: Int(found.header.recordCount))
        case .index:
            guard let index = IndexPayload(payload) else { return false }
            return tail.map(index.matches) ?? true
        default:
            return true
        }
    }
}
