// Finds where to start reading in a segment, by the footer of a sealed segment. If the footer can't be read, the
// segment is scanned from its start.

package struct SegmentIndex {
    package var seal: SealPayload
    package var index: IndexPayload

    /// Reads the footer of a sealed file from its end; nil if there is no valid one.
    package init?(_ window: FileWindow, seed: UInt32, end: UInt64) throws(LogError) {
        guard end >= UInt64(Format.segmentHeaderLength + Format.sealFrameLength) else { return nil }
        let sealOffset = end - UInt64(Format.sealFrameLength)
        guard let seal = try SegmentIndex.read(window, seed, sealOffset, .seal, SealPayload.init),
            seal.indexOffset < sealOffset,
            let index = try SegmentIndex.read(window, seed, seal.indexOffset, .index, IndexPayload.init)
        else { return nil }
        self.seal = seal
        self.index = index
    }

    private static func read<Payload>(
        _ window: FileWindow, _ seed: UInt32, _ offset: UInt64, _ kind: FrameKind,
        _ parse: (UnsafeRawBufferPointer) -> Payload?
    ) throws(LogError) -> Payload? {
        var walker = FrameWalker(
            window, seed: seed, from: offset, expecting: FrameExpectation(chain: nil, sequence: nil))
        guard case .frame(let header, _) = try walker.next(), header.knownKind == kind else { return nil }
        let decoder = PayloadDecoder()
        return decoder.payload(of: header, stored: try walker.stored(header, at: offset)).flatMap(parse)
    }

    /// Returns the last start position at or before a record.
    package func start(for sequence: SequenceNumber) -> IndexEntry? {
        index.entries.last { $0.sequence <= sequence }
    }

    /// Returns the last start position before anything as new as `time`.
    package func start(for time: WallTime) -> IndexEntry? {
        index.entries.last { $0.time < time }
    }
}
