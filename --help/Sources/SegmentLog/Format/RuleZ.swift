// Rule Z: if a valid frame is cut at 512-byte file offsets, no piece of it is all zero. The space after the log is
// zero, so a piece that never reached the disk reads as zeros. This reveals a torn write, and a flipped bit can't
// look like one.

import SynclineGround

package enum RuleZ {
    /// Returns whether `bytes` have a run of zeros long enough to fill a sector of a frame except its header and
    /// trailer.
    package static func hasLongZeroRun(_ bytes: UnsafeRawBufferPointer) -> Bool {
        hasLongRun(of: 0, in: bytes)
    }

    /// Returns whether masking `bytes` would create such a run.
    package static func hasLongMaskRun(_ bytes: UnsafeRawBufferPointer) -> Bool {
        hasLongRun(of: Format.mask, in: bytes)
    }

    /// Checks one word in every 64 bytes; only if that consists of `byte`, measures the run around it.
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

    /// Returns whether some piece of `bytes`, which begin at `offset` of their file, is all zero. This marks a torn
    /// write; no valid frame has such a piece.
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
