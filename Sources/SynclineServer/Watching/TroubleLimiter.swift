// Decides which failures are logged one by one: the first few of a kind at once, and for the others only their number.
// A missing database fails every request, and must not fill a disk with log lines.

struct TroubleLimiter: Sendable {
    private struct Period {
        var start: ContinuousClock.Instant
        var told = 0
        var leftOut = 0
    }

    private var periods: [String: Period] = [:]
    /// At most `most` failures of a kind are logged within `length`.
    static let (most, length) = (5, Duration.seconds(10))

    enum Verdict: Hashable {
        /// It is logged, preceded by the number of omitted ones.
        case told(leftOut: Int)
        /// The first that is not logged: at the end of the interval, the caller must ask for the number of omitted
        /// ones.
        case firstLeftOut
        case leftOut
    }

    mutating func judge(_ kind: String, now: ContinuousClock.Instant) -> Verdict {
        var period = periods[kind] ?? Period(start: now)
        defer { periods[kind] = period }
        if period.start + Self.length <= now {
            let leftOut = period.leftOut
            period = Period(start: now, told: 1)
            return .told(leftOut: leftOut)
        }
        if period.told < Self.most {
            period.told += 1
            return .told(leftOut: 0)
        }
        period.leftOut += 1
        return period.leftOut == 1 ? .firstLeftOut : .leftOut
    }

    /// Returns the number of omitted failures of each kind so far, and resets the counts.
    mutating func takeLeftOut() -> [(kind: String, count: Int)] {
        let leftOut = periods.filter { $0.value.leftOut > 0 }.map { (kind: $0.key, count: $0.value.leftOut) }
        for (kind, _) in leftOut { periods[kind]?.leftOut = 0 }
        return leftOut.sorted { $0.kind < $1.kind }
    }
}
