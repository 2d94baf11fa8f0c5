// Says when a call is the one that was meant.

import SynclineGround

final class Countdown: Sendable {
    private let left: Mutex<Int>

    init(_ calls: Int) { left = Mutex(calls) }

    /// Whether the number of calls is used up, so that this is the one that was meant.
    var isZeroNow: Bool {
        left.withLock { left in
            defer { left -= 1 }
            return left == 0
        }
    }
}
