// The clock and the source of random identities, as a protocol so that tests can control both.

import SynclineGround

/// A wall clock and a source of random identities.
public protocol LogClock: Sendable {
    /// Returns the current wall-clock time.
    func now() -> WallTime
    /// Returns a new identity for a log.
    func newIdentity() -> LogIdentity
}

/// The system's clock and random source.
public struct SystemClock: LogClock {
    /// Creates the system clock.
    public init() {}

    public func now() -> WallTime {
        WallTime(rawValue: SystemSource.milliseconds())
    }

    public func newIdentity() -> LogIdentity {
        let chance = SystemSource.chance()
        return LogIdentity(high: chance.high, low: chance.low)
    }
}
