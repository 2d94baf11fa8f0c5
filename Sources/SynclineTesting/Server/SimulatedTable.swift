// A table of the simulated server: its rows, what lists may not show yet, and pending changes by other clients.

import SynclineCore
import SynclineGround
import SynclineWire

struct SimulatedTable: Sendable {
    /// A row before a write; nil if it did not exist.
    struct Earlier: Sendable {
        var id: String
        var row: TableRow?
        /// Lists show the earlier row until this many reads have been answered.
        var untilRead: Int
    }

    private(set) var rows: [String: TableRow] = [:]
    var pageLimit: Int?
    var precision: SimulatedServer.Precision
    var mutations: [SimulatedServer.Mutation]
    /// The number of reads since the table was set up.
    var reads = 0
    /// The latest writes, oldest first, for lists that lag.
    private var history: [Earlier] = []
    /// Writes that have not committed yet.
    private var uncommitted: [Earlier] = []
    /// The number of each row's latest change, and the tombstones of hard-deleted rows.
    private var numbers: [String: Int64] = [:]
    private var tombstones: [String: TableRow] = [:]

    init(
        pageLimit: Int? = nil, precision: SimulatedServer.Precision = .milliseconds,
        mutations: [SimulatedServer.Mutation] = []
    ) {
        self.pageLimit = pageLimit
        self.precision = precision
        self.mutations = mutations
    }

    subscript(id: String) -> TableRow? { rows[id] }

    mutating func set(_ row: TableRow?, _ id: String, change: Int64, lag: Int, lateBy reads: Int?) {
        if row == nil, var tombstone = rows[id] {
            tombstone.isDeleted = true
            tombstone.columns = .empty
            tombstones[id] = tombstone
            numbers[id] = change
        } else if row != nil {
            tombstones[id] = nil
            numbers[id] = change
        }
        let earlier = Earlier(id: id, row: rows[id], untilRead: self.reads + (reads ?? 0))
        if lag > 0 { history = history.suffix(lag - 1) + [earlier] }
        if reads != nil { uncommitted.append(earlier) }
        rows[id] = row
    }

    /// Makes all lists show all earlier writes.
    mutating func forgetHistory() {
        history = []
        uncommitted = []
    }

    // MARK: Changes

    /// The row that was changed last.
    var latest: TableRow? {
        numbers.max { $0.value < $1.value }.flatMap { rows[$0.key] }
    }

    /// Returns the tombstone of a hard-deleted row.
    func deleted(_ id: String) -> TableRow? { tombstones[id] }

    mutating func forgetDeletions() {
        for id in tombstones.keys { numbers[id] = nil }
        tombstones = [:]
    }

    /// Returns the changes after a cursor, in order.
    func changes(_ asked: ChangeRequest) -> [TableChange] {
        let range = (asked.since?.change ?? 0, asked.until?.change ?? .max)
        let found = numbers.filter { $0.value > range.0 && $0.value <= range.1 }.sorted { $0.value < $1.value }
        let filter = asked.filter?.asServersRead
        return found.compactMap { id, number in
            if let tombstone = tombstones[id] { return TableChange(number: number, row: tombstone, isInView: true) }
            return rows[id].map {
                TableChange(number: number, row: $0, isInView: filter?.matches($0, FilterWork(isServers: true)) ?? true)
            }
        }
    }

    /// Returns the rows that a list shows.
    mutating func visibleRows() -> [TableRow] {
        uncommitted.removeAll { $0.untilRead <= reads }
        if history.isEmpty && uncommitted.isEmpty { return Array(rows.values) }
        var rows = rows
        for earlier in uncommitted.reversed() { rows[earlier.id] = earlier.row }
        for earlier in history.reversed() { rows[earlier.id] = earlier.row }
        return Array(rows.values)
    }
}

extension SimulatedServer.State {
    /// Returns the next time and version of a row in a table.
    mutating func stamp(_ table: String) -> (Timestamp.Instant, String) {
        let precision = tables[table]?.precision ?? .milliseconds
        latest = precision.step(after: latest)
        writes += 1
        return (latest, nextVersion)
    }

    /// Formatted as the protocol's servers do.
    private var nextVersion: String {
        switch serverProtocol {
        case .zumo2: return Base64.encode(Array(String(writes).utf8))
        case .datasync3:
            let number = UInt64(writes)
            let bytes = [number &* 0x9e37_79b9_7f4a_7c15, number].flatMap { number in
                (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
            }
            return Base64.encode(bytes)
        }
    }

    /// Returns the stored spelling of an id if case is ignored; the id itself if there is no such row.
    func spelling(of id: String, in table: String) -> String {
        guard options.ignoresCase else { return id }
        return tables[table]?.rows.keys.first { IDComparison.ignoreCase.areEqual($0, id) } ?? id
    }

    /// Stores a row, or removes it.
    mutating func set(_ row: TableRow?, _ id: String, in table: String) {
        var lateBy: Int?
        if let late = options.lateCommits, late.every > 0, writes % late.every == 0 { lateBy = late.reads }
        change += 1
        tables[table, default: SimulatedTable()].set(row, id, change: change, lag: options.lag, lateBy: lateBy)
    }

    /// Stores a complete row from a test.
    mutating func put(_ value: Value, in table: String) {
        guard case .object(let members) = value, case .string(let given)? = value[member: "id"] else {
            preconditionFailure("a row of the simulated server must be an object with a string as id: \(value.json)")
        }
        let id = spelling(of: given, in: table)
        let precision = tables[table]?.precision ?? .milliseconds
        let existing = tables[table]?[id]
        // A row that was read from here, and perhaps changed, is a new write.
        let isRead = existing.map { value[member: "version"]?.text == $0.version } ?? false
        let givenTime = isRead ? nil : value[member: "updatedAt"]?.instant.map(precision.cut)
        let givenVersion = isRead ? nil : value[member: "version"]?.text
        writes += 1
        let time = givenTime ?? precision.step(after: latest)
        latest = max(latest, time)
        let row = TableRow(
            id: id, columns: Row(members.filter { $0.name != "id" && !Item.systemColumns.contains($0.name) }),
            createdAt: value[member: "createdAt"]?.instant ?? existing?.createdAt ?? time, updatedAt: time,
            version: givenVersion ?? nextVersion, isDeleted: value[member: "deleted"] == .bool(true))
        set(row, id, in: table)
    }

    /// Counts a read, and applies the changes that follow it.
    mutating func finishRead(of table: String) {
        tables[table, default: SimulatedTable()].reads += 1
        guard let reads = tables[table]?.reads else { return }
        for mutation in tables[table]?.mutations ?? [] where mutation.afterRequest == reads {
            for row in mutation.upsert { put(row, in: table) }
            for id in mutation.remove { set(nil, spelling(of: id, in: table), in: table) }
        }
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
        let unit: UInt32 = self == .milliseconds ? 1_000_000 : 1000
        return .init(seconds: instant.seconds, nanoseconds: instant.nanoseconds / unit * unit)
    }
}

extension Value {
    fileprivate var instant: Timestamp.Instant? {
        switch self {
        case .date(let date): date.instant
        case .string(let text): Timestamp(text)?.instant
        default: nil
        }
    }
}
