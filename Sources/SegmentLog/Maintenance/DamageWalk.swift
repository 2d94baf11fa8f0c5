// Walks a whole segment and steps over damage: returns each intact frame, and where each damaged stretch begins and ends
// and which records it affects. Used by verification, salvage, healing and listings.

/// A stretch of a segment without intact frames, and what follows it.
package struct DamagedStretch: Hashable, Sendable {
    package var segment: String
    package var start: LogPosition
    package var end: UInt64
    /// The lost records; the stretch begins with the transaction of the first one.
    package var lost: SequenceRange
    package var fault: FrameFault
    /// The header checksum of the frame before the stretch.
    package var chainBefore: UInt32
    /// The chain value of the frame after the stretch; nil if none follows.
    package var chainAfter: UInt32?
    /// Whether no record is lost with it.
    package var isDerived: Bool { lost.isEmpty }

    /// The damage as a report describes it.
    package var damage: LogDamage {
        LogDamage(
            file: segment, position: start, length: .bytes(end - min(end, start.offset)),
            records: lost.isEmpty ? nil : lost, reason: fault.reason,
            remedy: fault.isNewer ? .upgrade : isDerived ? .rebuild : .salvage)
    }
}

/// A walk through one segment.
package struct DamageWalk: ~Copyable {
    /// An intact frame; its stored bytes are valid until the next step.
    package struct Frame {
        package var header: FrameHeader
        package var offset: UInt64
        package var stored: UnsafeRawBufferPointer
    }

    package enum Step {
        case frame(Frame)
        case damage(DamagedStretch)
    }

    private let catalog: LogCatalog
    private let segment: LogCatalog.Segment
    private let place: Int?
    private let end: UInt64
    private let successor: SegmentHeader?
    private let window: FileWindow
    private var walker: FrameWalker
    private var expected: FrameExpectation
    /// Where the open transaction began: damage within it affects all of it.
    private var whole: (offset: UInt64, sequence: SequenceNumber, chain: UInt32)
    private var isAtEnd = false

    /// Begins a walk through a segment of a catalog, as far as `end`.
    package init(
        _ segment: LogCatalog.Segment, of catalog: LogCatalog, in storage: any LogStorage, through end: UInt64,
        before successor: SegmentHeader?
    ) throws(LogError) {
        self.catalog = catalog
        self.segment = segment
        self.end = end
        self.successor = successor
        window = FileWindow(try storage.reading(segment.name), name: segment.name, limit: end)
        place = catalog.segments.firstIndex { $0.name == segment.name }
        let chain = segment.header?.previousChain
        expected = FrameExpectation(chain: chain, sequence: segment.first)
        whole = (UInt64(Format.segmentHeaderLength), segment.first, chain ?? 0)
        walker = FrameWalker(window, seed: catalog.identity.seed, from: whole.offset, expecting: expected)
    }

    deinit { window.file.close() }

    /// Returns the next intact frame or damaged stretch; nil at the end.
    package mutating func next() throws(LogError) -> Step? {
        if isAtEnd { return nil }
        switch try walker.next() {
        case .frame(let header, let offset):
            if let place { ReadingWatch.tell(walker.offset, in: place, of: catalog.segments) }
            let frame = Frame(header: header, offset: offset, stored: try walker.stored(header, at: offset))
            expected = walker.expected
            if !expected.inTransaction {
                whole = (walker.offset, expected.sequence ?? whole.sequence, expected.chain ?? 0)
            }
            return .frame(frame)
        case .fault(let fault):
            isAtEnd = try isEnd()
            return isAtEnd ? nil : .damage(try stepOver(fault))
        }
    }

    /// Returns the stretch that begins with a fault, and moves to the frame after it.
    private mutating func stepOver(_ fault: FrameFault) throws(LogError) -> DamagedStretch {
        let next = try resume(from: walker.offset + 8, expecting: whole.sequence)
        let lostEnd = next?.header.firstSequence ?? successor?.sequence ?? whole.sequence.next
        let stretch = DamagedStretch(
            segment: segment.name, start: LogPosition(segment: segment.ordinal, offset: whole.offset),
            end: next?.offset ?? end, lost: SequenceRange(first: whole.sequence, last: lostEnd.previous),
            fault: fault, chainBefore: whole.chain, chainAfter: next?.header.chain ?? successor?.previousChain)
        if let next {
            expected = FrameExpectation(chain: nil, sequence: next.header.firstSequence)
            whole = (next.offset, next.header.firstSequence, next.header.chain)
            walker.move(to: next.offset, expecting: expected)
        } else {
            isAtEnd = true
        }
        return stretch
    }

    /// Returns whether the walk has reached the end without a loss: the given end, or the empty space after the last
    /// frame.
    private func isEnd() throws(LogError) -> Bool {
        if expected.inTransaction { return false }
        if walker.offset >= end { return true }
        guard successor == nil, (catalog.head?.durableThrough ?? .none) < expected.sequence ?? .first else {
            return false
        }
        return try walker.onlyZeros(from: walker.offset)
    }

    /// Returns the next intact frame that begins a transaction or stands outside of one. A frame with an earlier
    /// record than the missing one is a copy from elsewhere; continuing after it would hide the loss.
    private func resume(
        from start: UInt64, expecting sequence: SequenceNumber
    ) throws(LogError) -> (offset: UInt64, header: FrameHeader)? {
        var offset = start
        while let found = try walker.search(from: offset) {
            let bytes = try walker.window.bytes(at: found.offset, found.header.frameLength)
            if found.header.flags.isDisjoint(with: .continuesFromPrevious), found.header.firstSequence >= sequence,
                case .success = FrameCheck.header(
                    bytes, seed: walker.seed, expecting: FrameExpectation(chain: nil, sequence: nil)),
                FrameCheck.body(bytes, of: found.header) == nil
            {
                return found
            }
            offset = found.offset + 8
        }
        return nil
    }
}
