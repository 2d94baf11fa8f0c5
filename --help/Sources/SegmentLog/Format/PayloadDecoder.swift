// Decodes the stored bytes of a verified frame into its payload. The output buffer is reused, so a scan does not
// allocate for each frame.

import SynclineGround

package struct PayloadDecoder {
    private let raw = ByteBuffer(capacity: Format.frameTarget + 4096)
    private let unmasked = ByteBuffer(capacity: 64)

    package init() {}

    /// Returns the payload, valid until the next call; nil if the stored bytes do not decode to what the header
    /// says.
    package func payload(of header: FrameHeader, stored: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var stored = stored
        if header.flags.contains(.masked) {
            unmasked.truncate(to: 0)
            unmasked.append(stored)
            RuleZ.mask(unmasked.writable)
            stored = unmasked.bytes
        }
        let length = Int(header.rawLength)
        switch header.codec {
        case .stored:
            return stored.count == length ? stored : nil
        case .lz4:
            return PayloadDecoder.decompress(stored, length, into: raw)
        case nil:
            return nil
        }
    }

    /// Returns the payload of a frame in memory of its own.
    package static func decoded(_ header: FrameHeader, stored: UnsafeRawBufferPointer) -> ByteBuffer? {
        let memory = ByteBuffer(capacity: min(Int(header.rawLength), Format.frameRawLimit))
        if header.codec == .lz4, !header.flags.contains(.masked) {
            return decompress(stored, Int(header.rawLength), into: memory) == nil ? nil : memory
        }
        let decoder = PayloadDecoder()
        defer { extendLifetime(decoder) }
        guard let payload = decoder.payload(of: header, stored: stored) else { return nil }
        memory.append(payload)
        return memory
    }

    /// Returns the time at which a data frame was written: the first eight bytes of its payload, read without
    /// decoding the rest.
    package func time(of header: FrameHeader, stored: UnsafeRawBufferPointer) -> WallTime? {
        if header.flags.contains(.masked) {
            return payload(of: header, stored: stored).flatMap(PayloadDecoder.time)
        }
        if header.codec == .stored { return PayloadDecoder.time(stored) }
        return withUnsafeTemporaryAllocation(byteCount: 8, alignment: 8) { first in
            LZ4Decoder.prefix(of: stored, into: first) ? PayloadDecoder.time(UnsafeRawBufferPointer(first)) : nil
        }
    }

    private static func time(_ payload: UnsafeRawBufferPointer) -> WallTime? {
        payload.count < 8 ? nil : WallTime(rawValue: payload.number(at: 0))
    }

    private static func decompress(
        _ stored: UnsafeRawBufferPointer, _ length: Int, into memory: ByteBuffer
    ) -> UnsafeRawBufferPointer? {
        guard length <= Format.frameRawLimit else { return nil }
        memory.truncate(to: 0)
        let output = memory.room(length)
        guard LZ4Blocks.decompress(stored, into: output) else { return nil }
        memory.advance(by: length)
        return memory.bytes
    }
}
