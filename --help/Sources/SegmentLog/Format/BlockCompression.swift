// Raw LZ4 blocks: with liblz4 on Linux and with the Compression library on Apple platforms (the same raw blocks, limited
// to two calls because it is not built on Linux), and a decoder for the beginning of a block.

import SynclineGround

#if canImport(Darwin)
    import Compression
#else
    import CLZ4
#endif

/// Compresses and decompresses raw LZ4 blocks. Both sides know the lengths, so the block does not store them.
package struct LZ4Blocks {
    #if !canImport(Darwin)
        /// liblz4's working memory, allocated once instead of for every block. liblz4 resets it for each block.
        private let state = ByteBuffer(capacity: Int(LZ4_sizeofState()))
    #endif

    package init() {}

    /// Returns the compressed length, or nil if it would not fit into `output`.
    package mutating func compress(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, acceleration: Int32
    ) -> Int? {
        #if canImport(Darwin)
            guard let source = input.baseAddress, let target = output.baseAddress else { return nil }
            let length = compression_encode_buffer(
                target.assumingMemoryBound(to: UInt8.self), output.count,
                source.assumingMemoryBound(to: UInt8.self), input.count, nil, COMPRESSION_LZ4_RAW)
        #else
            let length = LZ4_compress_fast_extState(
                state.free(Int(LZ4_sizeofState())).baseAddress,
                input.baseAddress?.assumingMemoryBound(to: CChar.self),
                output.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(input.count), Int32(output.count), acceleration)
        #endif
        return length > 0 ? Int(length) : nil
    }

    /// Returns whether the block decompressed to exactly `output`'s length.
    package static func decompress(
        _ block: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        #if canImport(Darwin)
            guard let source = block.baseAddress, let target = output.baseAddress else { return false }
            return compression_decode_buffer(
                target.assumingMemoryBound(to: UInt8.self), output.count,
                source.assumingMemoryBound(to: UInt8.self), block.count, nil, COMPRESSION_LZ4_RAW) == output.count
        #else
            return LZ4_decompress_safe(
                block.baseAddress?.assumingMemoryBound(to: CChar.self),
                output.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(block.count), Int32(output.count)) == output.count
        #endif
    }
}

/// Decodes the beginning of an LZ4 block. It rejects what can't be the beginning of one.
package enum LZ4Decoder {
    /// Returns whether the block's beginning filled `output`.
    package static func prefix(
        of block: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var input = ByteReader(block)
        var written = 0
        while let token = try? input.byte() {
            guard let literals = length(Int(token >> 4), &input), let bytes = try? input.take(literals) else {
                return false
            }
            for byte in bytes {
                if written == output.count { return true }
                output[written] = byte
                written += 1
            }
            if written == output.count { return true }
            guard input.remaining > 0, let distance = try? input.number(UInt16.self), distance > 0,
                let rest = length(Int(token & 15), &input), Int(distance) <= written
            else { return false }
            for _ in 0..<rest + 4 {
                if written == output.count { return true }
                output[written] = output[written - Int(distance)]
                written += 1
            }
        }
        return written == output.count
    }

    private static func length(_ start: Int, _ input: inout ByteReader) -> Int? {
        guard start == 15 else { return start }
        var total = start
        while let byte = try? input.byte() {
            total += Int(byte)
            if byte < 255 { return total }
        }
        return nil
    }
}
