// Decides which replicas are asked for a read. A replica says itself how far it has followed; what it said last spares
// questions in vain. One that lacks what the primary has had for long answers nothing, even to readers who have seen less.

struct ReplicaChoice: Sendable {
    /// What became of a read.
    enum Outcome: String, Sendable, CaseIterable {
        case answered
        /// The replica lacked something.
        case late
        case failed
    }

    private struct Replica {
        /// The latest change that it had, and when it said so.
        var change: Int64 = 0
        var asked: ContinuousClock.Instant?
        /// When it is asked again after a failure.
        var silentUntil: ContinuousClock.Instant?
        var counts: [Outcome: Int] = [:]
    }

    private var replicas: [Replica]
    private var turn = 0
    /// The primary's latest change that is known, and when that was.
    private var latest: Int64 = 0
    private var epoch = ""
    /// When the primary was looked at, and when it was known last.
    private var (looked, known): (ContinuousClock.Instant?, ContinuousClock.Instant?)
    /// The change that each replica must have, and the one that it must have a little later.
    private var due: Int64 = 0
    private var next: (change: Int64, known: ContinuousClock.Instant)?

    /// A change must have reached a replica after twice this time.
    static let delay = Duration.milliseconds(2500)
    /// The primary is looked at so often, as long as replicas answer.
    static let look = Duration.seconds(1)
    /// The time until a replica is asked again that failed, or that lacked a change.
    static let (silence, pause) = (Duration.seconds(1), Duration.milliseconds(2))

    init(count: Int) { replicas = Array(repeating: Replica(), count: count) }

    /// The replicas that may have a change, in the order in which to ask them.
    mutating func candidates(for change: Int64, now: ContinuousClock.Instant) -> [Int] {
        advance(now)
        turn = (turn + 1) % max(1, replicas.count)
        let wanted = needed(change)
        let usable = replicas.indices.map { ($0 + turn) % replicas.count }.filter { place in
            let replica = replicas[place]
            if let end = replica.silentUntil, end > now { return false }
            guard let asked = replica.asked, replica.change < wanted else { return true }
            return asked.duration(to: now) >= ReplicaChoice.pause
        }
        // Those that had it when they were asked last come first.
        return usable.filter { replicas[$0].change >= wanted } + usable.filter { replicas[$0].change < wanted }
    }

    /// The change that a replica must have for a reader who has seen one.
    func needed(_ change: Int64) -> Int64 { max(change, due) }

    /// Notes the latest change that a replica has, and whether that was enough.
    mutating func note(_ place: Int, _ outcome: Outcome, has change: Int64, now: ContinuousClock.Instant) {
        (replicas[place].change, replicas[place].asked, replicas[place].silentUntil) = (change, now, nil)
        count(place, outcome)
    }

    mutating func noteSilence(_ place: Int, now: ContinuousClock.Instant) {
        replicas[place].silentUntil = now + ReplicaChoice.silence
    }

    mutating func count(_ place: Int, _ outcome: Outcome) { replicas[place].counts[outcome, default: 0] += 1 }

    func count(_ outcome: Outcome, of place: Int) -> Int { replicas[place].counts[outcome] ?? 0 }

    mutating func notePrimary(_ change: Int64, _ epoch: String, now: ContinuousClock.Instant) {
        if epoch != self.epoch { (self.epoch, latest, due, next) = (epoch, 0, 0, nil) }
        latest = max(latest, change)
        // After a pause, nothing tells how late a replica is.
        if known.map({ $0.duration(to: now) > ReplicaChoice.delay * 2 }) ?? true { (due, next) = (latest, nil) }
        (looked, known) = (now, now)
        advance(now)
        if next == nil, latest > due { next = (latest, now) }
    }

    enum Look {
        case none
        /// In the background.
        case soon
        /// Before the read: nothing is known of the primary.
        case now
    }

    /// Whether it is time to look at the primary. Only one caller is told so.
    mutating func look(now: ContinuousClock.Instant) -> Look {
        if let looked, looked.duration(to: now) < ReplicaChoice.look { return .none }
        let isBlind = looked.map { $0.duration(to: now) > ReplicaChoice.delay } ?? true
        looked = now
        return isBlind ? .now : .soon
    }

    private mutating func advance(_ now: ContinuousClock.Instant) {
        guard let step = next, step.known.duration(to: now) >= ReplicaChoice.delay else { return }
        due = step.change
        next = latest > due ? (latest, now) : nil
    }
}
