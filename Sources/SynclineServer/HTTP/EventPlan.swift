// Decides which listeners hear of which changes, and when the store is asked for them. It is told listeners, marks and
// times; the hub asks and sends. Pure.

import SynclineTables
import SynclineWire

struct EventPlan<Listener: Hashable & Sendable>: Sendable {
    /// The listeners by what they want to hear, and for each the number of rounds in which it heard nothing.
    private var groups: [EventInterest: [Listener: Int]] = [:]
    private var interests: [Listener: EventInterest] = [:]
    /// How many listeners each caller has whose buckets matter.
    private var subjects: [String: Int] = [:]
    /// The buckets of callers as of the mark, and as of the news to come.
    private var known: [String: CallerBuckets] = [:]
    private var learnt: [String: CallerBuckets] = [:]
    /// Those that have heard nothing yet.
    private var new: Set<Listener> = []
    /// The latest known change mark.
    private(set) var mark: ChangeMark?
    /// Whether the store will be asked soon, and when it may be asked again.
    private var isWoken = false
    private var restEnd: ContinuousClock.Instant?
    /// The least time between two questions.
    static var rest: Duration { .milliseconds(5) }
    /// What one event costs the server. Listeners may cost it half of a processor, and questions a quarter.
    static var cost: Duration { .microseconds(10) }
    /// The number of rounds after which a listener gets a comment.
    static var quietLimit: Int { 75 }

    var count: Int { interests.count }
    var listeners: [Listener] { Array(interests.keys) }

    /// Adds a listener. Returns its first event, if the mark is known: it names no tables, because what the listener has
    /// read is not known.
    mutating func add(_ listener: Listener, _ wanted: EventInterest) -> ChangeEvent? {
        // Equal sets share their memory.
        let shared = groups.index(forKey: wanted).map { groups.keys[$0] } ?? wanted
        groups[shared, default: [:]][listener] = 0
        interests[listener] = shared
        if let subject = shared.subject { subjects[subject, default: 0] += 1 }
        if let mark { return ChangeEvent(ChangeNews(mark).cursor, nil) }
        new.insert(listener)
        return nil
    }

    mutating func remove(_ listener: Listener) {
        new.remove(listener)
        guard let wanted = interests.removeValue(forKey: listener) else { return }
        groups[wanted]?[listener] = nil
        if groups[wanted]?.isEmpty ?? false { groups[wanted] = nil }
        guard let subject = wanted.subject, let count = subjects[subject] else { return }
        subjects[subject] = count > 1 ? count - 1 : nil
        if count == 1 { (known[subject], learnt[subject]) = (nil, nil) }
    }

    /// Called when the store is no longer asked: later listeners wait for the next one.
    mutating func forget() { (mark, known) = (nil, [:]) }

    /// The callers whose buckets must be known to tell news, and the tables.
    func questions(_ news: ChangeNews) -> [String: Set<String>] {
        var questions: [String: Set<String>] = [:]
        for interest in groups.keys {
            guard let subject = interest.subject else { continue }
            let asked = interest.tables.filter { table in
                guard let news = news.rights[table] else { return false }
                return news.changesRights || known[subject]?[table] == nil
            }
            if !asked.isEmpty { questions[subject, default: []].formUnion(asked) }
        }
        return questions
    }

    /// Takes the buckets of a caller at the mark of the news to come, unless its listeners left meanwhile.
    mutating func learn(_ buckets: CallerBuckets, of subject: String) {
        if subjects[subject] != nil { learnt[subject] = buckets }
    }

    /// The tables of an interest that news names; nil if any may have changed.
    private func names(_ news: ChangeNews, _ interest: EventInterest) -> Set<String>? {
        guard let changed = news.tables else { return nil }
        return interest.tables.intersection(changed).filter { table in
            guard let subject = interest.subject, let rights = news.rights[table] else { return true }
            return rights.concerns(known[subject]?[table], learnt[subject]?[table])
        }
    }

    /// Takes what changed since the mark. Returns the events with their listeners: a listener gets one if the news names
    /// one of its tables, and concerns the caller.
    mutating func take(_ news: ChangeNews) -> [(event: ChangeEvent, listeners: [Listener])] {
        let isMoved = mark.map { !$0.isAt(news.mark) } ?? true
        mark = news.mark
        defer { takeBuckets(news) }
        var told: [Set<String>?: [Listener]] = [:]
        if !new.isEmpty { told[nil] = Array(new) }
        for (wanted, members) in groups where isMoved {
            let names = names(news, wanted)
            if names?.isEmpty ?? false { continue }
            told[names, default: []] += new.isEmpty ? Array(members.keys) : members.keys.filter { !new.contains($0) }
        }
        new = []
        for listener in told.values.joined() { interests[listener].map { groups[$0]?[listener] = 0 } }
        let cursor = news.cursor
        return told.map { (ChangeEvent(cursor, $0), $1) }
    }

    /// Keeps what is known of callers' buckets: what news may have changed was learnt again, or is forgotten.
    private mutating func takeBuckets(_ news: ChangeNews) {
        if known.isEmpty, learnt.isEmpty { return }
        if let changed = news.tables {
            let doubtful = changed.filter { news.rights[$0]?.changesRights ?? true }
            if !doubtful.isEmpty {
                for subject in known.keys {
                    known[subject]?.keys.filter(doubtful.contains).forEach { known[subject]?[$0] = nil }
                }
            }
        } else {
            known = [:]
        }
        for (subject, buckets) in learnt { known[subject, default: [:]].merge(buckets) { $1 } }
        learnt = [:]
    }

    /// Counts a round. Returns the listeners that heard nothing for long.
    mutating func endRound() -> [Listener] {
        var quiet: [Listener] = []
        for group in groups.values.indices {
            for place in groups.values[group].values.indices {
                groups.values[group].values[place] += 1
                guard groups.values[group].values[place] >= Self.quietLimit else { continue }
                groups.values[group].values[place] = 0
                quiet.append(groups.values[group].keys[place])
            }
        }
        return quiet
    }

    // MARK: Times

    /// Called at a commit. Returns the time until the store is to be asked; nil if it will be asked anyway.
    mutating func wake(now: ContinuousClock.Instant) -> Duration? {
        if isWoken || interests.isEmpty { return nil }
        isWoken = true
        return restEnd.map { max(.zero, now.duration(to: $0)) } ?? .zero
    }

    /// Called when that time is over: later commits are not part of the answer.
    mutating func begin() { isWoken = false }

    /// Called when a question was answered and the events are sent.
    mutating func end(began: ContinuousClock.Instant, answered: ContinuousClock.Instant, events: Int) {
        restEnd = began + max(Self.rest, began.duration(to: answered) * 4, Self.cost * events * 2)
    }

    /// The listeners of an event in parts, and whether each waits a moment: 1,000 are told at once, and then 500 at a time.
    /// They ask for the changes as soon as they hear of them; together, thousands would wait too long for each other.
    static func parts(
        of listeners: [Listener], after told: Int
    ) -> [(listeners: ArraySlice<Listener>, waits: Bool)] {
        var parts: [(ArraySlice<Listener>, Bool)] = []
        var (rest, told) = (listeners[...], told)
        while !rest.isEmpty {
            let part = rest.prefix(500 - told % 500)
            parts.append((part, told >= 1000 && told.isMultiple(of: 500)))
            rest = rest.dropFirst(part.count)
            told += part.count
        }
        return parts
    }
}
