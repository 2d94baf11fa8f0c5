// Time and randomness of the system.

import CLibrary
import SynclineGround
import SynclineTables

/// The system's clock and random numbers.
struct SystemServerEnvironment: ServerEnvironment {
    func now() -> Int64 { SystemSource.milliseconds() }

    func chance() -> (high: UInt64, low: UInt64) { SystemSource.chance() }

    /// Lets a task wait, or until it is cancelled.
    func pause(_ duration: Duration) async { try? await Task.sleep(for: duration) }
}

extension ContinuousClock.Instant {
    /// Now, by a clock that only goes forward. What decides by it takes it as an argument, which tests choose.
    static var present: Self { SystemSource.instant() }
}

extension WorkLimit {
    convenience init(seconds: Int) { self.init(seconds: seconds) { .present } }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }

    #if !canImport(Darwin)
        /// When it will have passed, by a clock that only goes forward.
        var end: timespec {
            let (seconds, nanoseconds) = SystemSource.end(of: max(self, .zero))
            return timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        }
    #endif

    /// Blocks the calling thread for as long, a second at most, however the wall clock is set meanwhile.
    func block() { SystemSource.block(microseconds: UInt32(clamping: Int64(self / .microseconds(1)))) }
}
