// A prefetch hint for memory that will be read soon. It never blocks, and an invalid address is harmless.

import CAtomics

extension UnsafeRawPointer {
    /// The size of what a processor fetches at once.
    private static var line: Int { 64 }

    /// Fetches a number of lines.
    @inline(__always)
    func prefetch(lines: Int = 1) {
        for line in 0..<lines { catomics_prefetch(self + line * UnsafeRawPointer.line) }
    }
}
