// The number of memory allocations, if they are counted: `tools/bench sync` loads a library in front of the C library
// that counts them. Otherwise nothing is counted, at no cost.

import CLibrary

enum Allocations {
    /// Nil if nothing counts allocations.
    static var count: UInt64? {
        guard let symbol = dlsym(nil, "syncline_counted_allocations") else { return nil }
        return unsafeBitCast(symbol, to: (@convention(c) () -> UInt64).self)()
    }

    static func since(_ before: UInt64?) -> UInt64? {
        before.flatMap { before in count.map { $0 - before } }
    }
}
