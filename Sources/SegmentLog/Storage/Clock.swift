// The door to time and chance. The log needs a wall clock for the time of its frames and random bits for identities;
// both come from here, so that a test owns them.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Time and chance, as the log asks for them.
public protocol LogClock: Sendable {
    /// The wall clock now.
    func now() -> WallTime
    /// A new identity for a log.
    func newIdentity() -> LogIdentity
}

/// The system's clock and random source.
public struct SystemClock: LogClock {
    /// The system's own.
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
