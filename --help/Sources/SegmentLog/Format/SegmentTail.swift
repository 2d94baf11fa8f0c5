// The end of a segment and the contents of its future footer. A writer appends after it, a scan computes it, and a
// failed write returns to it.

package struct SegmentTail: Hashable, Sendable {
    package var offset = UInt64(Format.segmentHeaderLength)
    /// The last frame's header checksum.
    package var chain: UInt32
    /// The next record.
    package var next: SequenceNumber
    package var firstTime = WallTime(rawValue: 0)
    /// The last record's time; if there is none yet, the earliest time the next record may have.
    package var lastTime: WallTime
    package var recordCount: UInt64 = 0
    package var frameCount: UInt64 = 0
    package var headerSum: UInt32 = 0
    package var entries: [IndexEntry] = []

    /// The number of bytes between two entries of the index.
    private static let indexStride: UInt64 = 32_768

    package init(after header: SegmentHeader) {
        chain = header.previousChain
        next = header.sequence
        // Nothing precedes the first segment.
        lastTime = header.ordinal > 1 ? header.created : WallTime(rawValue: 0)
    }

    /// Returns whether the index needs the time of a frame at this position.
    package func wantsEntry(for header: FrameHeader) -> Bool {
        header.knownKind == .data && header.flags.isDisjoint(with: .continuesFromPrevious)
            && (entries.last.map { offset >= $0.offset + SegmentTail.indexStride } ?? true)
    }

    /// Steps over a frame. `time` is that of a data frame, and is needed if the index needs an entry.
    package mutating func step(over header: FrameHeader, time: WallTime?, hole: HolePayload? = nil) {
        if let time {
            if wantsEntry(for: header) {
let start = Breakage.indexEntryOff.isActive ? offset + UInt64(header.frameLength) : offset
entries.append(IndexEntry(offset: start, sequence: header.firstSequence, time: time))
            }
            if recordCount == 0 { firstTime = time }
            lastTime = recordCount == 0 ? time : max(lastTime, time)
        }
        offset += UInt64(header.frameLength)
        chain = hole?.chainAfter ?? header.checksum
        let records = hole?.recordCount ?? UInt64(header.recordCount)
        next = header.firstSequence.advanced(by: records)
        recordCount += UInt64(header.recordCount)
        frameCount += 1
        headerSum = crc32c(of: header.checksum, continuing: headerSum)
    }

    /// Steps over a filler, which the index does not count.
    mutating func pass(over filler: FrameHeader) {
        offset += UInt64(filler.frameLength)
        chain = filler.checksum
    }

    package var expectation: FrameExpectation { FrameExpectation(chain: chain, sequence: next) }
}
