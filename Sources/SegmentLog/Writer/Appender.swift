// Owns the current segment: packs batches into frames, writes and syncs them, and tracks what is durable. It is used
// by one thread at a time (`LogWriter` holds the lock). Rolling and disk errors are handled in files of their own.
// Every commit ends in one of three ways: stored as requested, refused with nothing stored, or refused because the
// writer has stopped for good.

import SynclineGround

package final class Appender {
    let storage: any LogStorage
    let configuration: LogConfiguration
    let clock: any LogClock
    let head: HeadFile
    let lock: any FileLock

    // Unchecked: one thread at a time runs here, and no call passes these out. The checks took a tenth of a small
    // commit.
    @exclusivity(unchecked) var header: SegmentHeader
    @exclusivity(unchecked) var file: any WritableFile
    /// The position after the last complete frame written.
    @exclusivity(unchecked) var tail: SegmentTail
    /// The tail at the last successful sync.
    @exclusivity(unchecked) var synced: SegmentTail
    /// The file is zero from the tail to here.
    @exclusivity(unchecked) var zeroedTo: UInt64
    /// Whether the segment was sealed and its successor could not be created yet.
    @exclusivity(unchecked) var isSealed: Bool
    /// Written with the next frames.
    @exclusivity(unchecked) var session: SessionPayload?
    /// Whether records were truncated since the epoch was raised.
    @exclusivity(unchecked) var mustRaiseEpoch = false
    /// Why the writer accepts nothing more.
    @exclusivity(unchecked) var failure: LogError?
    /// The user's note for the next footer.
    var note: LogNote?
    @exclusivity(unchecked) package var statistics = WriterStatistics()
    /// Whether commits with durability `ordered` wait for a sync.
    @exclusivity(unchecked) var hasOrderedCommits = false

    @exclusivity(unchecked) var encoder: FrameEncoder
    /// The frames since the last sync, as written; after a failed sync they are written to another segment.
    let unsynced = ByteBuffer(capacity: 1 << 16)
    /// How many of those bytes are in the file.
    @exclusivity(unchecked) var written = 0
    /// Whether bytes of a refused batch were truncated, so that a crash may bring them back until the next sync.
    @exclusivity(unchecked) var isCutUnsynced = false
    /// False while a batch too large to keep is written piece by piece.
    @exclusivity(unchecked) var keepsUnsynced = true
    /// Whether nothing was waiting when the current group began, so that it may be written that way.
    @exclusivity(unchecked) private var mayStream = false
    let payload = ByteBuffer(capacity: Format.frameTarget + 16)

    /// The maximum number of bytes waiting for a sync.
    static let unsyncedLimit = 1 << 20

    package init(
        _ recovered: Recovery.Outcome, storage: any LogStorage, configuration: LogConfiguration,
        clock: any LogClock, lock: any FileLock
    ) throws(LogError) {
        self.storage = storage
        self.configuration = configuration
        self.clock = clock
        self.lock = lock
        head = recovered.head
        header = recovered.header
        file = recovered.file
        tail = recovered.tail
        synced = recovered.tail
        zeroedTo = recovered.zeroedTo
        isSealed = recovered.isSealed
        session = recovered.session
        encoder = FrameEncoder(seed: header.identity.seed, acceleration: Int32(configuration.acceleration))
        if isSealed {
            try beginSegment()
        }
        if recovered.session.cut != nil {
            try appendSession()
        }
    }

    var durableThrough: SequenceNumber { synced.next.previous }

    // MARK: Appending

    /// One batch of a group, and its durability.
    package struct Commit {
        package var batch: RecordBatch
        package var durability: Durability
    }

    /// Appends batches in order, with at most one data sync for all of them; a roll adds its own.
    package func append(_ group: some Collection<Commit>) -> [Result<SequenceRange, LogError>] {
        do throws(LogError) {
            return try store(group).map { .success($0) }
        } catch {
            return group.map { _ in .failure(error) }
        }
    }

    /// Appends one batch.
    package func append(_ commit: Commit) -> Result<SequenceRange, LogError> {
        do throws(LogError) {
            return .success(try store(CollectionOfOne(commit))[0])
        } catch {
            return .failure(error)
        }
    }

    private func store(_ group: some Collection<Commit>) throws(LogError) -> [SequenceRange] {
        try checkUsable()
        let size = group.reduce(0) { $0 + $1.batch.wire.count }
        if unsynced.count > 0 && unsynced.count + size > Appender.unsyncedLimit { try sync() }
        if isSealed { try beginSegment() }
        if tail.offset > UInt64(Format.segmentHeaderLength) && tail.recordCount > 0
            && tail.offset + UInt64(size / 2) >= configuration.segmentSize.rawValue
        {
            try roll()
        }
        let start = (tail: tail, unsynced: unsynced.count)
        mayStream = unsynced.count == 0
        if let session {
            encodeControl(.session) { session.encode(into: $0) }
        }
        var ranges: [SequenceRange] = []
        do throws(StorageError) {
            ranges = try encode(group)
            try writeOut(zeroingAhead: size <= Int(configuration.zeroAhead.rawValue) / 4)
        } catch {
            throw cutBack(to: start.tail, unsynced: start.unsynced, after: error)
        }
        session = nil
        statistics.batches += UInt64(group.count)
        statistics.records += UInt64(group.reduce(0) { $0 + $1.batch.count })
        if group.contains(where: { $0.durability == .durable }) || !keepsUnsynced {
            try sync()
        } else {
            try barrierIfOrdered(group)
        }
        return ranges
    }

    /// Schedules the writer's idle sync; on Apple platforms a barrier keeps the order until then.
    private func barrierIfOrdered(_ group: some Collection<Commit>) throws(LogError) {
        guard group.contains(where: { $0.durability == .ordered }) else { return }
        hasOrderedCommits = true
        #if canImport(Darwin)
            do throws(StorageError) { try file.sync(.ordered) } catch { try moveToNewSegment(after: error) }
        #endif
    }

    /// Throws if nothing may be written: the writer has stopped, it belongs to another process, or its files were
    /// replaced.
    package func checkUsable() throws(LogError) {
        if let failure { throw failure }
        guard lock.isOwned else {
            throw LogError(
                .closed, "this process does not own the log: it was forked from the one that does",
                hint: "Open the log again in the new process, after the old one has closed it.")
        }
        try checkInPlace()
        try raiseEpoch()
    }

    /// Once the files were replaced, others may have written, so this refusal is permanent.
    private func checkInPlace() throws(LogError) {
        do throws(StorageError) {
            if try lock.isInPlace() { return }
        } catch {
            throw LogError(error)
        }
        let replaced = LogError.replaced(storage)
        failure = replaced
        throw replaced
    }

    // MARK: Encoding

    /// Packs whole batches into shared frames up to the target size; a larger batch gets frames of its own.
    private func encode(_ group: some Collection<Commit>) throws(StorageError) -> [SequenceRange] {
        let time = max(clock.now(), tail.lastTime)
        var ranges: [SequenceRange] = []
        var packed = PackedFrame()
        startPayload(time)
        for commit in group {
            let batch = commit.batch
            ranges.append(
                SequenceRange(first: tail.next.advanced(by: UInt64(packed.count)), count: UInt64(batch.count)))
            if packed.count + batch.count > Format.frameRecordLimit
                || payload.count + batch.wire.count > Format.frameTarget
            {
                try flush(&packed, time)
            }
            if batch.wire.count + 8 <= Format.frameTarget && batch.count <= Format.frameRecordLimit {
                batch.wire.withUnsafeBytes { payload.append($0) }
                packed.count += batch.count
            } else {
                try encodeLarge(batch, time)
                packed = PackedFrame()
            }
        }
        try flush(&packed, time)
        return ranges
    }

    /// Records waiting in `payload` for their frame.
    struct PackedFrame {
        var count = 0
        var flags: FrameFlags = []
    }

    func startPayload(_ time: WallTime) {
        payload.truncate(to: 0)
        payload.append(time.rawValue)
    }

    func flush(_ packed: inout PackedFrame, _ time: WallTime) throws(StorageError) {
        if packed.count > 0 {
            try emit(.data, count: packed.count, flags: packed.flags, time: time)
        }
        packed = PackedFrame()
        startPayload(time)
    }

    /// Spreads one batch over frames that continue each other.
    private func encodeLarge(_ batch: RecordBatch, _ time: WallTime) throws(StorageError) {
        let wire = batch.wire
        var offset = 0
        var packed = PackedFrame()
        try batch.forEach { record throws(StorageError) in
            let whole = varintLength(UInt64(record.count)) + record.count
            if payload.count > 8 && payload.count + whole > Format.frameTarget
                || packed.count == Format.frameRecordLimit
            {
                packed.flags.insert(.continuesInNext)
                try flush(&packed, time)
                packed.flags = .continuesFromPrevious
            }
            if whole + 8 > Format.frameTarget {
                try emitFragments(wire, offset..<offset + whole, isFirst: offset == 0, time)
                packed.flags = .continuesFromPrevious
            } else {
                wire.withUnsafeBytes { payload.append($0.slice(offset, whole)) }
            }
            packed.count += 1
            offset += whole
        }
        try flush(&packed, time)
    }

    /// Writes a record too large for one frame as fragments first; the rest of it stays in `payload` as the data
    /// frame's first record.
    private func emitFragments(
        _ wire: [UInt8], _ range: Range<Int>, isFirst: Bool, _ time: WallTime
    ) throws(StorageError) {
        var offset = range.lowerBound
        var flags: FrameFlags = isFirst ? [.continuesInNext] : [.continuesInNext, .continuesFromPrevious]
        while range.upperBound - offset > Format.frameTarget - 8 {
            let length = min(Format.frameTarget, range.upperBound - offset)
            payload.truncate(to: 0)
            wire.withUnsafeBytes { payload.append($0.slice(offset, length)) }
            try emit(.fragment, count: 0, flags: flags, time: nil)
            offset += length
            flags = [.continuesInNext, .continuesFromPrevious]
        }
        startPayload(time)
        wire.withUnsafeBytes { payload.append($0.slice(offset, range.upperBound - offset)) }
    }

    /// Encodes `payload`; a batch too large to keep is written to the file piece by piece.
    private func emit(_ kind: FrameKind, count: Int, flags: FrameFlags, time: WallTime?) throws(StorageError) {
        var frame = FrameHeader(kind: kind, firstSequence: tail.next)
        frame.recordCount = UInt16(count)
        frame.flags = flags
        encode(frame, compressed: configuration.compresses, time: time)
        statistics.frames += 1
        if mayStream && unsynced.count > Appender.unsyncedLimit {
            try writeOut(zeroingAhead: false)
            unsynced.truncate(to: 0)
            written = 0
            keepsUnsynced = false
        }
    }

    func encodeControl(_ kind: FrameKind, _ fill: (ByteBuffer) -> Void) {
        payload.truncate(to: 0)
        fill(payload)
        encode(FrameHeader(kind: kind, firstSequence: tail.next), compressed: configuration.compresses)
        statistics.frames += 1
    }

    /// Encodes `payload` as the next frame.
    func encode(_ frame: FrameHeader, compressed: Bool, time: WallTime? = nil, hole: HolePayload? = nil) {
        var frame = frame
        frame.chain = tail.chain
        let lag = frame.firstSequence.rawValue - 1 - min(durableThrough.rawValue, frame.firstSequence.rawValue - 1)
        frame.durableLag = UInt32(clamping: lag)
        let done = encoder.encode(frame, payload: payload.bytes, compressed: compressed, into: unsynced)
        tail.step(over: done, time: time, hole: hole)
    }

    // MARK: Writing

    /// Writes encoded bytes that are not yet in the file, and zeros ahead of it if little room is left.
    func writeOut(zeroingAhead: Bool) throws(StorageError) {
        let start = tail.offset - UInt64(unsynced.count - written)
        let bytes = unsynced.bytes.slice(written, unsynced.count - written)
        try file.writeFully(bytes, at: start)
        written = unsynced.count
        statistics.bytesWritten += UInt64(bytes.count)
        guard tail.offset > zeroedTo else { return }
        zeroedTo = tail.offset
        if zeroingAhead && configuration.zeroAhead.rawValue > 0 {
            zeroAhead()
        }
    }

    /// Fills the file with zeros after the tail. They are beyond the log's end, so a failure to write them only
    /// makes the next sync slower.
    private func zeroAhead() {
        let end = tail.offset + configuration.zeroAhead.rawValue
        Appender.zeros.withUnsafeBytes { zeros in
            while zeroedTo < end {
                let piece = zeros.slice(0, Int(min(UInt64(zeros.count), end - zeroedTo)))
                guard let count = try? file.write(piece, at: zeroedTo), count > 0 else { return }
                zeroedTo += UInt64(count)
                statistics.bytesWritten += UInt64(count)
            }
        }
    }

    private static let zeros = [UInt8](repeating: 0, count: 1 << 18)

    /// Makes everything appended so far durable.
    package func sync() throws(LogError) {
        if let failure { throw failure }
        guard synced != tail || written > 0 || isCutUnsynced else { return }
        do throws(StorageError) {
            try file.sync(.durable)
            statistics.dataSyncs += 1
        } catch {
            return try moveToNewSegment(after: error)
        }
        markSynced()
    }

    func markSynced() {
        synced = tail
        hasOrderedCommits = false
        isCutUnsynced = false
        unsynced.truncate(to: 0)
        written = 0
        keepsUnsynced = true
    }

    /// Writes the pending session frame at once.
    func appendSession() throws(LogError) {
        let start = (tail: tail, unsynced: unsynced.count)
        guard let session else { return }
        encodeControl(.session) { session.encode(into: $0) }
        do throws(StorageError) {
            try writeOut(zeroingAhead: false)
        } catch {
            throw cutBack(to: start.tail, unsynced: start.unsynced, after: error)
        }
        self.session = nil
        try sync()
    }

    /// Records the durable end in HEAD, as a witness for the last frames. `clean` means that nothing follows.
    package func attest(clean: Bool) throws(LogError) {
        try sync()
        guard head.current.durableThrough != durableThrough || head.current.isClean != clean else { return }
        let through = durableThrough
        try head.write { head in
            head.durableThrough = max(head.durableThrough, through)
            head.isClean = clean
        }
    }
}
