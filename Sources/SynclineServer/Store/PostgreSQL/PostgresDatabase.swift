// A PostgreSQL database, which any number of servers may share: they have no state of their own, and the writers of all
// of them queue for the row that supplies the change numbers.

import CPostgres
import SynclineGround
import SynclineTables

final class PostgresDatabase: SQLDatabase {
    let dialect = SQLDialect.postgres
    let writesAtATime: Int
    /// Two transactions of writes, and ticks between them. Readers leave these connections to them.
    private let writers: ConnectionPool<PostgresConnection>
    private let readers: ConnectionPool<PostgresConnection>
    private let watch: PostgresWatch
    private let interruption = Interruption()
    private let listening = Mutex<PostgresListening?>(nil)
    private let url: String

    /// - Parameter isWritten: Whether some of the connections are left to writers.
    init(
        url: String, connections: Int = 8, limits: DatabaseLimits = DatabaseLimits(), isWritten: Bool = true
    ) throws(StoreFailure) {
        let watch = PostgresWatch(url, limits, interruption)
        let waits = PostgresWaitLimits(limits: limits, interruption: interruption) { watch.isAnswering(doubts: true) }
        // Checks at once that the database can be reached.
        _ = try PostgresConnection(url: url, waits: waits)
        (self.watch, self.url) = (watch, url)
        func pool(_ limit: Int) -> ConnectionPool<PostgresConnection> {
            ConnectionPool(limit: max(1, limit), timeout: limits.turn) { () throws(StoreFailure) in
                try PostgresConnection(url: url, waits: waits)
            }
        }
        let forWriters = isWritten ? min(3, connections / 2) : 0
        writesAtATime = max(1, forWriters - 1)
        (writers, readers) = (pool(forWriters), pool(connections - forWriters))
    }

    /// A connection may be lost while it is used: reads are then repeated once on another.
    func read<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        var isLost = false
        do throws(StoreFailure) {
            return try lend(readers, body) { isLost = $0.isLost }
        } catch {
            guard isLost else { throw error }
            return try lend(readers, body) { _ in }
        }
    }

    func write<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        try lend(writers, body) { _ in }
    }

    private func lend<Result>(
        _ pool: ConnectionPool<PostgresConnection>, _ body: (any SQLConnection) throws(StoreFailure) -> Result,
        _ look: (PostgresConnection) -> Void
    ) throws(StoreFailure) -> Result {
        try WorkLimit.current?.check()
        guard watch.isAnswering(doubts: false) else { throw PostgresWatch.standsStill }
        return try pool.withConnection(
            isGood: { connection in
                look(connection)
                return connection.isGood
            },
            { connection throws(StoreFailure) in try body(connection) })
    }

    func check() throws(StoreFailure) { try watch.check() }

    func checkWrites() throws(StoreFailure) {
        try watch.check()
        if watch.isReadOnly { throw .busy(FailureReason(.readOnly, "PostgreSQL is a standby, or read-only")) }
    }

    func interrupt() { interruption.cut() }

    func listen(to channel: String, _ body: (@Sendable (Int64) -> Void)?) {
        listening.withLock { listening in
            listening?.end()
            listening = body.map { PostgresListening(url, channel, interruption, $0) }
        }
    }

    func rest() {
        writers.rest()
        readers.rest()
        watch.rest()
    }

    func close() {
        listening.withLock { $0?.end() }
        writers.drain()
        readers.drain()
        watch.drain()
    }

    var pools: [PoolUse] { [writers.use("writers"), readers.use("readers")] }
}

/// Checks whether the database answers, on a connection that nothing else waits for.
final class PostgresWatch: Sendable {
    private let pulse = Mutex(Pulse())
    /// Whether the last check found that nothing can be written.
    private let readOnly = Atomic(false)
    private let pool: ConnectionPool<PostgresConnection>

    init(_ url: String, _ limits: DatabaseLimits, _ interruption: Interruption) {
        let limits = DatabaseLimits(connect: limits.check, statement: limits.check, turn: .zero)
        // The check does not count against the time of the request that triggers it.
        let waits = PostgresWaitLimits(limits: limits, interruption: interruption, isForRequests: false)
        pool = ConnectionPool(limit: 1, timeout: limits.turn) { () throws(StoreFailure) in
            try PostgresConnection(url: url, waits: waits)
        }
    }

    static let standsStill = StoreFailure.busy(FailureReason(.timedOut, "PostgreSQL does not respond"))

    func drain() { pool.drain() }
    func rest() { pool.rest() }

    var isReadOnly: Bool { readOnly.load(ordering: .relaxed) }

    /// Whether waiting for the database makes sense. If there are doubts, it is checked, unless a check is running.
    func isAnswering(doubts: Bool) -> Bool {
        switch pulse.withLock({ $0.step(doubts: doubts, now: .present) }) {
        case .proceed: return true
        case .refuse: return false
        case .probe:
            _ = ask()
            return pulse.withLock { !$0.isSilent }
        }
    }

    /// Throws the reason why the store can't be read.
    func check() throws(StoreFailure) {
        switch pulse.withLock({ $0.step(doubts: true, now: .present) }) {
        case .proceed:
            // Another check is running. The result of the last one is known.
            if pulse.withLock({ $0.hasMissed }) { throw PostgresWatch.standsStill }
        case .refuse: throw PostgresWatch.standsStill
        case .probe: if let failure = ask() { throw failure }
        }
    }

    /// A database that reports an error does answer. One that can't be reached has missed: if it hangs with a full
    /// queue of connections, this shows at once.
    private func ask() -> StoreFailure? {
        var failure: StoreFailure?
        do throws(StoreFailure) {
            try pool.withConnection(isGood: { $0.isGood }) { connection throws(StoreFailure) in
                try connection.run(StateSQL.probe)
                let found = try connection.first(StateSQL.isReadOnly, count: 1)
                readOnly.store(found != nil, ordering: .relaxed)
            }
        } catch {
            failure = error
        }
        let hasMissed = if case .busy? = failure { true } else { false }
        pulse.withLock { $0.note(answered: !hasMissed, now: .present) }
        return failure
    }
}
