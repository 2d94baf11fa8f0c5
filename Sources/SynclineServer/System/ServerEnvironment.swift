// Time and randomness: everything that the server takes from its environment besides requests and rows. Tests replace
// both.

import SynclineCore
import SynclineGround

/// A clock and a source of randomness.
protocol ServerEnvironment: Sendable {
    /// Milliseconds since 1970.
    func now() -> Int64
    /// Sixteen random bytes.
    func chance() -> (high: UInt64, low: UInt64)
}

/// The system's clock and random numbers.
struct SystemServerEnvironment: ServerEnvironment {
    func now() -> Int64 { SystemSource.milliseconds() }

    func chance() -> (high: UInt64, low: UInt64) { SystemSource.chance() }
}

extension ContinuousClock.Instant {
    /// Now, by a clock that only goes forward. What decides by it takes it as an argument, which tests choose.
    static var present: Self { SystemSource.instant() }
}

extension ServerEnvironment {
    /// 32 hexadecimal digits.
    func newHexadecimal() -> String {
        let (high, low) = chance()
        return Hexadecimal.text(high, digits: 16) + Hexadecimal.text(low, digits: 16)
    }

    /// An id for a row, in the form of the protocol's servers: a UUID in lower case, or its digits alone.
    func newID(_ serverProtocol: ServerProtocol) -> String {
        let id = TimedID.text(milliseconds: now(), chance: chance(), isUpper: false)
        return serverProtocol == .datasync3 ? id.filter { $0 != "-" } : id
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
