// The memory of byte arrays. `Array.span` would serve, but Apple's systems have it only since iOS 26.

extension Array<UInt8> {
    /// Calls `body` with the array's bytes, and throws what it throws.
    @inlinable @inline(__always)
    public func withBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { bytes throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}
