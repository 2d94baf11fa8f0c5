// The source of time and chance. Nothing else asks the system for them: each library has an interface of its own, which
// a test can replace, and which uses this.

import CLibrary

package enum SystemSource {
    /// The wall clock: milliseconds since 1970.
    package static func milliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// A clock that only goes forward, for how long something takes.
    package static func instant() -> ContinuousClock.Instant { .now }

    #if !canImport(Darwin)
        /// When some time will have passed, by a clock that only goes forward.
        package static func end(of duration: Duration) -> (seconds: Int, nanoseconds: Int) {
            var end = timespec()
            clock_gettime(CLOCK_MONOTONIC, &end)
            let rest = duration + .nanoseconds(end.tv_nsec)
            let (seconds, attoseconds) = rest.components
            return (end.tv_sec + Int(seconds), Int(attoseconds / 1_000_000_000))
        }
    #endif

    /// Blocks the calling thread, however the wall clock is set meanwhile.
    package static func block(microseconds: UInt32) { usleep(microseconds) }

    /// Sixteen bytes without a pattern.
    package static func chance() -> (high: UInt64, low: UInt64) {
        var generator = SystemRandomNumberGenerator()
        return (generator.next(), generator.next())
    }

    /// A number from 0 up to 1, without a pattern.
    package static func fraction() -> Double { Double.random(in: 0..<1) }
}
