// Whether a database answers at all. One that stands still takes every thread that asks it: so who has waited for a second
// has it asked on a connection of its own, and once it is found silent nobody waits for it, until it answers again. What is
// decided here is a function of what was seen; who asks is elsewhere.

/// What is known of a database's pulse.
struct Pulse: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        /// It answered last time.
        case goOn
        /// It did not, and it is too early to ask again.
        case refuse
        /// Whoever is told this asks, and notes what came of it.
        case probe
    }

    /// How often in a row it did not answer.
    private var misses = 0
    private var isAsking = false
    private var asked: ContinuousClock.Instant?

    /// Whether it did not answer last time.
    var hasMissed: Bool { misses > 0 }

    /// One miss may be a hiccup of a busy machine.
    var isSilent: Bool { misses >= 2 }

    /// One that is silent is asked so often.
    static let pause = Duration.seconds(1)
    /// One that does not answer within this time has missed.
    static let patience = Duration.milliseconds(700)

    /// - Parameter doubts: Whether there is a reason to ask although it answered last time.
    mutating func step(doubts: Bool, now: ContinuousClock.Instant) -> Step {
        let isTime = isSilent ? asked.map { $0.duration(to: now) >= Pulse.pause } ?? true : doubts
        guard isTime, !isAsking else { return isSilent ? .refuse : .goOn }
        (isAsking, asked) = (true, now)
        return .probe
    }

    mutating func note(answered: Bool, now: ContinuousClock.Instant) {
        (isAsking, asked, misses) = (false, now, answered ? 0 : misses + 1)
    }
}
