// A key that is assembled from what it shares with the one before and the rest.

/// Memory of its own, which moves only when it grows.
struct KeyBuffer: ~Copyable {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 128, alignment: 8)
    private(set) var count = 0

    deinit { memory.deallocate() }

    var bytes: Bytes { Bytes(start: memory.baseAddress, count: count) }

    /// Keeps the first bytes and replaces the rest.
    @inline(__always)
    mutating func replace(after kept: Int, with other: Bytes) {
        let needed = kept + other.count
        if needed > memory.count { grow(to: needed * 2, keeping: kept) }
        if let start = memory.baseAddress, let bytes = other.baseAddress {
            (start + kept).copyShort(from: bytes, byteCount: other.count)
        }
        count = needed
    }

    private mutating func grow(to size: Int, keeping kept: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        larger.copyMemory(from: Bytes(rebasing: memory[..<kept]))
        memory.deallocate()
        memory = larger
    }
}

extension UnsafeMutableRawPointer {
    /// Copies bytes, without a call if they are few.
    @inline(__always)
    fileprivate func copyShort(from bytes: UnsafeRawPointer, byteCount count: Int) {
        guard (8...16).contains(count) else { return copyMemory(from: bytes, byteCount: count) }
        // Two words, which may overlap.
        let (first, last) = (
            bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        )
        storeBytes(of: first, as: UInt64.self)
        storeBytes(of: last, toByteOffset: count - 8, as: UInt64.self)
    }
}
