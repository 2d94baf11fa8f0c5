// The frames of a checkpoint in order, with what does not verify in place of them.

extension LogInspection {
    /// Visits each frame of a checkpoint with its offset and its length. The header is nil for bytes from which no frame
    /// verifies up to the next one that does. Ends if `visit` returns false.
    package func frames(
        ofCheckpoint through: SequenceNumber, seed: UInt32, _ visit: (UInt64, UInt64, FrameHeader?) throws -> Bool
    ) throws {
        let name = FileName.checkpoint(through: through)
        let file = try storage.reading(name)
        defer { file.close() }
        let window = FileWindow(file, name: name)
        let size = try callStorage { () throws(StorageError) in try file.size() }
        var walker = FrameWalker(
            window, seed: seed, from: UInt64(Format.segmentHeaderLength),
            expecting: FrameExpectation(chain: 0, sequence: through.next))
        while walker.offset < size {
            let start = walker.offset
            if case .frame(let header, _) = try walker.next() {
                guard try visit(start, walker.offset - start, header) else { return }
                continue
            }
            let next = try walker.search(from: start + 8)?.offset ?? size
            guard try visit(start, next - start, nil) else { return }
            walker.move(to: next, expecting: FrameExpectation(chain: nil, sequence: through.next))
        }
    }
}
