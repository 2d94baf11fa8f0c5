// Limits the requests of an address: each address has a bucket that fills at a steady rate and holds the requests of
// one second.

import SynclineGround

final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var time: ContinuousClock.Instant
    }

    private let perSecond: Double
    private let buckets = Mutex([String: Bucket]())
    /// Full buckets carry no information; they are removed above this number.
    private static let limit = 10_000

    init(perSecond: Int) {
        self.perSecond = Double(perSecond)
    }

    func admits(_ client: String, now: ContinuousClock.Instant = .present) -> Bool {
        wait(client, atMost: .zero, now: now) != nil
    }

    /// How long a request must wait until it is admitted; nil if that is longer than a limit.
    func wait(_ client: String, atMost limit: Duration, now: ContinuousClock.Instant = .present) -> Duration? {
        buckets.withLock { buckets in
            if buckets.count >= RateLimiter.limit, buckets[client] == nil {
                buckets = buckets.filter { filled($0.value, now) < perSecond }
            }
            let tokens = buckets[client].map { filled($0, now) } ?? perSecond
            // A bucket that owes tokens gives them to those that wait.
            let wait = Duration.seconds(max(0, 1 - tokens) / perSecond)
            let isAdmitted = wait <= limit
            buckets[client] = Bucket(tokens: isAdmitted ? tokens - 1 : tokens, time: now)
            return isAdmitted ? wait : nil
        }
    }

    private func filled(_ bucket: Bucket, _ now: ContinuousClock.Instant) -> Double {
        let seconds = bucket.time.duration(to: now) / .seconds(1)
        return min(perSecond, bucket.tokens + seconds * perSecond)
    }
}
