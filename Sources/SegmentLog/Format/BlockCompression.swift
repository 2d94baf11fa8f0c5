// Raw LZ4 blocks: with liblz4 on Linux and with the Compression library on Apple platforms (the same raw blocks, limited
// to two calls because it is not built on Linux), and a decoder for blocks with a dictionary, which the Compression
// library lacks.

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
        _ block: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
        dictionary: UnsafeRawBufferPointer?
    ) -> Bool {
        #if canImport(Darwin)
            if let dictionary { return LZ4Decoder.decompress(block, into: output, dictionary: dictionary) }
            guard let source = block.baseAddress, let target = output.baseAddress else { return false }
            return compression_decode_buffer(
                target.assumingMemoryBound(to: UInt8.self), output.count,
                source.assumingMemoryBound(to: UInt8.self), block.count, nil, COMPRESSION_LZ4_RAW) == output.count
        #else
            let source = block.baseAddress?.assumingMemoryBound(to: CChar.self)
            let target = output.baseAddress?.assumingMemoryBound(to: CChar.self)
            let (length, capacity) = (Int32(block.count), Int32(output.count))
            if let dictionary {
                return LZ4_decompress_safe_usingDict(
                    source, target, length, capacity,
                    dictionary.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(dictionary.count)) == capacity
            }
            return LZ4_decompress_safe(source, target, length, capacity) == capacity
        #endif
    }
}

/// Compresses small blocks with a fixed dictionary: the newest records of the previous segment.
package final class DictionaryCompressor {
    package let dictionary: [UInt8]
    #if !canImport(Darwin)
        /// The dictionary followed by room for the input: liblz4 finds matches in the bytes directly before the
        /// input.
        private let window: UnsafeMutableRawBufferPointer
        private let loaded = UnsafeMutablePointer<LZ4_stream_t>.allocate(capacity: 1)
        private let working = UnsafeMutablePointer<LZ4_stream_t>.allocate(capacity: 1)
    #endif

    /// Larger inputs gain too little from a dictionary.
    package static let inputLimit = 4096

    package init(dictionary: [UInt8]) {
        self.dictionary = dictionary
        #if !canImport(Darwin)
            window = .allocate(byteCount: dictionary.count + DictionaryCompressor.inputLimit, alignment: 16)
            window.copyBytes(from: dictionary)
            LZ4_initStream(loaded, MemoryLayout<LZ4_stream_t>.size)
            LZ4_loadDict(
                loaded, window.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(dictionary.count))
        #endif
    }

    #if !canImport(Darwin)
        deinit {
            window.deallocate()
            loaded.deallocate()
            working.deallocate()
        }
    #endif

    /// Returns the compressed length, or nil if it would not fit. Copies the loaded state (16 KiB, half a microsecond),
    /// because liblz4 1.9 has no call to attach a dictionary. The Compression library takes no dictionary: there, such
    /// blocks can be read, but not written.
    package func compress(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int? {
        #if canImport(Darwin)
            return nil
        #else
            guard input.count <= DictionaryCompressor.inputLimit else { return nil }
            let source = UnsafeMutableRawBufferPointer(rebasing: window[dictionary.count...])
            source.copyMemory(from: input)
            working.update(from: loaded, count: 1)
            let length = LZ4_compress_fast_continue(
                working, source.baseAddress?.assumingMemoryBound(to: CChar.self),
                output.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(input.count), Int32(output.count), 1)
            return length > 0 ? Int(length) : nil
        #endif
    }
}

/// A plain LZ4 block decoder. It rejects every input that does not fit exactly.
package enum LZ4Decoder {
    /// Returns whether the block decompressed to exactly `output`'s length.
    package static func decompress(
        _ block: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
        dictionary: UnsafeRawBufferPointer
    ) -> Bool {
        var input = ByteReader(block)
        return decode(&input, into: output, dictionary: dictionary) == output.count && input.remaining == 0
    }

    /// Returns whether the block's beginning filled `output`.
    package static func prefix(
        of block: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
        dictionary: UnsafeRawBufferPointer
    ) -> Bool {
        var input = ByteReader(block)
        return decode(&input, into: output, dictionary: dictionary, stopsWhenFull: true) == output.count
    }

    private static func decode(
        _ input: inout ByteReader, into output: UnsafeMutableRawBufferPointer, dictionary: UnsafeRawBufferPointer,
        stopsWhenFull: Bool = false
    ) -> Int? {
        var written = 0
        while let token = try? input.byte() {
            guard let literals = length(Int(token >> 4), &input), let bytes = try? input.take(literals) else {
                return nil
            }
            for byte in bytes {
                if written == output.count { return stopsWhenFull ? written : nil }
                output[written] = byte
                written += 1
            }
            if input.remaining == 0 || (stopsWhenFull && written == output.count) { return written }
            guard let distance = try? input.number(UInt16.self), distance > 0,
                let rest = length(Int(token & 15), &input),
                Int(distance) <= written + dictionary.count
            else { return nil }
            for _ in 0..<rest + 4 {
                if written == output.count { return stopsWhenFull ? written : nil }
                let from = written - Int(distance)
                output[written] = from >= 0 ? output[from] : dictionary[dictionary.count + from]
                written += 1
            }
        }
        return nil
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
