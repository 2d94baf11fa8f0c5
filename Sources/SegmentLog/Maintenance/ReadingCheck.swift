// Finds intact frames whose contents can't be read: records that do not decode, or an index that disagrees with the
// frames before it. A transaction can be read completely or not at all.

struct ReadingCheck {
    private let segment: LogCatalog.Segment
    private let decoder = PayloadDecoder()
    /// What the index must say; nil after damage and holes, because then it is not known.
    private var tail: SegmentTail?
    private var assembler = RecordAssembler()
    /// Where the current transaction begins.
    private var start: (offset: UInt64, header: FrameHeader)?
    /// The first thing wrong with it.
    private var fault: FrameFault?

    init(_ segment: LogCatalog.Segment) {
        self.segment = segment
        tail = segment.header.map(SegmentTail.init(after:))
    }

    /// Steps over a frame. If that ends a transaction that can't be read, returns the transaction.
    mutating func step(_ found: DamageWalk.Frame) -> DamagedStretch? {
        let header = found.header
        let first = start ?? (found.offset, header)
        start = first
        fault = fault ?? self.fault(of: found)
        let time = header.knownKind == .data ? decoder.time(of: header, stored: found.stored) : nil
        if header.knownKind == .hole { tail = nil }
        tail?.step(over: header, time: time)
        guard header.flags.isDisjoint(with: .continuesInNext) else { return nil }
        defer { reset() }
        guard let fault else { return nil }
        let lost = SequenceRange(first: first.header.firstSequence, last: header.nextSequence.previous)
        return DamagedStretch(
            segment: segment.name, start: LogPosition(segment: segment.ordinal, offset: first.offset),
            end: found.offset + UInt64(header.frameLength), lost: lost, fault: fault,
            chainBefore: first.header.chain, chainAfter: header.checksum)
    }

    /// Discards the current transaction, which the damage affects.
    mutating func stepOverDamage() {
        tail = nil
        reset()
    }

    private mutating func reset() {
        start = nil
        fault = nil
        assembler.reset()
    }

    /// Returns why an intact frame can't be read, or nil if it can.
    private mutating func fault(of found: DamageWalk.Frame) -> FrameFault? {
        guard let kind = found.header.knownKind, kind != .hole else { return nil }
        let payload = decoder.payload(of: found.header, stored: found.stored)
        switch kind {
        case .data, .fragment:
            do throws(RecordFault) {
                _ = try assembler.take(found.header, payload)
                return nil
            } catch {
                return .records(error)
            }
        case .index:
            guard let index = payload.flatMap(IndexPayload.init) else { return .unreadable }
            return tail.map(index.matches) ?? true ? nil : .unreadable
        default:
            return payload == nil ? .unreadable : nil
        }
    }
}
