// The one growable buffer that the log encodes into.

import SynclineGround

/// Growable memory that keeps its capacity when emptied, and lets a compressor write into its free end.
package final class ByteBuffer {
    // Unchecked: each is accessed within one call of this class, which is not shared between threads. The dynamic
    // check was visible in profiles of small appends and scans.
    @exclusivity(unchecked) private var storage: UnsafeMutableRawBufferPointer
    @exclusivity(unchecked) package private(set) var count = 0

    package init(capacity: Int) {
        storage = BlockMemory.allocate(byteCount: max(64, capacity))
    }

    deinit {
        BlockMemory.deallocate(storage)
    }

    /// Returns its memory, which the caller must free with `BlockMemory`, and has none of it left.
    package func takeMemory() -> UnsafeMutableRawBufferPointer {
        defer { (storage, count) = (UnsafeMutableRawBufferPointer(start: nil, count: 0), 0) }
        return storage
    }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }
    package var writable: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: storage[..<count]) }

    /// Returns at least `length` bytes after the content, to be written and then claimed with `advance(by:)`.
    package func free(_ length: Int) -> UnsafeMutableRawBufferPointer {
        if storage.count - count < length {
            let larger = BlockMemory.allocate(byteCount: max(storage.count * 2, count + length))
            larger.copyMemory(from: bytes)
            BlockMemory.deallocate(storage)
            storage = larger
        }
        return UnsafeMutableRawBufferPointer(rebasing: storage[count...])
    }

    /// Returns exactly `length` bytes after the content.
    package func room(_ length: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: free(length)[..<length])
    }

    package func advance(by length: Int) {
        precondition(length >= 0 && length <= storage.count - count, "claimed more than there is room for")
        count += length
    }

    package func append(_ bytes: UnsafeRawBufferPointer) {
        free(bytes.count).copyMemory(from: bytes)
        count += bytes.count
    }

    package func append<Number: FixedWidthInteger>(_ value: Number) {
        free(MemoryLayout<Number>.size).store(value, at: 0)
        count += MemoryLayout<Number>.size
    }

    package func append(varint value: UInt64) {
        let room = free(10)
        count += putVarint(value, into: room)
    }

    package func truncate(to length: Int) {
        precondition(length >= 0 && length <= count, "cut beyond the end")
        count = length
    }
}

package func roundUp(_ value: Int, to multiple: Int) -> Int {
    (value + multiple - 1) / multiple * multiple
}
