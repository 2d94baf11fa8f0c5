// What a table of the simulated server has besides its rows: writes that lists do not show yet, and pending changes by
// other clients.

import SynclineCore
import SynclineTables
import SynclineWire

struct SimulatedTable: Sendable {
    /// A row before a write; nil if it did not exist.
    struct Earlier: Sendable {
        var id: String
        var row: TableRow?
        /// Lists show the earlier row until this many reads have been answered.
        var untilRead: Int
    }

    var pageLimit: Int?
    var precision = SimulatedServer.Precision.milliseconds
    var mutations: [SimulatedServer.Mutation] = []
    /// The number of reads since the table was set up.
    var reads = 0
    /// The latest writes, oldest first, for lists that lag.
    private(set) var history: [Earlier] = []
    /// Writes that have not committed yet.
    private(set) var uncommitted: [Earlier] = []

    /// Notes the row that a write replaces.
    /// - Parameter number: The number of the write on this server.
    mutating func note(_ id: String, before row: TableRow?, _ number: Int, _ options: SimulatedServer.Options) {
        var earlier = Earlier(id: id, row: row, untilRead: reads)
        if options.lag > 0 { history = history.suffix(options.lag - 1) + [earlier] }
        guard let late = options.lateCommits, late.every > 0, number % late.every == 0 else { return }
        earlier.untilRead += late.reads
        uncommitted.append(earlier)
    }

    /// Makes all lists show all earlier writes.
    mutating func forgetHistory() {
        history = []
        uncommitted = []
    }

    /// Returns the rows that a list shows.
    mutating func visible(_ all: [TableRow]) -> [TableRow] {
        uncommitted.removeAll { $0.untilRead <= reads }
        if history.isEmpty && uncommitted.isEmpty { return all }
        var rows = Dictionary(all.map { ($0.id, $0) }) { $1 }
        for earlier in uncommitted.reversed() + history.reversed() { rows[earlier.id] = earlier.row }
        return Array(rows.values)
    }
}

extension SimulatedServer.Precision {
    /// Returns the earliest time that the next row can have.
    func step(after instant: Timestamp.Instant) -> Timestamp.Instant {
        var next = cut(instant)
        next.nanoseconds += self == .milliseconds ? 1_000_000 : 300_000
        if next.nanoseconds >= 1_000_000_000 {
            next.nanoseconds -= 1_000_000_000
            next.seconds += 1
        }
        return next
    }

    /// Returns a time as the table stores it.
    func cut(_ instant: Timestamp.Instant) -> Timestamp.Instant {
        Timestamp(kept: instant, decimals: self == .milliseconds ? 3 : 6).instant
    }
}
