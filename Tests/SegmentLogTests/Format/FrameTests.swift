// Frames: what is written is read back, every part of a frame is covered by a check, and no piece of one is all zero
// (invariants 9 to 13).

import LogTesting
import SynclineGround
import Testing

@testable import SegmentLog

@Suite("A frame")
struct FrameTests {
    private let seed = LogIdentity(high: 1, low: 2).seed

    private func header(_ kind: FrameKind = .data, count: UInt16 = 1, flags: FrameFlags = []) -> FrameHeader {
        var header = FrameHeader(kind: kind, firstSequence: SequenceNumber(rawValue: 7))
        header.recordCount = count
        header.flags = flags
        header.chain = 0xfeed
        header.durableLag = 3
        return header
    }

    private func encode(
        _ payload: [UInt8], _ header: FrameHeader, compressed: Bool = true
    ) -> (bytes: [UInt8], header: FrameHeader) {
        var encoder = FrameEncoder(seed: seed, acceleration: 1)
        let buffer = ByteBuffer(capacity: 64)
        let done = payload.withUnsafeBytes { encoder.encode(header, payload: $0, compressed: compressed, into: buffer) }
        return ([UInt8](buffer.bytes), done)
    }

    /// Does everything a reader does with bytes that should be a frame; nil if it rejects them.
    private func decode(_ bytes: [UInt8], seed: UInt32? = nil) -> [UInt8]? {
        bytes.withUnsafeBytes { bytes in
            let expected = FrameExpectation(chain: 0xfeed, sequence: SequenceNumber(rawValue: 7))
            guard
                case .success(let header) = FrameCheck.header(bytes, seed: seed ?? self.seed, expecting: expected),
                FrameCheck.body(bytes, of: header) == nil
            else { return nil }
            let decoder = PayloadDecoder()
            let stored = bytes.slice(Format.frameHeaderLength, Int(header.storedLength))
            let payload = decoder.payload(of: header, stored: stored).map { [UInt8]($0) }
            #expect(PayloadDecoder.decoded(header, stored: stored).map { [UInt8]($0.bytes) } == payload)
            return payload
        }
    }

    private static let payloads: [[UInt8]] = {
        var numbers = Chance(seed: 5)
        let random = (0..<3000).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        let zeros = [UInt8](repeating: 0, count: 2000)
        let mask = [UInt8](repeating: 0xa5, count: 2000)
        return [
            [1], [1, 2, 3, 4, 5, 6, 7, 8], random, zeros, mask, random + zeros, zeros + random,
            random + zeros + mask + random,
            Array("the same words, the same words, the same words, the same words".utf8),
            [UInt8](repeating: 0, count: 1 << 20),
        ]
    }()

    @Test func `a header shows the seed of its log, and an identity can be made for any seed`() {
        for payload in Self.payloads {
            let (bytes, _) = encode(payload, header())
            let found = bytes.withUnsafeBytes { FrameHeader.seed(of: $0) }
            #expect(found == seed)
            #expect(decode(bytes, seed: LogIdentity(seed: found).seed) == payload)
        }
    }

    @Test("Invariant 9: what is encoded is decoded again, in every codec", arguments: payloads.indices)
    func roundTrip(_ index: Int) {
        let payload = Self.payloads[index]
        for compressed in [true, false] {
            let (bytes, header) = encode(payload, header(), compressed: compressed)
            #expect(bytes.count == header.frameLength && bytes.count % 8 == 0)
            #expect(decode(bytes) == payload)
        }
    }

    @Test("Invariant 10: no piece of a frame is all zero, wherever it lands", arguments: payloads.indices)
    func ruleZ(_ index: Int) {
        let payload = Self.payloads[index]
        for compressed in [true, false] {
            let (bytes, _) = encode(payload, header(), compressed: compressed)
            for offset in stride(from: UInt64(0), to: 512, by: 8) {
                #expect(!bytes.withUnsafeBytes { RuleZ.hasZeroPiece($0, at: offset) })
            }
        }
    }

    @Test func `a payload full of zeros that is stored is masked`() {
        let (_, header) = encode([UInt8](repeating: 0, count: 600), header(), compressed: false)
        #expect(header.flags.contains(.masked))
    }

    @Test func `a payload is compressed only if that saves as much as is asked`() {
        let payload = [UInt8](repeating: 7, count: 300) + Self.payloads[2]
        var encoder = FrameEncoder(seed: seed, acceleration: 1)
        let buffer = ByteBuffer(capacity: 64)
        func encode(saving: Int) -> FrameHeader {
            buffer.truncate(to: 0)
            let done = payload.withUnsafeBytes { encoder.encode(header(), payload: $0, saving: saving, into: buffer) }
            #expect(decode([UInt8](buffer.bytes)) == payload)
            return done
        }
        let saved = payload.count - Int(encode(saving: 1).storedLength)
        #expect(saved > 200)
        #expect(encode(saving: saved).codec == .lz4)
        #expect(encode(saving: saved + 20).codec == .stored)
        #expect(encode(saving: payload.count).codec == .stored)
    }

    @Test("Invariant 12: flipping any bit is noticed")
    func everyBit() {
        for payload in [Self.payloads[0], Self.payloads[1], Self.payloads[8], Self.payloads[3]] {
            let (bytes, _) = encode(payload, header())
            for index in bytes.indices {
                for bit in 0..<8 {
                    var flipped = bytes
                    flipped[index] ^= 1 << bit
                    #expect(decode(flipped) == nil, "byte \(index), bit \(bit)")
                }
            }
        }
    }

    @Test("Invariant 11: a frame verifies in its own log, at its own place, and nowhere else")
    func itsOwnPlace() {
        let (bytes, done) = encode([1, 2, 3], header())
        #expect(decode(bytes, seed: LogIdentity(high: 1, low: 3).seed) == nil)
        bytes.withUnsafeBytes { bytes in
            func fault(_ chain: UInt32?, _ sequence: UInt64, inTransaction: Bool = false) -> FrameFault? {
                let expected = FrameExpectation(
                    chain: chain, sequence: SequenceNumber(rawValue: sequence), inTransaction: inTransaction)
                if case .failure(let fault) = FrameCheck.header(bytes, seed: seed, expecting: expected) { return fault }
                return nil
            }
            #expect(fault(0xfeed, 7) == nil)
            #expect(fault(0xbeef, 7) == .chain)
            #expect(fault(0xfeed, 8) == .sequence)
            #expect(fault(0xfeed, 7, inTransaction: true) == .transaction)
            #expect(done.durableThrough == SequenceNumber(rawValue: 3))
        }
    }

    @Test("Invariant 13: padding and reserved bits are checked")
    func reserved() {
        var (bytes, done) = encode([1, 2, 3], header())
        bytes[Format.frameHeaderLength + 3] = 1
        #expect(bytes.withUnsafeBytes { FrameCheck.body($0, of: done) } == .padding)
        for (change, fault) in Self.malformed {
            var header = header()
            change(&header)
            var frame = [UInt8](repeating: 0, count: 128)
            header.storedLength = max(header.storedLength, 3)
            header.rawLength = max(header.rawLength, 3)
            _ = frame.withUnsafeMutableBytes { header.encode(into: $0, seed: seed) }
            frame.withUnsafeBytes { bytes in
                let result = FrameCheck.header(
                    bytes, seed: seed, expecting: FrameExpectation(chain: 0xfeed, sequence: nil))
                #expect(result == .failure(fault))
            }
        }
    }

    private static let malformed: [(@Sendable (inout FrameHeader) -> Void, FrameFault)] = [
        ({ $0.rawLength = UInt32(Format.frameRawLimit) + 1 }, .malformed),
        ({ $0.storedLength = UInt32(Format.frameStoredLimit) + 1 }, .malformed),
        ({ $0.flags.insert(.reserved) }, .malformed),
        ({ $0.firstSequence = .none }, .malformed),
        ({ $0.recordCount = 0 }, .malformed),
        ({ $0.rawLength = 9 }, .malformed),
        ({ $0.flags.insert(.encrypted) }, .unknownCodec(0)),
        ({ $0.flags = FrameFlags(rawValue: 5) }, .unknownCodec(5)),
        ({ $0.kind = 2 }, .unknownKind(2)),
        ({ $0.kind = 127 }, .unknownKind(127)),
        ({ $0.kind = 200 }, .unknownKind(200)),  // ignorable kinds count no records
        ({ ($0.kind, $0.recordCount, $0.flags) = (200, 0, .continuesInNext) }, .malformed),
        ({ ($0.kind, $0.recordCount, $0.flags) = (200, 0, .continuesFromPrevious) }, .malformed),
        ({ ($0.firstSequence, $0.recordCount) = (SequenceNumber(rawValue: .max), 1) }, .malformed),
        ({ ($0.kind, $0.recordCount) = (FrameKind.fragment.rawValue, 0) }, .malformed),
        ({ ($0.kind, $0.recordCount, $0.flags) = (FrameKind.seal.rawValue, 0, .continuesInNext) }, .malformed),
        ({ ($0.kind, $0.recordCount, $0.flags) = (FrameKind.hole.rawValue, 0, .masked) }, .malformed),
    ]

    @Test func `a frame of an unknown kind that may be skipped is skipped`() {
        var header = header(count: 0)
        header.kind = 200
        let (bytes, _) = encode([1, 2, 3], header)
        #expect(decode(bytes) == [1, 2, 3])
        // But not within a transaction, which would end there unnoticed.
        let inside = FrameExpectation(chain: 0xfeed, sequence: SequenceNumber(rawValue: 7), inTransaction: true)
        bytes.withUnsafeBytes { bytes in
            #expect(FrameCheck.header(bytes, seed: seed, expecting: inside) == .failure(.transaction))
        }
    }

    @Test("Invariant 10: runs of zeros and of the mask together leave no long run, at any speed", arguments: [1, 64])
    func bothRuns(acceleration: Int32) {
        var numbers = Chance(seed: 8)
        func noise(_ length: Int) -> [UInt8] { (0..<length).map { _ in UInt8(truncatingIfNeeded: numbers.next()) } }
        let runs = [UInt8](repeating: 0, count: 300) + noise(40) + [UInt8](repeating: 0xa5, count: 300)
        let payloads = [
            runs, noise(100) + runs, noise(60_000) + runs, noise(500_000) + runs + noise(500_000),
            [UInt8](repeating: 0xa5, count: 1 << 20), runs + [1, 2, 3], runs + noise(20),
        ]
        for payload in payloads {
            for compressed in [true, false] {
                var encoder = FrameEncoder(seed: seed, acceleration: acceleration)
                let buffer = ByteBuffer(capacity: 64)
                let done = payload.withUnsafeBytes {
                    encoder.encode(header(), payload: $0, compressed: compressed, into: buffer)
                }
                let bytes = [UInt8](buffer.bytes)
                #expect(bytes.count == done.frameLength && done.storedLength <= UInt32(Format.frameStoredLimit))
                #expect(decode(bytes) == payload)
                let stored = Array(bytes[40..<40 + Int(done.storedLength)])
                #expect(!stored.withUnsafeBytes(RuleZ.hasLongZeroRun))
                if done.codec == .lz4 && !done.flags.contains(.masked) {
                    let plain = try? secondDecompress(stored, to: payload.count)
                    #expect(plain == payload)
                }
            }
        }
    }

    @Test func `a frame that is cut anywhere is cut off, not misread`() {
        let (bytes, _) = encode(Array("some text to be cut somewhere".utf8), header())
        for length in bytes.indices {
            #expect(decode(Array(bytes[..<length])) == nil)
        }
    }
}
