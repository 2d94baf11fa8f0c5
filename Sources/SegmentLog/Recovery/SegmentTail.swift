// Where a segment ends and what its footer will say: the value a writer appends behind, a scan arrives at, and the
// failure protocol goes back to.

package struct SegmentTail: Hashable, Sendable {
    package var offset = UInt64(Format.segmentHeaderLength)
    /// The last frame's header checksum.
    package var chain: UInt32
    /// The next record.
    package var next: SequenceNumber
    package var firstTime = WallTime(rawValue: 0)
    /// Of the last record; where there is none yet, what the next record's time must not fall behind.
    package var lastTime: WallTime
    package var recordCount: UInt64 = 0
    package var frameCount: UInt64 = 0
    package var headerSum: UInt32 = 0
    package var entries: [IndexEntry] = []

    /// Bytes between two places of the index.
    private static let indexStride: UInt64 = 32_768

    package init(after header: SegmentHeader) {
        chain = header.previousChain
        next = header.sequence
        // The first segment has nothing before it.
        lastTime = header.ordinal > 1 ? header.created : WallTime(rawValue: 0)
    }

    /// Whether the index wants the time of a frame that stands here.
    package func wantsEntry(for header: FrameHeader) -> Bool {
        header.knownKind == .data && header.flags.isDisjoint(with: .continuesFromPrevious)
            && (entries.last.map { offset >= $0.offset + SegmentTail.indexStride } ?? true)
    }

    /// Steps over a frame. `time` is that of a data frame; it is needed where the index wants an entry.
    package mutating func step(over header: FrameHeader, time: WallTime?, hole: HolePayload? = nil) {
        if let time {
            if wantsEntry(for: header) {
                entries.append(IndexEntry(offset: offset, sequence: header.firstSequence, time: time))
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

    package var expectation: FrameExpectation { FrameExpectation(chain: chain, sequence: next) }
}
