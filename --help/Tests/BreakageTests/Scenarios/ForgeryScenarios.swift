// Intact frames that do not belong where they are, and the format checked byte by byte against its page, with
// checksums computed here: a reader with the same mistake as its writer would not notice it.

import SegmentLog

extension Scenario {
    static let forgery: [Scenario] = [
        forged("a frame that follows another frame than the one before it") { header, _ in header.chain ^= 1 },
        forged("a frame that leaves a number out") { header, _ in header.firstSequence = header.firstSequence.next },
        forged("a frame that repeats a number") { header, _ in header.firstSequence = header.firstSequence.previous },
        forged("a frame that continues a transaction that never began") { header, _ in
            header.flags = .continuesFromPrevious
        },
        forged("a frame of another log") { _, seed in seed ^= 1 },
        Scenario("headers and payloads are summed as the page says") {
            let log = try StoryLog { writer in
                try writer.append(StoryLog.batch("one", "two"), durability: .buffered)
                try writer.append(StoryLog.batch("three"), durability: .buffered)
                try writer.append(StoryLog.batch(String(repeating: "four and more, ", count: 9)))
            }
            let bytes = log.bytes
            let seed = sum(bytes[16..<32])
            let frames = try log.frames()
            try must(frames.count == 4, "\(frames)")
            var before: [UInt8] = [0, 0, 0, 0]
            for (header, range) in frames {
                let frame = Array(bytes[range])
                try must(
                    Array(frame[4..<8]) == fourBytes(sum(frame[8..<40], from: seed)), "the header's sum at \(range)")
                try must(
                    Array(frame[32..<36]) == fourBytes(sum(frame[40..<40 + Int(header.storedLength)])),
                    "the payload's sum at \(range)")
                try must(Array(frame[36..<40]) == before, "the chain at \(range)")
                try must(frame.suffix(8).prefix(4) == [0x45, 0x4e, 0x44, 0xd7], "the trailer at \(range)")
                before = Array(frame[4..<8])
            }
            // Session, then data: nothing was durable when the second and third were made.
            try must(frames.map(\.header.durableLag) == [0, 0, 2, 3], "lags \(frames.map(\.header.durableLag))")
        },
    ]

    private static func forged(
        _ name: String, _ forge: @escaping @Sendable (inout FrameHeader, inout UInt32) -> Void
    ) -> Scenario {
        Scenario(name) {
            let log = try StoryLog { writer in
                try writer.append(StoryLog.batch("before"))
                try writer.append(StoryLog.batch("the last"))
            }
            guard let last = try log.frames().last?.header else { throw ScenarioFailure("no frames") }
            var header = FrameHeader(kind: .data, firstSequence: SequenceNumber(rawValue: 3))
            header.chain = last.checksum
            header.durableLag = 1
            header.recordCount = 1
            var seed = try LogCatalog(log.tree).identity.seed
            forge(&header, &seed)
            var encoder = FrameEncoder(seed: seed, acceleration: 1)
            let buffer = ByteBuffer(capacity: 256)
            let payload: [UInt8] = [0, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3]
            _ = payload.withUnsafeBytes { encoder.encode(header, payload: $0, into: buffer) }
            log.bytes += [UInt8](buffer.bytes)
            try log.mustBeRefused(name)
        }
    }

    /// CRC32C, one bit after another.
    private static func sum(_ bytes: ArraySlice<UInt8>, from start: UInt32 = 0) -> UInt32 {
        var register = ~start
        for byte in bytes {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register & 1 == 1 ? (register >> 1) ^ 0x82f6_3b78 : register >> 1 }
        }
        return ~register
    }

    private static func fourBytes(_ value: UInt32) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}
