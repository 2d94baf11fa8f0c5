// When clients send requests, and which of them are measured: after the warm-up, and not a client's first, which opens its
// connection.

struct LoadSchedule: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The time in which requests may be measured.
    private let begin: Instant
    private let end: Instant?
    private var left: Int
    private(set) var isStopped = false
    /// The beginning of the first measured request, and the end of the last one.
    private var span: (first: Instant, last: Instant)?

    init(_ plan: LoadPlan, at now: Instant) {
        begin = now + .seconds(plan.warmUp)
        end = plan.seconds.map { [begin] in begin + .seconds($0) }
        left = plan.requests ?? .max
    }

    mutating func stop() { isStopped = true }

    /// Whether a client's next request is measured; nil if it sends no more.
    mutating func next(isFirst: Bool, at now: Instant) -> Bool? {
        if isStopped || left == 0 || end.map({ now >= $0 }) ?? false { return nil }
        if isFirst || now < begin { return false }
        left -= 1
        if span == nil { span = (now, now) }
        return true
    }

    /// Records the end of a measured request.
    mutating func ended(at now: Instant) {
        if let span, span.last < now { self.span = (span.first, now) }
    }

    /// The time that was measured.
    var measured: Duration { span.map { $0.first.duration(to: $0.last) } ?? .zero }
}
