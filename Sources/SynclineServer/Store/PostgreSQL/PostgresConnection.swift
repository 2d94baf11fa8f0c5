// A connection to PostgreSQL through libpq. Values are sent and received as text; one thread uses it at a time. A
// transaction begins together with its first statement, and statements whose results nothing depends on are sent with the
// next one. No wait is unlimited: a connection whose answer did not arrive in time is given up. With a pooler that lends a
// session for one transaction only, such as pgbouncer, nothing is kept in the session: no prepared statements, and
// settings apply to one transaction.

import CLibrary
import CPostgres
import Dispatch
import SynclineCore
import SynclineGround
import SynclineTables

final class PostgresConnection: SQLConnection {
    let handle: OpaquePointer
    let waits: PostgresWaitLimits
    private var statements: [ExactString: String] = [:]
    /// What the last statement bound: a number of values, then those of columns.
    private(set) var lastBound: (values: Int, columns: [Column]) = (0, [])
    private var prepared = 0
    var mustPrepareAgain = false
    /// Statements that are sent with the next one.
    private var waiting: [Waiting] = []
    /// The number of the first of them that begin the transaction.
    private var beginning = 0
    /// A statement that is sent before it is asked for.
    private var expected: Expected?
    /// Whether the answer to the end of a transaction of reads is outstanding.
    private var isEnding = false
    /// Whether an answer is outstanding that is no longer awaited.
    var isGivenUp = false
    /// Whether a pooler lends the session.
    private(set) var isLent = false
    /// Clients' filters can create any number of different statements.
    private static let statementLimit = 200

    private struct Waiting {
        let statement: SQLStatement
        let take: (OpaquePointer) -> StoreFailure?
    }

    private struct Expected {
        let statement: SQLStatement
        let isRight: (Bool) -> Void
        /// The statements that were sent before it; nil if it is not sent yet.
        var place: Int?
    }

    init(url: String, waits: PostgresWaitLimits = PostgresWaitLimits()) throws(StoreFailure) {
        // Parameters in the URL take precedence.
        let parameters = [
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", String(waits.limits.statement.milliseconds)),
            ("fallback_application_name", "syncline-server"), ("client_encoding", "UTF8"), ("dbname", url),
        ]
        let handle = PostgresConnection.withPointers(parameters.map { $0.0.terminated } + [nil]) { names in
            PostgresConnection.withPointers(parameters.map { $0.1.terminated } + [nil]) { values in
                PQconnectStartParams(names, values, 1)
            }
        }
        guard let handle else { throw .broken("out of memory") }
        self.handle = handle
        self.waits = waits
        try connect(url)
        PQsetnonblocking(handle, 1)
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        // Poolers keep these two settings for each of their clients.
        let values = try first("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SELECT pg_backend_pid()")
        isLent = values.flatMap { Int32($0) } != PQbackendPID(handle)
        if isLent { return }
        try perform(settings(isLocal: false))
        // If the setting is not known, the database notices later that the client is gone.
        _ = try? perform(
            """
            SELECT set_config(name, '1000', false) FROM pg_settings WHERE name = 'client_connection_check_interval'
            """)
    }

    deinit { PQfinish(handle) }

    /// Whether it can be used again: connected, in no transaction, and without a notice, for example that the database
    /// shuts down.
    var isGood: Bool {
        if isGivenUp || expected?.place != nil || PQstatus(handle) != CONNECTION_OK { return false }
        if isEnding { _ = PQconsumeInput(handle) }
        while isEnding {
            // The next use waits for the rest.
            if PQstatus(handle) == CONNECTION_OK, PQisBusy(handle) == 1 { return true }
            if let result = PQgetResult(handle) { PQclear(result) } else { isEnding = false }
        }
        guard PQtransactionStatus(handle) == PQTRANS_IDLE else { return false }
        var question = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        // After a notice, its end may follow.
        while poll(&question, 1, 0) != 0 {
            guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { return false }
        }
        return true
    }

    /// Whether the database, or something in between, closed it.
    var isLost: Bool { !isGivenUp && PQstatus(handle) != CONNECTION_OK }

    private func connect(_ url: String) throws(StoreFailure) {
        let wait = waits.wait(waits.limits.connect)
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard state != PGRES_POLLING_FAILED, PQstatus(handle) != CONNECTION_BAD else {
                // The error for an invalid URL contains the URL.
                let line = PostgresConnection.line(PQerrorMessage(handle)).replacing(
                    url, with: StoreAddress.masked(url))
                throw .busy(FailureReason(.unreachable, "PostgreSQL can't be reached: \(line)"))
            }
            try wait.wait(PQsocket(handle), state == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            state = PQconnectPoll(handle)
        }
    }

    /// A process that hangs inside a transaction must not block all others forever, and neither must a statement
    /// whose client is gone.
    private func settings(isLocal: Bool) -> String {
        let limit = waits.limits.statement.milliseconds
        return ["lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"]
            .map { "SET \(isLocal ? "LOCAL " : "")\($0) = \(limit)" }.joined(separator: "; ")
    }

    /// Waits for notifications. Returns the largest of their numbers; nil if there was none in time.
    func notification(within milliseconds: Int32) throws(StoreFailure) -> Int64? {
        var question = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        if poll(&question, 1, milliseconds) == 0 { return nil }
        guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw failure(nil) }
        var latest: Int64?
        while let notification = PQnotifies(handle) {
            latest = max(latest ?? 0, Int64(String(cString: notification.pointee.extra)) ?? .max)
            PQfreemem(notification)
        }
        return latest
    }

    // MARK: Statements

    func begin(_ text: String) throws(StoreFailure) {
        if isLent { return try perform("\(text); \(settings(isLocal: true))") }
        waiting = text.split(separator: "; ").map { part in
            Waiting(statement: SQLStatement(prepared: String(part))) { _ in nil }
        }
        beginning = waiting.count
    }

    func execute(_ text: String) throws(StoreFailure) {
        // What is rolled back need not be run.
        let isUndone = text.hasPrefix("ROLLBACK")
        if beginning > 0, isUndone || text == "COMMIT" && waiting.count == beginning {
            // The database does not know of the transaction.
            (waiting, beginning, expected) = ([], 0, nil)
            return
        }
        if isUndone {
            waiting = []
            _ = try drop()
        } else {
            try flush()
        }
        try perform(text)
    }

    func endReading() throws(StoreFailure) {
        if beginning > 0, waiting.count == beginning { return try execute("COMMIT") }
        try flush()
        // If what was sent in vain has failed, this ends the transaction as well.
        _ = try drop()
        try settle()
        guard PQsendQuery(handle, "COMMIT") == 1 else { throw failure(nil) }
        isEnding = true
        // What is not sent yet would hold the transaction open.
        if PQflush(handle) == 1 { try settle() }
    }

    /// Runs a SQL string, which may contain several statements.
    private func perform(_ text: String) throws(StoreFailure) {
        try settle()
        PQclear(try finished(PQsendQuery(handle, text)))
    }

    /// The first value of a SQL string without bound values.
    private func first(_ text: String) throws(StoreFailure) -> String? {
        let result = try finished(PQsendQuery(handle, text))
        defer { PQclear(result) }
        return PQntuples(result) > 0 ? PQgetvalue(result, 0, 0).map { String(cString: $0) } : nil
    }

    func run(_ statement: SQLStatement, _ each: (any SQLRow) -> Bool) throws(StoreFailure) {
        if statement.isLarge { return try stream(statement, each) }
        let result = try perform(statement)
        defer { PQclear(result) }
        _ = PostgresConnection.show(result, each)
    }

    func change(_ statement: SQLStatement) throws(StoreFailure) -> Int {
        let result = try perform(statement)
        defer { PQclear(result) }
        return PostgresConnection.changes(result)
    }

    func later(_ statement: SQLStatement, _ each: @escaping (any SQLRow) -> Void) throws(StoreFailure) {
        waiting.append(
            Waiting(statement: statement) { result in
                _ = PostgresConnection.show(result) { row in
                    each(row)
                    return true
                }
                return nil
            })
    }

    func later(_ statement: SQLStatement, changes count: Int) throws(StoreFailure) {
        waiting.append(
            Waiting(statement: statement) { PostgresConnection.changes($0) == count ? nil : .contest })
    }

    func expect(_ statement: SQLStatement, _ isRight: @escaping (Bool) -> Void) {
        if expected?.place == nil { expected = Expected(statement: statement, isRight: isRight) }
    }

    func flush() throws(StoreFailure) {
        if !waiting.isEmpty { try exchange(nil) { PQclear($0) } }
    }

    /// A statement's result, which the caller must clear.
    private func perform(_ statement: SQLStatement) throws(StoreFailure) -> OpaquePointer? {
        try last { take throws(StoreFailure) in try exchange(statement, take) }
    }

    /// Sends what waits, and a statement, and shows the results of the statement; the body must clear each.
    private func exchange(
        _ statement: SQLStatement?, isStreamed: Bool = false, _ body: (OpaquePointer) -> Void
    ) throws(StoreFailure) {
        if waiting.isEmpty, let sent = expected, let place = sent.place, sent.statement == statement {
            expected = nil
            sent.isRight(true)
            lastBound = PostgresConnection.bound(by: sent.statement)
            return try results(1, from: place) { body($1) }
        }
        try settle()
        let own = waiting.map(\.statement) + (statement.map { [$0] } ?? [])
        var more = expected
        expected = nil
        if let next = more, next.statement == statement {
            next.isRight(true)
            more = nil
        }
        let all = own + (more.map { [$0.statement] } ?? [])
        // None of them is forgotten while others are prepared.
        if mustPrepareAgain || statements.count + all.count > PostgresConnection.statementLimit { try forget() }
        let bound = try all.map { one throws(StoreFailure) in
            (name: isLent ? nil : try prepare(one.text(.postgres)), values: try PostgresConnection.values(of: one))
        }
        let ahead = waiting
        (waiting, beginning) = ([], 0)
        var isSent = all.count == 1 ? 1 : PQenterPipelineMode(handle)
        for (one, bound) in zip(all, bound) where isSent == 1 { isSent = send(one, bound.name, bound.values) }
        if all.count > 1, isSent == 1 { isSent = PQpipelineSync(handle) }
        if isSent != 1 { isGivenUp = true }
        if isStreamed, ahead.isEmpty { PQsetSingleRowMode(handle) }
        let streamed = (isStreamed ? [ahead.count] : []) + (more?.statement.isLarge == true ? [own.count] : [])
        if isSent == 1, var more {
            more.place = own.count
            expected = more
        }
        var failed: StoreFailure?
        try results(isSent, streamed: streamed, until: more == nil ? nil : own.count) { place, result in
            // After the last statement comes only the loss of the connection.
            if all.indices.contains(place) { lastBound = PostgresConnection.bound(by: all[place]) }
            if place == ahead.count, statement != nil { return body(result) }
            defer { PQclear(result) }
            if failed == nil {
                failed = PostgresConnection.isFine(result) ? ahead[place].take(result) : failure(result)
            }
        }
        if let failed { throw failed }
    }

    /// Reads the answer to what was sent, but is not asked for. Returns its failure, with which the transaction has failed.
    private func drop() throws(StoreFailure) -> StoreFailure? {
        guard let sent = expected, let place = sent.place else { return nil }
        expected = nil
        sent.isRight(false)
        if isGivenUp { return nil }
        var failed: StoreFailure?
        try results(1, from: place) { _, result in
            if failed == nil, !PostgresConnection.isFine(result) { failed = failure(result) }
            PQclear(result)
        }
        return failed
    }

    private static func bound(by statement: SQLStatement) -> (values: Int, columns: [Column]) {
        (statement.values.count, statement.columns?.columns ?? [])
    }

    private static func values(of statement: SQLStatement) throws(StoreFailure) -> [[UInt8]?] {
        let arrays = try statement.rows.map { rows throws(StoreFailure) in try PostgresArray.arrays(rows) }
        return arrays ?? statement.allValues.map { $0.postgresText?.terminated }
    }

    private func send(_ statement: SQLStatement, _ name: String?, _ values: [[UInt8]?]) -> Int32 {
        let lengths = values.map { Int32($0?.count ?? 0) }
        let formats = values.map { _ in statement.rows == nil ? 0 : 1 as Int32 }
        let count = Int32(values.count)
        return PostgresConnection.withPointers(values) { pointers in
            if let name { return PQsendQueryPrepared(handle, name, count, pointers, lengths, formats, 0) }
            return PQsendQueryParams(handle, statement.text(.postgres), count, nil, pointers, lengths, formats, 0)
        }
    }

    /// Waits for the end of a transaction of reads, and of what was sent in vain.
    private func settle() throws(StoreFailure) {
        if let failed = try drop() { throw failed }
        if !isEnding { return }
        isEnding = false
        PQclear(try finished(1))
    }

    private static func changes(_ result: OpaquePointer?) -> Int {
        PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// Passes rows to the body until it wants no more; returns false then.
    private static func show(_ result: OpaquePointer?, _ each: (any SQLRow) -> Bool) -> Bool {
        for row in 0..<PQntuples(result) {
            if !each(PostgresRow(result: result, row: row)) { return false }
        }
        return true
    }

    /// Reads rows one by one, so that a table is never completely in memory. A statement that soon ends is not cancelled.
    private func stream(_ statement: SQLStatement, _ each: (any SQLRow) -> Bool) throws(StoreFailure) {
        var (isWanted, count) = (true, 0)
        var failed: StoreFailure?
        try exchange(statement, isStreamed: true) { result in
            defer { PQclear(result) }
            guard isWanted, failed == nil else { return }
            if !PostgresConnection.isFine(result) {
                failed = failure(result)
            } else {
                count += 1
                isWanted = PostgresConnection.show(result, each)
                // Nothing that follows in the same message may be cancelled.
                let isLong = statement.limit.map { $0 > count + RowScan.some } ?? true
                if !isWanted, isLong, expected?.place == nil { cancel() }
            }
        }
        if let failed { throw failed }
    }

    private func prepare(_ text: String) throws(StoreFailure) -> String {
        if let known = statements[text] { return known }
        prepared += 1
        let name = "s\(prepared)"
        PQclear(try finished(PQsendPrepare(handle, name, text, 0, nil)))
        statements[text] = name
        return name
    }

    private func forget() throws(StoreFailure) {
        if !isLent { try perform("DEALLOCATE ALL") }
        (statements, mustPrepareAgain) = ([:], false)
    }

    private static func withPointers<Result>(
        _ values: [[UInt8]?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        // All values are in one buffer, which does not move while the pointers into it are used.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.reduce(0) { $0 + ($1?.count ?? 0) })
        var offsets: [Int?] = []
        for value in values {
            offsets.append(value == nil ? nil : bytes.count)
            bytes += value ?? []
        }
        return bytes.withUnsafeBytes { bytes in
            let start = bytes.assumingMemoryBound(to: CChar.self).baseAddress
            let pointers = offsets.map { offset -> UnsafePointer<CChar>? in
                guard let offset, let start else { return nil }
                return start + offset
            }
            return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
        }
    }
}

extension String {
    /// The string as C has it.
    fileprivate var terminated: [UInt8] { Array(utf8) + [0] }
}
