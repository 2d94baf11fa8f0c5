// Walks a whole segment and steps over damage: passes intact frames to the visitor, and reports where each damaged
// stretch begins and ends and which records it affects. Used by verification, salvage and healing.

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

package struct DamageWalk {
    package let storage: any LogStorage
    package let catalog: LogCatalog

    package init(_ storage: any LogStorage, _ catalog: LogCatalog) {
        self.storage = storage
        self.catalog = catalog
    }

    /// An intact frame; its stored bytes are valid only during the call.
    package struct Visit {
        package var header: FrameHeader
        package var offset: UInt64
        package var stored: UnsafeRawBufferPointer
    }

    /// Walks one segment through `end`; calls `visit` with intact frames and `damage` with the stretches between
    /// them. `expected` is the record the segment should begin with, if its predecessor shows that.
    package func walk(
        _ segment: LogCatalog.Segment, through end: UInt64, before successor: SegmentHeader?,
        visit: (Visit) throws(LogError) -> Void, damage: (DamagedStretch) throws(LogError) -> Void
    ) throws(LogError) {
        let window = FileWindow(try storage.reading(segment.name), name: segment.name, limit: end)
        defer { window.file.close() }
        let seed = catalog.identity.seed
        var expected = FrameExpectation(chain: segment.header?.previousChain, sequence: segment.first)
        // Where the open transaction began: damage within it affects all of it.
        var whole = (
            offset: UInt64(Format.segmentHeaderLength), sequence: segment.first,
            chain: segment.header?.previousChain ?? 0
        )
        var walker = FrameWalker(window, seed: seed, from: whole.offset, expecting: expected)
        let place = catalog.segments.firstIndex { $0.name == segment.name }
        while true {
            switch try walker.next() {
            case .frame(let header, let offset):
                if let place { ReadingWatch.tell(walker.offset, in: place, of: catalog.segments) }
                try visit(Visit(header: header, offset: offset, stored: try walker.stored(header, at: offset)))
                expected = walker.expected
                if !expected.inTransaction {
                    whole = (walker.offset, expected.sequence ?? whole.sequence, expected.chain ?? 0)
                }
            case .fault(let fault):
                if !expected.inTransaction, try isEnd(walker, end, successor, expected) { return }
                let next = try resume(walker, from: walker.offset + 8, expecting: whole.sequence)
                let lostEnd = next?.header.firstSequence ?? successor?.sequence ?? whole.sequence.next
                let lost = SequenceRange(first: whole.sequence, last: lostEnd.previous)
                try damage(
                    DamagedStretch(
                        segment: segment.name, start: LogPosition(segment: segment.ordinal, offset: whole.offset),
                        end: next?.offset ?? end,
                        lost: lost, fault: fault, chainBefore: whole.chain,
                        chainAfter: next?.header.chain ?? successor?.previousChain))
                guard let next else { return }
                expected = FrameExpectation(chain: nil, sequence: next.header.firstSequence)
                whole = (next.offset, next.header.firstSequence, next.header.chain)
                walker.move(to: next.offset, expecting: expected)
            }
        }
    }

    /// Returns whether the walk has reached the end without a loss: the given end, or the empty space after the last
    /// frame.
    private func isEnd(
        _ walker: FrameWalker, _ end: UInt64, _ successor: SegmentHeader?, _ expected: FrameExpectation
    ) throws(LogError) -> Bool {
        if walker.offset >= end { return true }
        guard successor == nil, (catalog.head?.durableThrough ?? .none) < expected.sequence ?? .first else {
            return false
        }
        return try walker.onlyZeros(from: walker.offset)
    }

    /// Returns the next intact frame that begins a transaction or stands outside of one. A frame with an earlier
    /// record than the missing one is a copy from elsewhere; continuing after it would hide the loss.
    private func resume(
        _ walker: FrameWalker, from start: UInt64, expecting sequence: SequenceNumber
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
