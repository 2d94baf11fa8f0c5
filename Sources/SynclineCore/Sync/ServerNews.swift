// A server's announcements of changes, and the times to listen: from the end of a complete round until the stream
// ends, and again after a pause and another round. It is told events; the driver listens and waits.

package struct ServerNews: Sendable {
    /// A server's change cursor, and the tables with changes since the one before; nil: any table.
    package struct Announcement: Hashable, Sendable {
        package var cursor: String
        package var tables: [String]?

        package init(_ cursor: String, tables: [String]? = nil) { (self.cursor, self.tables) = (cursor, tables) }

        /// Whether it is about a table. Servers know tables in any letter case.
        package func names(_ table: String) -> Bool {
            tables?.contains { $0.lowercased() == table.lowercased() } ?? true
        }
    }

    private enum Listening {
        case closed, open(heard: Int), resting
    }

    private var listening = Listening.closed
    private var latest: Announcement?
    /// The announcements since the latest round began, as one. They may not be part of that round.
    package private(set) var waiting: Announcement?
    /// How many streams in a row announced nothing but their beginning.
    private var emptyStreams = 0

    package init() {}

    package mutating func roundBegan() { waiting = nil }

    /// Returns whether to begin listening: false if it is already listening.
    package mutating func listen() -> Bool {
        guard case .closed = listening else { return false }
        listening = .open(heard: 0)
        return true
    }

    /// - Parameter isKnown: Whether the store has what is announced.
    package mutating func told(_ new: Announcement, isKnown: Bool = false) {
        if !isKnown, new != latest {
            var tables = new.tables
            if let waiting { tables = tables.flatMap { tables in waiting.tables.map { Array(Set($0 + tables)) } } }
            waiting = Announcement(new.cursor, tables: tables)
        }
        latest = new
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
