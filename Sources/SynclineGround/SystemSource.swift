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

    /// Blocks the calling thread for some milliseconds.
    package static func block(milliseconds: UInt32) { usleep(milliseconds * 1000) }

    /// Sixteen bytes without a pattern.
    package static func chance() -> (high: UInt64, low: UInt64) {
        var generator = SystemRandomNumberGenerator()
        return (generator.next(), generator.next())
    }

    /// A number from 0 up to 1, without a pattern.
    package static func fraction() -> Double { Double.random(in: 0..<1) }
}
