// Memory that will be read soon. The processor fetches it while other work is done; it never waits for it here, and what
// the address leads to does not matter.

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
