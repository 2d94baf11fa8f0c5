// How often the process asked for memory, where somebody counts: `tools/bench sync` puts a library in front of the C
// library that does. Nothing is counted else, and nothing costs.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

enum Allocations {
    /// Nil where nobody counts.
    static var count: UInt64? {
        guard let symbol = dlsym(nil, "syncline_counted_allocations") else { return nil }
        return unsafeBitCast(symbol, to: (@convention(c) () -> UInt64).self)()
    }

    static func since(_ before: UInt64?) -> UInt64? {
        before.flatMap { before in count.map { $0 - before } }
    }
}
