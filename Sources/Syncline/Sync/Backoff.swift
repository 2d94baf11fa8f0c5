// How long to wait before something is tried again.

import SynclineCore

enum Backoff {
    private static let first: Int64 = 500
    private static let longest: Int64 = 60_000

    /// The wait in milliseconds: what the server asks for, or twice as long with each attempt, half of it by chance, so
    /// that many clients do not come back at once. A machine has stopped already if the server asked for more than
    /// `limit`. A moment without the server's clock counts from the device's, which may be wrong: it holds if the wait is
    /// more than nothing and not more than `limit`.
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
