// Reads the last segment frame by frame and finds where the log ends, whether that end is clean, torn or damaged,
// and from where its frames may never have reached the disk.

import SynclineGround

package struct TailScan {
    /// The position after the last complete transaction.
    package var tail: SegmentTail
    package var verdict: TailVerdict
    package var fault: FrameFault
    /// Frames from here to the tail may exist in memory only: nothing proves that they were synced.
    package var unprovenFrom: UInt64
    package var durableThrough: SequenceNumber
    /// The highest epoch of a writer in this segment.
    package var epoch: UInt32
    package var isSealed: Bool

    /// Frames that nothing proves to be durable yet, oldest first.
    private struct Unproven {
        var frames: [(offset: UInt64, needs: SequenceNumber)] = []
        var first = 0

        mutating func append(_ offset: UInt64, needs: SequenceNumber) {
            frames.append((offset, needs))
        }

        mutating func prove(through number: SequenceNumber) {
            while first < frames.count && frames[first].needs <= number { first += 1 }
            if first > 1024 {
                frames.removeFirst(first)
                first = 0
            }
        }

        var start: UInt64? { first < frames.count ? frames[first].offset : nil }
    }

    package init(_ window: FileWindow, _ header: SegmentHeader, head: Head?) throws(LogError) {
        let seed = header.identity.seed
        let decoder = PayloadDecoder()
        var unproven = Unproven()
        // The positions after the last frame, and after the last one that ended a transaction.
        var reached = SegmentTail(after: header)
        tail = reached
        durableThrough = max(header.durableThrough, head?.durableThrough ?? .none)
        let watermark = durableThrough
        epoch = max(header.epoch, head?.epoch ?? 0)
        isSealed = false
        var walker = FrameWalker(window, seed: seed, from: reached.offset, expecting: reached.expectation)
        scan: while true {
            let step = try walker.next()
            guard case .frame(let frame, let offset) = step else {
                guard case .fault(let fault) = step else { continue }
                self.fault = fault
                break scan
            }
            if isSealed {
                fault = .malformed
                walker.move(to: offset, expecting: reached.expectation)
                break
            }
            let stored = try walker.stored(frame, at: offset)
            var time: WallTime?
            var hole: HolePayload?
            switch frame.knownKind {
            case .data: time = decoder.time(of: frame, stored: stored)
            case .session:
                if let session = decoder.payload(of: frame, stored: stored).flatMap(SessionPayload.init) {
                    epoch = max(epoch, session.epoch)
                }
            case .hole: hole = HolePayload(of: frame, stored)
            case .seal: isSealed = true
            default: break
            }
            durableThrough = max(durableThrough, frame.durableThrough)
            unproven.prove(through: durableThrough)
            reached.step(over: frame, time: time, hole: hole)
            let last = frame.recordCount > 0 ? reached.next.previous : reached.next
            unproven.append(offset, needs: last)
if !frame.flags.contains(.continuesInNext) || Breakage.unfinishedTransactionKept.isActive {
                tail = reached
            }
        }
        unproven.prove(through: durableThrough)
        // A clean close syncs everything before it is recorded.
        unprovenFrom = head?.isClean == true ? tail.offset : min(unproven.start ?? tail.offset, tail.offset)
        let onlyZeros = try walker.onlyZeros(from: reached.offset)
        let facts = TailFacts(
            sequence: tail.next, fault: fault, onlyZerosFollow: onlyZeros,
            showsTearing: onlyZeros ? false : try TailScan.showsTearing(walker, at: reached.offset),
            transactionUnfinished: reached.offset != tail.offset,
            laterWitness: onlyZeros ? .none : try TailScan.witness(walker, from: reached.offset + 8),
            watermark: watermark,
            closedCleanly: head?.isClean ?? false, sealed: isSealed)
        verdict = TailVerdict(facts)
        durableThrough = min(durableThrough, tail.next.previous)
    }

    /// Returns whether the expected frame at `offset` shows an incomplete write.
    private static func showsTearing(_ walker: FrameWalker, at offset: UInt64) throws(LogError) -> Bool {
        let start = try walker.window.bytes(at: offset, Format.frameHeaderLength)
        if start.count < Format.frameHeaderLength { return true }
        guard let header = try? FrameHeader(start, seed: walker.seed), header.storedLength <= Format.frameStoredLimit
        else {
            let least = try walker.window.bytes(at: offset, Format.frameOverhead)
            if least.count < Format.frameOverhead
                || RuleZ.hasZeroPiece(least.slice(0, Format.frameHeaderLength), at: offset)
            {
                return true
            }
            // Every complete frame has a trailer after its header: here the write stopped before it.
            return try walker.onlyZeros(from: offset + UInt64(Format.frameHeaderLength))
        }
        let frame = try walker.window.bytes(at: offset, header.frameLength)
        return frame.count < header.frameLength || RuleZ.hasZeroPiece(frame, at: offset)
            // Four bytes of length and one of magic: no single flipped bit can make them all zero.
            || frame.slice(frame.count - 5, 5).isAllZero
    }

    /// Returns the newest record that a header after the end proves to be durable.
    private static func witness(_ walker: FrameWalker, from start: UInt64) throws(LogError) -> SequenceNumber {
        var newest = SequenceNumber.none
        var offset = start
        while let found = try walker.search(from: offset) {
            newest = max(newest, found.header.durableThrough)
            offset = found.offset + 8
        }
        return newest
    }
}
