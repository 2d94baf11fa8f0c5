// Memory in which a short string is written, to be read before it becomes a `String`, or instead.

/// Provides temporary memory for a string.
func withTextMemory<Result>(_ count: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count, body)
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Returns the first bytes, which have been written.
    func filled(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: baseAddress, count: count)
    }
}
