// How long to wait before something is tried again.

import SynclineCore

enum Backoff {
    private static let first: Int64 = 500
    private static let longest: Int64 = 60_000

    /// The wait in milliseconds: what the server asks for, or twice as long with each attempt, half of it by chance, so
    /// that many clients do not come back at once.
    static func milliseconds(
        attempt: Int, _ after: ServerReply.RetryAfter?, now: Int64, chance: Double
    ) -> Int64 {
        switch after {
        case .milliseconds(let wait)?: return max(0, min(wait, ServerReply.longestWait))
        case .moment(let moment)?: return max(0, min(moment.milliseconds &- now, ServerReply.longestWait))
        case nil: break
        }
        let full = min(longest, first << Int64(min(max(attempt, 1) - 1, 16)))
        return full / 2 + Int64(Double(full / 2) * chance)
    }
}
