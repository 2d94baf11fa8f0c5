// The door to time and chance: all that the server takes from the world besides requests and rows. A test owns both.

import SynclineCore

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A clock and a source of chance.
protocol Surroundings: Sendable {
    /// Milliseconds since 1970.
    func now() -> Int64
    /// Sixteen bytes without a pattern.
    func chance() -> (high: UInt64, low: UInt64)
}

/// The system's.
struct SystemSurroundings: Surroundings {
    init() {}

    func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    func chance() -> (high: UInt64, low: UInt64) {
        var generator = SystemRandomNumberGenerator()
        return (generator.next(), generator.next())
    }
}

extension Surroundings {
    /// 32 hexadecimal digits.
    func newHexadecimal() -> String {
        let (high, low) = chance()
        return Self.hexadecimal(high) + Self.hexadecimal(low)
    }

    /// An id for a row, in the form that the protocol's servers give it: a UUID in lower case, or its digits alone.
    func newID(_ serverProtocol: ServerProtocol) -> String {
        let id = TimedID.text(milliseconds: now(), chance: chance(), isUpper: false)
        return serverProtocol == .datasync3 ? id.filter { $0 != "-" } : id
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
