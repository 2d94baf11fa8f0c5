// Computes the delay before a retry.

import SynclineCore

enum Backoff {
    private static let first: Int64 = 500
    private static let longest: Int64 = 60_000

    /// Returns the wait in milliseconds: what the server asks for, or a delay that doubles with each attempt and is
    /// half random, so that clients do not all return at once. The machines stop before this if the server asks for
    /// more than `limit`. An absolute time without the server's clock is measured by the device's clock, which may
    /// be wrong, so it is used only if the wait is positive and at most `limit`.
    static func milliseconds(
        attempt: Int, _ after: ServerReply.RetryAfter?, limit: Int64 = ServerReply.usualLongestWait, now: Int64,
        chance: Double
    ) -> Int64 {
        switch after {
        case .milliseconds(let wait)?: return max(0, wait)
        case .moment(let moment)?:
            let wait = moment.milliseconds &- now
            if wait > 0 && wait <= limit { return wait }
        case nil: break
        }
        let full = min(longest, first << Int64(min(max(attempt, 1) - 1, 16)))
        return full / 2 + Int64(Double(full / 2) * chance)
    }
}
