// The small encodings: varints, checksums, LZ4 blocks, control payloads, the headers of files. Each decodes to
// exactly what encodes to it, and rejects everything else (invariants 9, 13 and 14).

import CChecksum
import LogTesting
import SynclineGround
import Testing

@testable import SegmentLog

@Suite("Encodings")
struct EncodingTests {
    @Test func `a varint has one form`() {
        for shift in 0..<64 {
            for value in [UInt64(1) << shift, (UInt64(1) << shift) &- 1, ~(UInt64(1) << shift)] {
                let buffer = ByteBuffer(capacity: 16)
                buffer.append(varint: value)
                #expect(buffer.count == varintLength(value))
                var reader = ByteReader(buffer.bytes)
                let read = try? reader.shortestVarint()
                #expect(read == value && reader.remaining == 0)
            }
        }
        let refused: [[UInt8]] = [
            [], [0x80], [0x80, 0x00], [0xff, 0x00], [0x81, 0x80, 0x00], [UInt8](repeating: 0xff, count: 10),
            [UInt8](repeating: 0x80, count: 9) + [0x02], [UInt8](repeating: 0x80, count: 10) + [0x01],
        ]
        for bytes in refused {
            bytes.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                let read = try? reader.shortestVarint()
                #expect(read == nil)
            }
        }
    }

    @Test func `the checksum is CRC32C, in pieces as in one`() {
        #expect(Array("123456789".utf8).withUnsafeBytes { crc32c($0) } == 0xe306_9283)
        #expect([UInt8](repeating: 0, count: 32).withUnsafeBytes { crc32c($0) } == 0x8a91_36aa)
        var numbers = Chance(seed: 1)
        let bytes = (0..<20_000).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        bytes.withUnsafeBytes { bytes in
            for _ in 0..<300 {
                let start = Int(numbers.next() % 9000)
                let length = Int(numbers.next() % 10_000)
                let cut = length == 0 ? 0 : Int(numbers.next() % UInt64(length))
                let part = bytes.slice(start, length)
                // The implementation for machines without the CRC instruction.
                #expect(crc32c(part) == cchecksum_crc32c_portable(0, part.baseAddress, part.count))
                #expect(crc32c(part) == crc32c(part.slice(cut, length - cut), continuing: crc32c(part.slice(0, cut))))
            }
        }
    }

    @Test func `both LZ4 decoders agree, even about invalid blocks`() {
        var numbers = Chance(seed: 2)
        for round in 0..<400 {
            let spread = UInt64(1 + round % 40)
            let input = (0..<Int(numbers.next() % 3000)).map { _ in UInt8(truncatingIfNeeded: numbers.next() % spread) }
            var blocks = LZ4Blocks()
            compare(input, &numbers) { blocks.compress($0, into: $1, acceleration: 1) }
        }
    }

    /// Both decoders must read the block, and must not read different results from one with a wrong byte.
    private func compare(
        _ input: [UInt8], _ numbers: inout Chance,
        _ compress: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Int?
    ) {
        var block = [UInt8](repeating: 0, count: input.count + input.count / 255 + 16)
        let size = input.withUnsafeBytes { input in block.withUnsafeMutableBytes { compress(input, $0) } }
        block.removeLast(block.count - (size ?? 0))
        #expect(decode(block, input.count, own: true) == input)
        #expect(decode(block, input.count, own: false) == input)
        guard !block.isEmpty else { return }
        var wrong = block
        wrong[Int(numbers.next() % UInt64(block.count))] ^= UInt8(truncatingIfNeeded: numbers.next() | 1)
        let own = decode(wrong, input.count, own: true)
        let library = decode(wrong, input.count, own: false)
        #expect(own == nil || library == nil || own == library)
    }

    private func decode(_ block: [UInt8], _ length: Int, own: Bool) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: length)
        let isWhole = output.withUnsafeMutableBytes { output in
            block.withUnsafeBytes { block in
                own ? LZ4Decoder.prefix(of: block, into: output) : LZ4Blocks.decompress(block, into: output)
            }
        }
        return isWhole ? output : nil
    }

    @Test("Invariant 9: control payloads decode to what encodes to them, and nothing else is accepted")
    func payloads() {
        let index = IndexPayload(
            frameCount: 300, headerSum: 0xdead_beef,
            entries: [
                IndexEntry(offset: 512, sequence: .first, time: WallTime(rawValue: -5)),
                IndexEntry(
                    offset: 40_000, sequence: SequenceNumber(rawValue: 900), time: WallTime(rawValue: 1_700_000_000_000)
                ),
            ], note: LogNote(through: SequenceNumber(rawValue: 899), bytes: [1, 2, 3]))
        check(index, { $0.encode(into: $1) }, IndexPayload.init)
        check(
            IndexPayload(frameCount: 0, headerSum: 0, entries: [], note: nil), { $0.encode(into: $1) },
            IndexPayload.init)
        check(
            SessionPayload(
                epoch: 3, time: WallTime(rawValue: 9), cut: LogPosition(segment: 2, offset: 600), cutLength: 70),
            { $0.encode(into: $1) }, SessionPayload.init)
        check(SessionPayload(epoch: 3, time: WallTime(rawValue: 9)), { $0.encode(into: $1) }, SessionPayload.init)
        check(
            SealPayload(
                indexOffset: 1, lastSequence: .first, recordCount: 3, firstTime: WallTime(rawValue: 4),
                lastTime: WallTime(rawValue: 5)),
            { $0.encode(into: $1) }, SealPayload.init)
        check(HolePayload(chainAfter: 7, recordCount: 500), { $0.encode(into: $1) }, HolePayload.init)
        check(HolePayload(chainAfter: nil, recordCount: 0), { $0.encode(into: $1, length: 40) }, HolePayload.init)
    }

    /// Round trip, and every changed byte is rejected or decodes to something that encodes to exactly those bytes.
    private func check<Payload: Equatable>(
        _ payload: Payload, _ encode: (Payload, ByteBuffer) -> Void, _ decode: (UnsafeRawBufferPointer) -> Payload?
    ) {
        let buffer = ByteBuffer(capacity: 64)
        encode(payload, buffer)
        let bytes = [UInt8](buffer.bytes)
        #expect(bytes.withUnsafeBytes(decode) == payload)
        for index in bytes.indices {
            for value in [UInt8(0), 1, 0x7f, 0x80, 0xff, bytes[index] ^ 1] {
                var changed = bytes
                changed[index] = value
                guard let meaning = changed.withUnsafeBytes(decode) else { continue }
                let again = ByteBuffer(capacity: 64)
                encode(meaning, again)
                if again.count == changed.count { #expect([UInt8](again.bytes) == changed) }
            }
            // A hole may be padded to any length; everything else is rejected when truncated.
            let cut = Array(bytes[..<index]).withUnsafeBytes(decode)
            #expect(cut != payload || payload is HolePayload)
        }
    }

    @Test func `the header of a file is refused for its own reason`() {
        let header = SegmentHeader(
            role: .segment, identity: LogIdentity(high: 1, low: 2), sequence: .first, ordinal: 1,
            created: WallTime(rawValue: 3),
            epoch: 4, durableThrough: .none)
        var bytes = [UInt8](repeating: 0, count: 512)
        bytes.withUnsafeMutableBytes { header.encode(into: $0) }
        #expect(refusal(bytes) == nil)
        #expect(refusal(Array(bytes[..<300])) == .truncated)
        #expect(refusal([]) == .truncated)
        #expect(refusal(bytes, role: .checkpoint) == .wrongMagic)
        #expect(refusal(bytes, { $0[20] ^= 1 }) == .wrongChecksum)
        #expect(refusal(mended(bytes) { $0[8] = 2 }) == .newerMajor(2))
        #expect(refusal(mended(bytes) { $0[56] = 4 }) == .unknownFeatures(4))
        #expect(refusal(mended(bytes) { $0[200] = 1 }) == .reservedBytes)
        #expect(refusal(mended(bytes) { ($0[10], $0[200]) = (1, 1) }) == nil)
        #expect(refusal(mended(bytes) { $0[60] = 1 }) == nil)
    }

    private func refusal(
        _ bytes: [UInt8], role: SegmentHeader.Role = .segment, _ change: (inout [UInt8]) -> Void = { _ in }
    ) -> SegmentHeader.Refusal? {
        var bytes = bytes
        change(&bytes)
        return bytes.withUnsafeBytes { bytes in
            do throws(SegmentHeader.Refusal) {
                _ = try SegmentHeader(bytes, role: role)
                return nil
            } catch {
                return error
            }
        }
    }

    private func mended(_ bytes: [UInt8], _ change: (inout [UInt8]) -> Void) -> [UInt8] {
        var bytes = bytes
        change(&bytes)
        let sum = bytes.withUnsafeBytes { crc32c($0.slice(0, 508)) }
        bytes.withUnsafeMutableBytes { $0.store(sum, at: 508) }
        return bytes
    }

    @Test func `the newer of two valid slots of HEAD counts, and an invalid one does not`() {
        var head = Head(
            identity: LogIdentity(high: 1, low: 2), floor: .first, newestOrdinal: 1, durableThrough: .none, epoch: 1,
            isClean: false)
        var file = [UInt8](repeating: 0, count: 8192)
        #expect(file.withUnsafeBytes { HeadReading($0).head } == nil)
        for generation: UInt64 in [4, 5] {
            head.generation = generation
            file.withUnsafeMutableBytes { file in
                head.encode(
                    into: UnsafeMutableRawBufferPointer(
                        rebasing: file[Int(generation % 2) * 4096..<Int(generation % 2) * 4096 + 4096]))
            }
        }
        #expect(file.withUnsafeBytes { HeadReading($0).head }?.generation == 5)
        file[4096 + 100] = 1
        #expect(file.withUnsafeBytes { HeadReading($0).head }?.generation == 4)
        file[100] = 1
        #expect(file.withUnsafeBytes { HeadReading($0).head } == nil)
    }
}
