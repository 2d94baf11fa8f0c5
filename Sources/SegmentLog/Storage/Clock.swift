// The clock and the source of random identities, as a protocol so that tests can control both.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

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
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(rawValue: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    public func newIdentity() -> LogIdentity {
        var generator = SystemRandomNumberGenerator()
        return LogIdentity(high: generator.next(), low: generator.next())
    }
}
