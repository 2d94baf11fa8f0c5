// Rule Z: cut a valid frame at 512-byte file offsets, and no piece of it is all zero. Space ahead of the log is zero, so
// a piece that never reached the disk reads as zeros: a torn write shows itself, and a flipped bit can't pass for one.

package enum RuleZ {
    /// Whether `bytes` hold a run of zeros long enough to fill a sector of a frame but for its header and trailer.
    package static func hasLongZeroRun(_ bytes: UnsafeRawBufferPointer) -> Bool {
        hasLongRun(of: 0, in: bytes)
    }

    /// Whether masking `bytes` would make such a run.
    package static func hasLongMaskRun(_ bytes: UnsafeRawBufferPointer) -> Bool {
        hasLongRun(of: Format.mask, in: bytes)
    }

    /// Looks at one word in every 64 bytes; only where that is all `byte` does it measure the run around it.
    private static func hasLongRun(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Bool {
        let word = UInt64(byte) &* 0x0101_0101_0101_0101
        var probe = 0
        while probe + 8 <= bytes.count {
            if bytes.loadUnaligned(fromByteOffset: probe, as: UInt64.self) == word {
                var start = probe
                while start > 0 && bytes[start - 1] == byte { start -= 1 }
                var end = probe + 8
                while end < bytes.count && bytes[end] == byte { end += 1 }
                if end - start >= Format.zeroRunLimit { return true }
                probe = end
            }
            probe += 64
        }
        return false
    }

    /// Whether some piece of `bytes`, which stand at `offset` of their file, is all zero: the mark of a torn write,
    /// and what no valid frame shows.
    package static func hasZeroPiece(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
        var start = 0
        while start < bytes.count {
            let piece = Format.sector - Int((offset &+ UInt64(start)) % UInt64(Format.sector))
            let length = min(piece, bytes.count - start)
            if bytes.slice(start, length).isAllZero { return true }
            start += length
        }
        return false
    }

    package static func mask(_ bytes: UnsafeMutableRawBufferPointer) {
        for index in bytes.indices { bytes[index] ^= Format.mask }
    }
}
