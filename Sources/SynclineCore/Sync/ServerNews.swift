// A server's announcements of changes, and the times to listen: from the end of a complete round until the stream
// ends, and again after a pause and another round. It is told events; the driver listens and waits.

package struct ServerNews: Sendable {
    private enum Listening {
        case closed, open(heard: Int), resting
    }

    private var listening = Listening.closed
    /// The latest change cursor the server announced.
    private var latest: String?
    /// The cursor announced before the round began.
    private var latestAtStart: String?
    /// How many streams in a row announced nothing but their beginning.
    private var emptyStreams = 0

    package init() {}

    package mutating func roundBegan() { latestAtStart = latest }

    /// The announcements during the round, which may not be part of it.
    package var toldMeanwhile: String? { latest == latestAtStart ? nil : latest }

    /// Returns whether to begin listening: false if it is already listening.
    package mutating func listen() -> Bool {
        guard case .closed = listening else { return false }
        listening = .open(heard: 0)
        return true
    }

    package mutating func told(_ cursor: String) {
        latest = cursor
        if case .open(let heard) = listening { listening = .open(heard: heard + 1) }
    }

    /// Called when the stream has ended. Returns how many in a row announced nothing new, which determines the
    /// pause; nil if nothing was announced at all, so that there was no stream.
    package mutating func streamEnded() -> Int? {
        guard case .open(let heard) = listening, heard > 0 else {
            listening = .closed
            return nil
        }
        listening = .resting
        emptyStreams = heard > 1 ? 1 : emptyStreams + 1
        return emptyStreams
    }

    /// Called after the pause: the next complete round listens again.
    package mutating func rested() { listening = .closed }
}
