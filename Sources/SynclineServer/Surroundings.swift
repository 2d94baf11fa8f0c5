// Time and randomness: everything that the server takes from its environment besides requests and rows. Tests replace
// both.

import SynclineCore

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A clock and a source of randomness.
protocol Surroundings: Sendable {
    /// Milliseconds since 1970.
    func now() -> Int64
    /// Sixteen random bytes.
    func chance() -> (high: UInt64, low: UInt64)
}

/// The system's clock and random numbers.
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

    /// An id for a row, in the form of the protocol's servers: a UUID in lower case, or its digits alone.
    func newID(_ serverProtocol: ServerProtocol) -> String {
        let id = TimedID.text(milliseconds: now(), chance: chance(), isUpper: false)
        return serverProtocol == .datasync3 ? id.filter { $0 != "-" } : id
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
