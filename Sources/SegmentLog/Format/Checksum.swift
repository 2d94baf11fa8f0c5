// CRC32C over raw memory, and the seed that binds the frames of a log to its identity.

import CChecksum
import SynclineGround

package func crc32c(_ bytes: UnsafeRawBufferPointer, continuing crc: UInt32 = 0) -> UInt32 {
    cchecksum_crc32c(crc, bytes.baseAddress, bytes.count)
}

package func crc32c(of value: UInt32, continuing crc: UInt32) -> UInt32 {
    withUnsafeBytes(of: value.littleEndian) { crc32c($0, continuing: crc) }
}

extension LogIdentity {
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

/// The implementation for machines without the CRC instruction; a test compares the two.
package func crc32cPortable(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    cchecksum_crc32c_portable(0, bytes.baseAddress, bytes.count)
}
