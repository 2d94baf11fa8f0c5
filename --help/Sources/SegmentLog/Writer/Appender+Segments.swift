// Begins, seals and rolls segments. A segment is written completely under a temporary name, synced and renamed, and
// its directory is synced, before anything in it counts; HEAD records it last.

import SynclineGround

extension Appender {
    /// Seals the segment and begins the next.
    func roll() throws(LogError) {
        try seal()
        if isSealed { try beginSegment() }
    }

    /// Ends the segment with its index and seal, truncates it to its length and makes it durable. If the sync fails,
    /// what was not durable continues in a new segment and this one stays unsealed.
    private func seal() throws(LogError) {
        let start = (tail: tail, unsynced: unsynced.count)
        encodeFooter()
        do throws(StorageError) {
            try writeOut(zeroingAhead: false)
if !Breakage.sealedNotCut.isActive { try file.resize(to: tail.offset) }
        } catch {
            throw cutBack(to: start.tail, unsynced: start.unsynced, after: error)
        }
        do throws(StorageError) {
if !Breakage.rollNotSynced.isActive { try file.sync(.durable) }
            statistics.dataSyncs += 1
        } catch {
            tail = start.tail
            unsynced.truncate(to: start.unsynced)
            return try moveToNewSegment(after: error)
        }
        markSynced()
        isSealed = true
        file.close()
    }

    private func encodeFooter() {
        let records = tail
        let index = IndexPayload(
            frameCount: tail.frameCount, headerSum: tail.headerSum, entries: tail.entries, note: note)
        encodeControl(.index) { index.encode(into: $0) }
        let seal = SealPayload(
            indexOffset: records.offset, lastSequence: records.next.previous, recordCount: records.recordCount,
            firstTime: records.firstTime, lastTime: records.recordCount == 0 ? WallTime(rawValue: 0) : records.lastTime)
        payload.truncate(to: 0)
        seal.encode(into: payload)
        // Uncompressed: the frame has a fixed size, so that it can be found from the file's end.
        encode(FrameHeader(kind: .seal, firstSequence: tail.next), compressed: false)
    }

    /// Begins the segment after a sealed one.
    func beginSegment() throws(LogError) {
        try callStorage { () throws(StorageError) in
            try makeSegment(after: tail, frames: nil)
        }
        statistics.rolls += 1
        isSealed = false
        noteSegmentInHead()
    }

    func noteSegmentInHead() {
        let (ordinal, through) = (header.ordinal, durableThrough)
        // An outdated HEAD is safe: the segment is found by its name. A failure is reported when HEAD is needed.
        try? head.write { head in
            head.newestOrdinal = ordinal
            head.durableThrough = through
        }
    }

    /// Makes the next segment's file durable and switches to it. `frames` are complete frames for its beginning,
    /// chained again.
    func makeSegment(after end: SegmentTail, frames: UnsafeMutableRawBufferPointer?) throws(StorageError) {
        var next = SegmentHeader(
            role: .segment, identity: header.identity,
sequence: Breakage.rollSkipsNumber.isActive ? end.next.next : end.next, ordinal: header.ordinal + 1,
            created: max(clock.now(), end.lastTime), epoch: head.current.epoch, durableThrough: durableThrough)
next.previousLength = Breakage.endOffByEight.isActive ? end.offset + 8 : end.offset
next.previousChain = Breakage.chainNotCarried.isActive ? 0 : end.chain
        let content = ByteBuffer(capacity: Format.segmentHeaderLength + (frames?.count ?? 0))
        next.append(to: content)
        var newTail = SegmentTail(after: next)
        newTail.lastTime = end.lastTime
        if let frames { rechain(frames, onto: &newTail, into: content) }
        let name = FileName.segment(ordinal: next.ordinal, first: next.sequence)
        file = try storage.publish(content.bytes, as: name)
        header = next
        tail = newTail
        zeroedTo = newTail.offset
        markSynced()
        statistics.bytesWritten += UInt64(content.count)
    }

    private func rechain(
        _ frames: UnsafeMutableRawBufferPointer, onto newTail: inout SegmentTail, into content: ByteBuffer
    ) {
        let decoder = PayloadDecoder()
        var offset = 0
        while offset < frames.count {
            let frame = UnsafeMutableRawBufferPointer(rebasing: frames[offset...])
            guard let header = try? FrameHeader(UnsafeRawBufferPointer(frame), seed: encoder.seed) else {
                preconditionFailure("a frame in memory has a header that does not verify")
            }
            let moved = encoder.rechain(frame, header, to: newTail.chain)
            let stored = UnsafeRawBufferPointer(frame).slice(Format.frameHeaderLength, Int(header.storedLength))
            newTail.step(over: moved, time: header.knownKind == .data ? decoder.time(of: moved, stored: stored) : nil)
            content.append(UnsafeRawBufferPointer(frame).slice(0, header.frameLength))
            offset += header.frameLength
        }
    }
}
