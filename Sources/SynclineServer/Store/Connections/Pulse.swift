// Decides whether a database answers at all. One that hangs occupies every thread that waits for it. So after a
// second of waiting, it is checked on a separate connection; once it is found silent, no request waits for it until it
// answers again. The decision is a pure function of the observations; other code makes the checks.

/// The known state of a database's pulse.
struct Pulse: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        /// It answered the last check.
        case proceed
        /// It did not answer, and it is too early to check again.
        case refuse
        /// The caller must check now, and record the result.
        case probe
    }

    /// The number of consecutive misses.
    private var misses = 0
    private var isAsking = false
    private var asked: ContinuousClock.Instant?

    /// Whether it missed the last check.
    var hasMissed: Bool { misses > 0 }

    /// One miss may be a hiccup of a busy machine.
    var isSilent: Bool { misses >= 2 }

    /// The interval between checks of a silent database.
    static let pause = Duration.seconds(1)

    /// - Parameter doubts: Whether there is a reason to check although it answered last time.
    mutating func step(doubts: Bool, now: ContinuousClock.Instant) -> Step {
        let isTime = isSilent ? asked.map { $0.duration(to: now) >= Pulse.pause } ?? true : doubts
        guard isTime, !isAsking else { return isSilent ? .refuse : .proceed }
        (isAsking, asked) = (true, now)
        return .probe
    }

    mutating func note(answered: Bool, now: ContinuousClock.Instant) {
        (isAsking, asked, misses) = (false, now, answered ? 0 : misses + 1)
    }
}
