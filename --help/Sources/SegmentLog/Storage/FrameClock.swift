// A clock that shows a given time: copies keep the times of the original records.

import SynclineGround

package final class FrameClock: LogClock {
    private let time = Mutex(SystemClock().now())

    package init() {}

    package func set(_ now: WallTime) {
        time.withLock { $0 = now }
    }

    package func now() -> WallTime {
        time.withLock { $0 }
    }

    package func newIdentity() -> LogIdentity {
        SystemClock().newIdentity()
    }
}
