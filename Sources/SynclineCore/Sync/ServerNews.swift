// What a server told of its changes, and when to listen to it: from the end of a complete round until it falls silent, and
// again after a while and another round. It is told what happened; listening and waiting are the driver's.

package struct ServerNews: Sendable {
    private enum Ear {
        case closed, open(heard: Int), resting
    }

    private var ear = Ear.closed
    /// Where the order of changes stands on the server, as it told last.
    private var latest: String?
    /// What was told before the round began.
    private var latestAtStart: String?
    /// How many streams in a row told nothing but where they began.
    private var emptyStreams = 0

    package init() {}

    package mutating func roundBegan() { latestAtStart = latest }

    /// What was told while the round ran, and may not be part of it.
    package var toldMeanwhile: String? { latest == latestAtStart ? nil : latest }

    /// Whether to listen from now on: nobody does.
    package mutating func listen() -> Bool {
        guard case .closed = ear else { return false }
        ear = .open(heard: 0)
        return true
    }

    package mutating func told(_ cursor: String) {
        latest = cursor
        if case .open(let heard) = ear { ear = .open(heard: heard + 1) }
    }

    /// The stream has ended. How many in a row told nothing new, by which it is known how long to rest; nil for none: where
    /// nothing was told at all there was no stream, and nobody misses it.
    package mutating func fellSilent() -> Int? {
        guard case .open(let heard) = ear, heard > 0 else {
            ear = .closed
            return nil
        }
        ear = .resting
        emptyStreams = heard > 1 ? 1 : emptyStreams + 1
        return emptyStreams
    }

    /// The rest is over: the next complete round, which finds out whether the server is there, listens again.
    package mutating func rested() { ear = .closed }
}
