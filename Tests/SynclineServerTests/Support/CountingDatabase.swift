// A database that counts what its connections are asked, and fails at one of the questions if a test wants it.

import SynclineGround
import SynclineTables

@testable import SynclineServer

final class QuestionCounts: Sendable {
    let rows = Atomic(0)
    let descriptions = Atomic(0)
    /// Round trips, except those of ticks, which come when they come.
    let trips = Atomic(0)
}

/// One of the questions to a database fails, counted from its first transaction on.
final class QuestionFault: Sendable {
    enum Kind: CaseIterable {
        /// The database refuses it.
        case refused
        /// The process ends before it.
        case killed
    }

    private struct State {
        var (asked, commits) = (0, 0)
        var hasBegun = false
    }

    let kind: Kind
    private let place: Int
    private let state = Mutex(State())

    /// - Parameter place: The question's number, from 1 on.
    init(_ kind: Kind, at place: Int) { (self.kind, self.place) = (kind, place) }

    /// Whether the question was asked.
    var isMet: Bool { state.withLock { $0.asked >= place } }
    /// The number of transactions that were committed.
    var commits: Int { state.withLock { $0.commits } }

    fileprivate func begin() { state.withLock { $0.hasBegun = true } }

    fileprivate func ask<Result>(
        _ text: String, _ connection: any SQLConnection, _ body: () throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        let number = state.withLock { state in
            state.asked += state.hasBegun ? 1 : 0
            return state.asked
        }
        switch kind {
        case .refused where number == place: throw .broken("the test's database refuses")
        case .killed where number >= place:
            // PostgreSQL notices the end of the process; SQLite's transaction ends with the connection.
            _ = try? connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
            throw .busy(FailureReason(.unreachable, "the test's process has ended"))
        default: break
        }
        let result = try body()
        if text == "COMMIT" { state.withLock { $0.commits += 1 } }
        return result
    }
}

private final class CountingConnection: SQLConnection {
    private let inner: any SQLConnection
    private let counts: QuestionCounts
    private let fault: QuestionFault?
    private let look: (@Sendable (String) -> Void)?
    private let dialect: SQLDialect
    /// Whether statements wait for the next one, as they do for PostgreSQL.
    private var letsWait: Bool { dialect == .postgres }
    private var isWaiting = false
    private var isTicking = false

    init(_ inner: any SQLConnection, _ database: CountingDatabase) {
        (self.inner, counts, fault, look) = (inner, database.counts, database.fault, database.look)
        dialect = database.dialect
    }

    private func ask<Result>(
        _ text: String, waits: Bool = false, _ body: () throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        if text.contains("syncline_tick()") { isTicking = true }
        isWaiting = waits && letsWait
        if !isTicking, !isWaiting { counts.trips.add(1, ordering: .relaxed) }
        look?(text)
        return if let fault { try fault.ask(text, inner, body) } else { try body() }
    }

    func run(_ statement: SQLStatement, _ each: (any SQLRow) -> Bool) throws(StoreFailure) {
        try ask(statement.text(dialect)) { () throws(StoreFailure) in
            try inner.run(statement) { row in
                counts.rows.add(1, ordering: .relaxed)
                return each(row)
            }
        }
    }

    func change(_ statement: SQLStatement) throws(StoreFailure) -> Int {
        try ask(statement.text(dialect)) { () throws(StoreFailure) in try inner.change(statement) }
    }

    func later(_ statement: SQLStatement, _ each: @escaping (any SQLRow) -> Void) throws(StoreFailure) {
        try ask(statement.text(dialect), waits: true) { () throws(StoreFailure) in
            try inner.later(statement) { [counts] row in
                counts.rows.add(1, ordering: .relaxed)
                each(row)
            }
        }
    }

    func later(_ statement: SQLStatement, changes count: Int) throws(StoreFailure) {
        try ask(statement.text(dialect), waits: true) { () throws(StoreFailure) in
            try inner.later(statement, changes: count)
        }
    }

    func expect(_ statement: SQLStatement, _ isRight: @escaping (Bool) -> Void) {
        inner.expect(statement) { [counts] flag in
            // It has been sent already.
            if flag { counts.trips.subtract(1, ordering: .relaxed) }
            isRight(flag)
        }
    }

    func flush() throws(StoreFailure) {
        if !isWaiting { return try inner.flush() }
        try ask("") { () throws(StoreFailure) in try inner.flush() }
    }

    func execute(_ text: String) throws(StoreFailure) {
        try ask(text) { () throws(StoreFailure) in try inner.execute(text) }
    }

    func begin(_ text: String) throws(StoreFailure) {
        fault?.begin()
        try ask(text, waits: true) { () throws(StoreFailure) in try inner.begin(text) }
    }

    func endReading() throws(StoreFailure) {
        try ask("COMMIT", waits: true) { () throws(StoreFailure) in try inner.endReading() }
    }

    func tables(_ names: [String]) throws(StoreFailure) -> [String: DatabaseTable] {
        counts.descriptions.add(1, ordering: .relaxed)
        return try ask("") { () throws(StoreFailure) in try inner.tables(names) }
    }

    func facts() throws(StoreFailure) -> DatabaseFacts {
        try ask("") { () throws(StoreFailure) in try inner.facts() }
    }
}

struct CountingDatabase: SQLDatabase {
    let inner: any SQLDatabase
    let counts = QuestionCounts()
    var fault: QuestionFault?
    /// Called with each question before it is asked.
    var look: (@Sendable (String) -> Void)?

    var dialect: SQLDialect { inner.dialect }
    var pools: [PoolUse] { inner.pools }
    var writesAtATime: Int { inner.writesAtATime }

    func read<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        try inner.read { connection throws(StoreFailure) in try body(CountingConnection(connection, self)) }
    }

    func write<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        try inner.write { connection throws(StoreFailure) in try body(CountingConnection(connection, self)) }
    }

    func check() throws(StoreFailure) { try inner.check() }
    func checkWrites() throws(StoreFailure) { try inner.checkWrites() }
    func interrupt() { inner.interrupt() }
    func close() { inner.close() }
}
