// What listeners hear of commits: how long after its answer each listener hears of a write.

import SynclineWire

struct LoadNews: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Listener: Sendable {
        var events = ServerEvents()
        /// The latest change that it has heard of.
        var heard: Int64 = 0
        /// Commits that it has not heard of.
        var waiting: [(change: Int64, at: Instant)] = []
    }

    private var listeners: [Listener]

    init(listeners count: Int) { listeners = Array(repeating: Listener(), count: count) }

    /// Commits that were not heard of, for each listener.
    var unheard: Int { listeners.reduce(0) { $0 + $1.waiting.count } }

    /// A write was answered; returns how many listeners heard of it before.
    mutating func committed(_ change: Int64, at now: Instant) -> Int {
        var count = 0
        for place in listeners.indices {
            if listeners[place].heard >= change {
                count += 1
            } else {
                listeners[place].waiting.append((change, now))
            }
        }
        return count
    }

    /// A listener's stream begins.
    mutating func begin(_ listener: Int) { listeners[listener].events = ServerEvents() }

    /// A listener got a piece of its stream; returns how long ago the commits were that it tells of.
    mutating func take(_ piece: [UInt8], _ listener: Int, at now: Instant) -> [Duration] {
        let changes = listeners[listener].events.take(piece).compactMap { event in
            event.name == "change" ? ChangeCursor(event.data)?.change : nil
        }
        guard let latest = changes.max(), latest > listeners[listener].heard else { return [] }
        listeners[listener].heard = latest
        var ages: [Duration] = []
        listeners[listener].waiting.removeAll { commit in
            if commit.change > latest { return false }
            ages.append(commit.at.duration(to: now))
            return true
        }
        return ages
    }
}
