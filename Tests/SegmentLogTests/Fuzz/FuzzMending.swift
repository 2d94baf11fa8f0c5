// Corrects the checksums of arbitrary bytes, so that the fuzzer's inputs reach the code that checksums protect, and
// provides valid initial inputs.

#if !FUZZING
    import SegmentLog
#endif

enum FuzzMending {
    /// Makes the first 512 bytes a valid header; the identity is 00 01 … 0f.
    static func mendHeader(_ file: inout [UInt8], magic: [UInt8], number: UInt64, ordinal: UInt64) {
        if file.count < 512 { file += [UInt8](repeating: 0, count: 512 - file.count) }
        file.replaceSubrange(0..<8, with: magic)
        file.put(1, 4, at: 8)
        file.put(512, 4, at: 12)
        file.replaceSubrange(16..<32, with: FuzzTarget.identity)
        file.put(number, 8, at: 32)
        file.put(ordinal, 8, at: 40)
        file.put(0, 8, at: 56)
        for index in 96..<508 { file[index] = 0 }
        file.put(secondCRC(file[..<508]), 4, at: 508)
    }

    /// Makes each stretch, by its length field, a frame with valid checksums.
    static func mendFrames(_ file: inout [UInt8], mendsChain: Bool) {
        let seed = secondCRC(file[16..<32])
        var at = 512
        var chain = file.number(72, 4)
        while at + 48 <= file.count, file[at] != 0 {
            if mendsChain { file.put(chain, 4, at: at + 36) }
            let length = mendFrame(&file, at: at, seed: seed)
            guard length <= file.count - at else { return }
            chain = file[at + 30] == 9 && file[at + 40] == 1 ? file.number(at + 41, 4) : file.number(at + 4, 4)
            at += length
        }
    }

    @discardableResult
    static func mendFrame(_ file: inout [UInt8], at offset: Int, seed: UInt32) -> Int {
        let stored = Int(file.number(offset + 8, 4))
        let length = (40 + stored + 7) / 8 * 8 + 8
        if length <= file.count - offset {
            file.put(secondCRC(file[offset + 40..<offset + 40 + stored]), 4, at: offset + 32)
            for index in offset + 40 + stored..<offset + length - 8 { file[index] = 0 }
            file.replaceSubrange(offset + length - 8..<offset + length - 4, with: [0x45, 0x4E, 0x44, 0xD7])
            file.put(length, 4, at: offset + length - 4)
        }
        file.replaceSubrange(offset..<offset + 4, with: [0xD7, 0x46, 0x52, 0x4D])
        file.put(secondCRC(file[offset + 8..<offset + 40], seed), 4, at: offset + 4)
        return length
    }
}

extension FuzzTarget {
    /// Valid initial inputs.
    var seeds: [[UInt8]] {
        switch self {
        case .segment: FuzzTarget.segments.map { [0] + $0 } + FuzzTarget.segments.prefix(2).map { [1] + $0 }
        case .frame: FuzzTarget.segments.flatMap(FuzzTarget.frames)
        case .head: FuzzTarget.heads.map { [0] + $0 }
        case .checkpoint: FuzzTarget.checkpoints.map { [0] + $0 }
        case .lz4:
            FuzzTarget.frames(FuzzTarget.segments[0]).map { [200, 0, 16] + FuzzTarget.identity + $0.dropFirst(40) }
        case .structured:
            (0..<64 as Range<UInt64>).map { seed in
                var random = SeededRandom(seed: seed)
                return (0..<40).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            }
        }
    }

    /// Inputs that once failed.
    var found: [[UInt8]] {
        switch self {
        case .structured:
            // A copy of a frame after damage hid the loss of records.
            [
                [
                    157, 161, 109, 111, 119, 163, 100, 234, 118, 42, 96, 29, 75, 83, 65, 120, 238, 20, 3, 233, 39, 3,
                    246, 229, 62, 86, 22, 26, 181, 46, 246, 6, 159, 0, 90, 247, 175, 186, 186, 153,
                ],
                // A transaction without an end whose payload is invalid: it is truncated, not read.
                [
                    203, 43, 202, 130, 108, 182, 5, 121, 131, 108, 182, 41, 5, 121, 131, 218, 204, 101, 176, 211,
                    171, 1, 218, 67, 255, 255, 200, 224, 125, 57, 204, 101, 176, 70,
                ],
            ]
        default: []
        }
    }

    private static let storages = (40..<46 as Range<UInt64>).map { seed in
        (try? RandomLog.make(seed: seed, batches: 8, hasLarge: false)) ?? MemoryStorage()
    }

    private static var segments: [[UInt8]] {
        storages.flatMap { storage in
            storage.allNames().files.filter { $0.hasSuffix(".seg") }.compactMap(storage.contents)
        }.filter { $0.count < 20_000 }
    }

    private static var heads: [[UInt8]] { storages.compactMap { $0.contents(of: "HEAD") } }

    private static func frames(_ file: [UInt8]) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var at = 512
        while let frame = SecondFrame(file, at: at, seed: secondCRC(file[16..<32])), at + frame.length <= file.count {
            frames.append(Array(file[at..<at + frame.length]))
            at += frame.length
        }
        return frames
    }

    private static var checkpoints: [[UInt8]] {
        guard let storage = storages.first?.copy(),
            let writer = try? LogWriter.open(storage, creating: .never, clock: StillClock())
        else { return [] }
        while writer.lastSequence.rawValue < 7 { _ = try? writer.append(RecordBatch([1])) }
        do {
            var checkpoint = try CheckpointWriter.begin(for: writer, through: .init(rawValue: 7), clock: StillClock())
            for length in [0, 10, 300, 5000] {
                _ = try [UInt8](repeating: 0x2E, count: length).withUnsafeBytes { try checkpoint.append($0) }
            }
            try checkpoint.finish(note: [1, 2, 3])
        } catch {
            return []
        }
        return [storage.contents(of: "0000000000000007.checkpoint") ?? []]
    }
}
