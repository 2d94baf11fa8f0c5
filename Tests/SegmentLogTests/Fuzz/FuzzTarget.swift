// Feeds arbitrary bytes to the log: each target takes any bytes, corrects their checksums, and passes them to the
// code. A run must return, with what was wrong if it found something (invariant 14). The same functions serve the
// fuzzer (tools/fuzz) and the test that replays the corpus.

import SynclineGround

#if !FUZZING
    @testable import SegmentLog
#endif

enum FuzzTarget: String, CaseIterable {
    /// A segment, read by a reader, a verification and a recovery.
    case segment
    /// One frame and its payload.
    case frame
    /// HEAD's two slots.
    case head
    /// A checkpoint.
    case checkpoint
    /// An LZ4 block, by three decoders.
    case lz4
    /// A log that is valid but for changes whose checksums are mended, by both decoders of the log.
    case structured

    /// What was wrong; nil if nothing.
    func run(_ bytes: [UInt8]) -> String? {
        switch self {
        case .segment: FuzzTarget.segment(bytes)
        case .frame: FuzzTarget.frame(bytes)
        case .head: FuzzTarget.head(bytes)
        case .checkpoint: FuzzTarget.checkpoint(bytes)
        case .lz4: FuzzTarget.lz4(bytes)
        case .structured: FuzzTarget.structured(bytes)
        }
    }

    static let identity: [UInt8] = (0..<16).map { $0 }

    private static var configuration: LogConfiguration {
        var configuration = LogConfiguration()
        configuration.syncsWhenIdle = false
        configuration.segmentSize = .kibibytes(4)
        configuration.zeroAhead = .kibibytes(4)
        return configuration
    }

    private static func segment(_ bytes: [UInt8]) -> String? {
        guard let choice = bytes.first else { return nil }
        var file = Array(bytes.dropFirst())
        FuzzMending.mendHeader(&file, magic: SecondSegmentHeader.segmentMagic, number: 1, ordinal: 1)
        if choice & 1 == 0 { FuzzMending.mendFrames(&file, mendsChain: choice & 2 == 0) }
        let storage = MemoryStorage()
        storage.setContents(file, of: "00000001-0000000000000001.seg")
        let before = DecodedLog(first: storage)
        // A writer opens it, appends, and leaves an intact log; or refuses, and leaves every byte unchanged.
        guard
            let writer = try? LogWriter.open(
                storage, creating: .never, configuration: configuration, clock: StillClock())
        else {
            let isUntouched = storage.contents(of: "00000001-0000000000000001.seg") == file
            return isUntouched || before.verdict != .damaged ? nil : "a damaged log was changed"
        }
        // Some payloads are only read by readers.
        if before.verdict == .damaged || before.verdict == .newer { return nil }
        guard (try? writer.append(RecordBatch([1, 2, 3]))) != nil, (try? writer.close()) != nil else { return nil }
        let after = DecodedLog(first: storage)
        if after.verdict != .clean { return "after recovery: \(after.reason)" }
        return after.records.dropLast() == before.records[...] ? nil : "recovery changed the records"
    }

    private static func frame(_ bytes: [UInt8]) -> String? {
        var frame = bytes
        if frame.count < 48 { frame += [UInt8](repeating: 0, count: 48 - frame.count) }
        FuzzMending.mendFrame(&frame, at: 0, seed: 0)
        return frame.withUnsafeBytes { bytes in
            let anything = FrameExpectation(chain: nil, sequence: nil)
            guard case .success(let header) = FrameCheck.header(bytes, seed: 0, expecting: anything),
                FrameCheck.body(bytes, of: header) == nil
            else { return nil }
            let decoder = PayloadDecoder()
            let stored = bytes.slice(40, Int(header.storedLength))
            let time = decoder.time(of: header, stored: stored)
            guard let payload = decoder.payload(of: header, stored: stored) else { return nil }
            if payload.count != Int(header.rawLength) { return "a payload of another length" }
            if payload.count >= 8, let time, time.rawValue != payload.number(Int64.self, at: 0) {
                return "two times"
            }
            if payload.count >= 8 {
                _ = RecordWire.holds(payload.slice(8, payload.count - 8), count: Int(header.recordCount))
            }
            return roundTrip(payload)
        }
    }

    /// Whatever decodes encodes to the same bytes.
    private static func roundTrip(_ payload: UnsafeRawBufferPointer) -> String? {
        let again = ByteBuffer(capacity: 64)
        func differs(_ encode: (ByteBuffer) -> Void) -> Bool {
            again.truncate(to: 0)
            encode(again)
            return !again.bytes.elementsEqual(payload)
        }
        if let value = SessionPayload(payload), differs({ value.encode(into: $0) }) { return "session" }
        if let value = SealPayload(payload), differs({ value.encode(into: $0) }) { return "seal" }
        if let value = IndexPayload(payload), differs({ value.encode(into: $0) }) { return "index" }
        if let value = HolePayload(payload), differs({ value.encode(into: $0, length: payload.count) }) {
            return "hole"
        }
        return nil
    }

    private static func head(_ bytes: [UInt8]) -> String? {
        guard let choice = bytes.first else { return nil }
        var file = Array(bytes.dropFirst().prefix(9000))
        for slot in 0..<2 where file.count >= (slot + 1) * 4096 && choice & 1 << UInt8(slot) == 0 {
            file.put(secondCRC(file[slot * 4096..<slot * 4096 + 4092]), 4, at: slot * 4096 + 4092)
        }
        let storage = MemoryStorage()
        storage.setContents(file, of: "HEAD")
        let second = SecondHead(file)
        let first = file.withUnsafeBytes { HeadReading($0).head }
        if (first == nil) != (second == nil) { return "one decoder reads HEAD, the other does not" }
        if let first, let second,
            first.floor.rawValue != second.floor || first.newestOrdinal != second.newest
                || first.durableThrough.rawValue != second.durable || first.isClean != second.isClosed
        {
            return "HEAD is not the same to both decoders"
        }
        _ = try? LogReader.open(storage)
        return nil
    }

    private static func checkpoint(_ bytes: [UInt8]) -> String? {
        guard let choice = bytes.first else { return nil }
        var file = Array(bytes.dropFirst())
        FuzzMending.mendHeader(&file, magic: SecondSegmentHeader.checkpointMagic, number: 7, ordinal: 0)
        if choice & 1 == 0 { FuzzMending.mendFrames(&file, mendsChain: choice & 2 == 0) }
        let storage = MemoryStorage()
        storage.setContents(file, of: "0000000000000007.checkpoint")
        let identity = StillClock().identity
        guard let checkpoint = try? Checkpoint.open(storage, through: .init(rawValue: 7), identity: identity) else {
            return nil
        }
        let verified = (try? checkpoint.verify()) != nil
        let blocks = (try? checkpoint.blocks())?.map { try? checkpoint.block(at: $0) }
        for offset in stride(from: 0, to: file.count, by: 8) {
            _ = try? checkpoint.block(at: BlockAddress(rawValue: UInt64(offset)))
        }
        guard verified, let second = try? SecondDecoder.checkpoint(file) else { return nil }
        return blocks == second.blocks ? nil : "the decoders read different blocks"
    }

    private static func lz4(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 2 else { return nil }
        // An empty payload is never compressed.
        let size = max(1, Int(bytes[0]) | Int(bytes[1]) << 8)
        let block = Array(bytes[2...])
        let library = output(size) { target in block.withUnsafeBytes { LZ4Blocks.decompress($0, into: target) } }
        let plain = output(size) { target in block.withUnsafeBytes { LZ4Decoder.prefix(of: $0, into: target) } }
        // A strict decoder: what it accepts, all must accept. Some reject what breaks the format's rules.
        let strict = try? secondDecompress(block, to: size)
        if let strict, library != strict || plain != strict { return "a good block is refused or read differently" }
        if let library, let plain, library != plain { return "two contents" }
        let prefix = output(min(size, 8)) { target in
            block.withUnsafeBytes { LZ4Decoder.prefix(of: $0, into: target) }
        }
        if let plain, prefix != Array(plain.prefix(8)) { return "another beginning" }
        return nil
    }

    private static func output(_ size: Int, _ decompress: (UnsafeMutableRawBufferPointer) -> Bool) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: size)
        return output.withUnsafeMutableBytes(decompress) ? output : nil
    }

    /// Valid logs, made once.
    private static let logs = (0..<24 as Range<UInt64>).map { seed in
        (try? RandomLog.make(seed: seed, batches: 10, hasLarge: false)) ?? MemoryStorage()
    }

    private static func structured(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 2 else { return nil }
        let storage = logs[Int(bytes[0]) % logs.count].copy()
        var random = SeededRandom(bytes: bytes.dropFirst(2))
        var changes: [String] = []
        for _ in 0...Int(bytes[1] % 3) { changes.append(LogMutation.forge(storage, &random)) }
        return DecodedLog.disagreement(about: storage, isOneChange: changes.count == 1)
            .map { "\(changes.joined(separator: "; ")): \($0)" }
    }
}
