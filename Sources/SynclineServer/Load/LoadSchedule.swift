// When clients send requests, and which of them are measured: after the warm-up, and not a client's first, which opens its
// connection.

struct LoadSchedule: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The beginning and the end of what is measured.
    let begin: Instant
    private let end: Instant?
    private var left: Int
    private(set) var isStopped = false
    private var latest: Instant

    init(_ plan: LoadPlan, at now: Instant) {
        begin = now + .seconds(plan.warmUp)
        end = plan.seconds.map { [begin] in begin + .seconds($0) }
        left = plan.requests ?? .max
        latest = begin
    }

    mutating func stop() { isStopped = true }

    /// Whether a client's next request is measured; nil if it sends no more.
    mutating func next(isFirst: Bool, at now: Instant) -> Bool? {
        if isStopped || left == 0 || end.map({ now >= $0 }) ?? false { return nil }
        if isFirst || now < begin { return false }
        left -= 1
        return true
    }

    /// Records the end of a measured request.
    mutating func ended(at now: Instant) { latest = max(latest, now) }

    /// The time that was measured, to the end of the last request.
    var measured: Duration { begin.duration(to: latest) }
}
