// Decides which listeners hear of which changes, and when the store is asked for them. It is told listeners, marks and
// times; the hub asks and sends. Pure.

import SynclineGround
import SynclineTables
import SynclineWire

struct EventPlan<Listener: Hashable & Sendable>: Sendable {
    /// The listeners by their tables, and for each the number of rounds in which it heard nothing.
    private var groups: [Set<String>: [Listener: Int]] = [:]
    private var tables: [Listener: Set<String>] = [:]
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

    var count: Int { tables.count }
    var listeners: [Listener] { Array(tables.keys) }

    /// Adds a listener of some tables. Returns its first event, if the mark is known: it names no tables, because
    /// what the listener has read is not known.
    mutating func add(_ listener: Listener, _ wanted: Set<String>) -> ChangeEvent? {
        // Equal sets share their memory.
        let shared = groups.index(forKey: wanted).map { groups.keys[$0] } ?? wanted
        groups[shared, default: [:]][listener] = 0
        tables[listener] = shared
        if let mark { return ChangeEvent(ChangeNews(mark).cursor, nil) }
        new.insert(listener)
        return nil
    }

    mutating func remove(_ listener: Listener) {
        new.remove(listener)
        guard let wanted = tables.removeValue(forKey: listener) else { return }
        groups[wanted]?[listener] = nil
        if groups[wanted]?.isEmpty ?? false { groups[wanted] = nil }
    }

    /// Called when the store is no longer asked: later listeners wait for the next one.
    mutating func forget() { mark = nil }

    /// Takes what changed since the mark. Returns the events with their listeners: a listener gets one if the news names
    /// one of its tables.
    mutating func take(_ news: ChangeNews) -> [(event: ChangeEvent, listeners: [Listener])] {
        let isMoved = mark.map { !$0.isAt(news.mark) } ?? true
        mark = news.mark
        var told: [Set<String>?: [Listener]] = [:]
        if !new.isEmpty { told[nil] = Array(new) }
        for (wanted, members) in groups where isMoved {
            let names = news.tables.map { wanted.intersection($0) }
            if names?.isEmpty ?? false { continue }
            told[names, default: []] += new.isEmpty ? Array(members.keys) : members.keys.filter { !new.contains($0) }
        }
        new = []
        for listener in told.values.joined() { tables[listener].map { groups[$0]?[listener] = 0 } }
        let cursor = news.cursor
        return told.map { (ChangeEvent(cursor, $0), $1) }
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
        if isWoken || tables.isEmpty { return nil }
        isWoken = true
        return restEnd.map { max(.zero, now.duration(to: $0)) } ?? .zero
    }

    /// Called when that time is over: later commits are not part of the answer.
    mutating func begin() { isWoken = false }

    /// Called when a question was answered and the events are sent.
    mutating func end(began: ContinuousClock.Instant, answered: ContinuousClock.Instant, events: Int) {
        restEnd = began + max(Self.rest, began.duration(to: answered) * 4, Self.cost * events * 2)
    }

    /// Whether others wait a moment after some events: 1,000 are sent at once, and then 500 at a time. Listeners ask for
    /// the changes as soon as they hear of them; together, thousands would wait too long for each other.
    static func isPause(after sent: Int) -> Bool { sent >= 1000 && sent.isMultiple(of: 500) }
}
