// CRC32C over raw memory, and the seed that binds the frames of a log to its identity.

import CChecksum
import SynclineGround

package func crc32c(_ bytes: UnsafeRawBufferPointer, continuing crc: UInt32 = 0) -> UInt32 {
    cchecksum_crc32c(crc, bytes.baseAddress, bytes.count)
}

package func crc32c(of value: UInt32, continuing crc: UInt32) -> UInt32 {
    withUnsafeBytes(of: value.littleEndian) { crc32c($0, continuing: crc) }
}

/// Returns the value with which a checksum began, from its value after some bytes.
package func crc32c(undoing bytes: UnsafeRawBufferPointer, from crc: UInt32) -> UInt32 {
    let polynomial: UInt32 = 0x82f6_3b78
    var value = ~crc
    for byte in bytes.reversed() {
        // The highest bit of the polynomial is set, so it shows whether a step has used it.
        for _ in 0..<8 { value = value >> 31 == 0 ? value << 1 : (value ^ polynomial) << 1 | 1 }
        value ^= UInt32(byte)
    }
    return ~value
}

extension LogIdentity {
    /// An identity with a seed, in place of one that is lost.
    package init(seed: UInt32) {
        let zeros: [UInt8] = Array(repeating: 0, count: 12)
        let last = zeros.withBytes { crc32c($0) ^ crc32c(undoing: $0.slice(0, 4), from: seed) }
        self.init(high: 0, low: UInt64(last) << 32)
    }

    /// The initial value of all header checksums of this log: a frame of another log never verifies here.
    package var seed: UInt32 {
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { bytes in
            store(into: bytes)
            return crc32c(UnsafeRawBufferPointer(bytes))
        }
    }

    package func store(into bytes: UnsafeMutableRawBufferPointer, at offset: Int = 0) {
        bytes.store(high, at: offset)
        bytes.store(low, at: offset + 8)
    }

    package init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        self.init(high: bytes.number(at: offset), low: bytes.number(at: offset + 8))
    }
}
