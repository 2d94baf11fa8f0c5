// The 40 bytes before each payload. A header with a valid checksum can be trusted by itself: it gives the frame's
// length even if the payload is damaged, and how much of the log was durable when it was written.

import SynclineGround

/// A decoded frame header.
package struct FrameHeader: Hashable, Sendable {
    package var storedLength: UInt32 = 0
    package var rawLength: UInt32 = 0
    package var firstSequence: SequenceNumber
    /// The number of records before the first that were not known to be durable when the frame was built.
    package var durableLag: UInt32 = 0
    package var recordCount: UInt16 = 0
    package var kind: UInt8
    package var flags: FrameFlags = []
    package var payloadChecksum: UInt32 = 0
    /// The header checksum of the frame before.
    package var chain: UInt32 = 0
    /// This header's own checksum, which is the next frame's chain value.
    package var checksum: UInt32 = 0

    package init(kind: FrameKind, firstSequence: SequenceNumber) {
        self.kind = kind.rawValue
        self.firstSequence = firstSequence
    }

    /// The length of the whole frame: header, payload, padding and trailer.
    package var frameLength: Int { FrameHeader.frameLength(stored: Int(storedLength)) }

    package static func frameLength(stored: Int) -> Int {
        roundUp(Format.frameHeaderLength + stored, to: 8) + Format.trailerLength
    }

    /// The last record that this header proves to be durable.
    package var durableThrough: SequenceNumber {
        let before = firstSequence.rawValue &- 1
        return SequenceNumber(rawValue: before &- min(before, UInt64(durableLag)))
    }

    /// The records in the frame.
    package var records: SequenceRange { SequenceRange(first: firstSequence, count: UInt64(recordCount)) }
    /// The record after those in the frame.
    package var nextSequence: SequenceNumber { firstSequence.advanced(by: UInt64(recordCount)) }

    package var knownKind: FrameKind? { FrameKind(rawValue: kind) }
    package var codec: Codec? { Codec(rawValue: flags.codec) }
}

/// Three bits for the codec, then one bit for each flag.
package struct FrameFlags: OptionSet, Hashable, Sendable {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The transaction began in an earlier frame.
    package static let continuesFromPrevious = FrameFlags(rawValue: 1 << 3)
    /// The transaction continues in the next frame.
    package static let continuesInNext = FrameFlags(rawValue: 1 << 4)
    /// The stored bytes are XORed with 0xA5, because they held a long run of zeros.
    package static let masked = FrameFlags(rawValue: 1 << 5)
    /// Reserved for encryption.
    package static let encrypted = FrameFlags(rawValue: 1 << 6)
    package static let reserved = FrameFlags(rawValue: 1 << 7)

    package var codec: UInt8 { rawValue & 0b111 }

    package init(codec: Codec) {
        self.init(rawValue: codec.rawValue)
    }
}

extension FrameHeader {
    /// Why bytes are not a frame header.
    package enum Refusal: Error {
        case wrongMagic, wrongChecksum
    }

    /// Decodes 40 bytes. `FrameCheck` checks their meaning.
    package init(_ bytes: UnsafeRawBufferPointer, seed: UInt32) throws(Refusal) {
        guard bytes.number(UInt32.self, at: 0) == Format.frameMagic else { throw .wrongMagic }
        let stored: UInt32 = bytes.number(at: 4)
        guard FrameHeader.checksum(of: bytes, seed: seed) == stored else { throw .wrongChecksum }
        storedLength = bytes.number(at: 8)
        rawLength = bytes.number(at: 12)
        firstSequence = SequenceNumber(rawValue: bytes.number(at: 16))
        durableLag = bytes.number(at: 24)
        recordCount = bytes.number(at: 28)
        kind = bytes.number(at: 30)
        flags = FrameFlags(rawValue: bytes.number(at: 31))
        payloadChecksum = bytes.number(at: 32)
        chain = bytes.number(at: 36)
        checksum = stored
    }

    /// Writes the 40 bytes and returns the header's checksum.
    package func encode(into bytes: UnsafeMutableRawBufferPointer, seed: UInt32) -> UInt32 {
        bytes.store(Format.frameMagic, at: 0)
        bytes.store(storedLength, at: 8)
        bytes.store(rawLength, at: 12)
        bytes.store(firstSequence.rawValue, at: 16)
        bytes.store(durableLag, at: 24)
        bytes.store(recordCount, at: 28)
        bytes.store(kind, at: 30)
        bytes.store(flags.rawValue, at: 31)
        bytes.store(payloadChecksum, at: 32)
        bytes.store(chain, at: 36)
        let checksum = FrameHeader.checksum(of: UnsafeRawBufferPointer(bytes), seed: seed)
        bytes.store(checksum, at: 4)
        return checksum
    }

    /// Returns the seed with which the checksum of a header is correct.
    package static func seed(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        crc32c(undoing: bytes.slice(8, 32), from: bytes.number(at: 4))
    }

    private static func checksum(of bytes: UnsafeRawBufferPointer, seed: UInt32) -> UInt32 {
if Breakage.headerChecksumSkipsChain.isActive { return crc32c(bytes.slice(8, 28), continuing: seed) }
if Breakage.headerChecksumSkipsLag.isActive { return crc32c(bytes.slice(28, 12), continuing: crc32c(bytes.slice(8, 16), continuing: seed)) }
return crc32c(bytes.slice(8, 32), continuing: Breakage.checksumNotSeeded.isActive ? 0 : seed)
    }
}
