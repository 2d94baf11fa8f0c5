// Recognises the frames of a log if HEAD and all headers of its segments are lost. A frame's checksum depends on the
// log's identity only through the seed, and a CRC can be run backwards: any frame that is otherwise intact gives the
// seed, and all other frames must agree with it.

/// The identity of a log in which no file states it.
enum LostIdentity {
    /// How many headers of a file are tried. Any file could be made that has many.
    private static let attempts = 1000

    /// Returns an identity with which the frames verify; nil if nothing can be recognised. It is the log's own if a
    /// checkpoint states it. A file that can't be read is skipped; its error is thrown only if no other file helps.
    static func find(
        _ storage: any LogStorage, _ segments: [LogCatalog.Segment], _ checkpoints: [SequenceNumber]
    ) throws(LogError) -> LogIdentity? {
        var failure: LogError?
        func skippingUnreadable<Found>(_ body: () throws(LogError) -> Found?) -> Found? {
            do throws(LogError) {
                return try body()
            } catch {
                failure = failure ?? error
                return nil
            }
        }
        let known = checkpoints.reversed().compactMap { through in
            skippingUnreadable { () throws(LogError) in try stated(storage, FileName.checkpoint(through: through)) }
        }
        var votes: [UInt32: Int] = [:]
        var best: UInt32?
        for segment in segments {
            let found = skippingUnreadable { () throws(LogError) in try seed(of: segment.name, in: storage) }
            guard let seed = found else { continue }
            votes[seed, default: 0] += 1
            if best.map({ votes[seed, default: 0] > votes[$0, default: 0] }) ?? true { best = seed }
        }
        if let best { return known.first { $0.seed == best } ?? LogIdentity(seed: best) }
        if known.isEmpty, let failure { throw failure }
        return known.first
    }

    /// The identity in the header of a checkpoint.
    private static func stated(_ storage: any LogStorage, _ name: String) throws(LogError) -> LogIdentity? {
        let window = FileWindow(try storage.reading(name), name: name, capacity: Format.segmentHeaderLength)
        defer { window.file.close() }
        let bytes = try window.bytes(at: 0, Format.segmentHeaderLength)
        return (try? SegmentHeader(bytes, role: .checkpoint))?.identity
    }

    /// The seed of the first frame in a file that is intact with it.
    private static func seed(of name: String, in storage: any LogStorage) throws(LogError) -> UInt32? {
        let window = FileWindow(try storage.reading(name), name: name)
        defer { window.file.close() }
        var offset: UInt64 = 0
        for _ in 0..<attempts {
            guard let (place, seed) = try window.firstFrame(from: offset, { FrameHeader.seed(of: $0) }) else { break }
            if try isFrame(at: place, window, seed) { return seed }
            offset = place + 8
        }
        return nil
    }

    private static func isFrame(at offset: UInt64, _ window: FileWindow, _ seed: UInt32) throws(LogError) -> Bool {
        let any = FrameExpectation(chain: nil, sequence: nil)
        let start = try window.bytes(at: offset, Format.frameOverhead)
        guard case .success(let header) = FrameCheck.header(start, seed: seed, expecting: any) else { return false }
        return FrameCheck.body(try window.bytes(at: offset, header.frameLength), of: header) == nil
    }
}
