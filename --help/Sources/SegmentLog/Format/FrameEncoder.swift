// Builds frames: compresses a payload, enforces rule Z, computes checksums, and chains each header to the previous
// one. It appends frames to a buffer and knows nothing of files.

import SynclineGround

package struct FrameEncoder {
    package let seed: UInt32
    /// liblz4's acceleration: 1 compresses best, higher is faster.
    package var acceleration: Int32
    private var blocks = LZ4Blocks()

    /// Smaller payloads are stored uncompressed, because LZ4 can't shorten them.
    private static let compressionFloor = 32

    package init(seed: UInt32, acceleration: Int32) {
        self.seed = seed
        self.acceleration = acceleration
    }

    /// Appends one frame and returns its header, whose checksum is the next frame's chain value. The caller fills in
    /// `header`'s kind, sequence, lag, count, chain and transaction flags; the rest is filled in here. A payload of
    /// which compression would save fewer bytes than `saving` is stored as it is.
    package mutating func encode(
        _ header: FrameHeader, payload: UnsafeRawBufferPointer, compressed: Bool = true, saving: Int = 1,
        into buffer: ByteBuffer
    ) -> FrameHeader {
        precondition(payload.count <= Format.frameRawLimit, "a frame's payload is limited to 1 MiB")
        let bound = Format.frameOverhead + 16 + payload.count + payload.count / 255
        let frame = buffer.free(bound)
        let room = UnsafeMutableRawBufferPointer(rebasing: frame[Format.frameHeaderLength...])
        var header = header
        var (codec, stored) = store(payload, compressed: compressed, saving, into: room)
        let unmasked = UnsafeRawBufferPointer(rebasing: room[..<stored])
if RuleZ.hasLongZeroRun(unmasked) && !Breakage.ruleZOff.isActive {
            if RuleZ.hasLongMaskRun(unmasked) {
                (codec, stored) = (.lz4, RunLengthBlocks.compress(payload, into: room))
            } else {
                RuleZ.mask(UnsafeMutableRawBufferPointer(rebasing: room[..<stored]))
                header.flags.insert(.masked)
            }
        }
        header.flags.insert(FrameFlags(codec: codec))
        let storedBytes = UnsafeRawBufferPointer(rebasing: room[..<stored])
        header.storedLength = UInt32(stored)
        header.rawLength = UInt32(payload.count)
header.payloadChecksum = crc32c(Breakage.payloadChecksumStopsShort.isActive ? storedBytes.slice(0, max(0, stored - 4)) : storedBytes)
        header.checksum = header.encode(into: frame, seed: seed)
        finish(frame, header)
        buffer.advance(by: header.frameLength)
        return header
    }

    private mutating func store(
        _ payload: UnsafeRawBufferPointer, compressed: Bool, _ saving: Int,
        into room: UnsafeMutableRawBufferPointer
    ) -> (Codec, Int) {
        if compressed && payload.count >= FrameEncoder.compressionFloor {
            let limit = UnsafeMutableRawBufferPointer(rebasing: room[..<(payload.count - saving)])
            if let length = blocks.compress(payload, into: limit, acceleration: acceleration) {
                return (.lz4, length)
            }
        }
        room.copyMemory(from: payload)
        return (.stored, payload.count)
    }

    /// Zeroes the padding and writes the trailer.
    private func finish(_ frame: UnsafeMutableRawBufferPointer, _ header: FrameHeader) {
        let end = header.frameLength
        for index in Format.frameHeaderLength + Int(header.storedLength)..<end - Format.trailerLength {
            frame[index] = 0
        }
        frame.store(Format.trailerMagic, at: end - 8)
        frame.store(UInt32(end), at: end - 4)
    }

    /// Gives a finished frame another predecessor: changes its chain and the header's checksum.
    package func rechain(_ frame: UnsafeMutableRawBufferPointer, _ header: FrameHeader, to chain: UInt32) -> FrameHeader
    {
        var header = header
        header.chain = chain
        header.checksum = header.encode(into: frame, seed: seed)
        return header
    }
}
