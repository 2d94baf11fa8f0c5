// A connection to PostgreSQL through libpq. Values are sent and received as text; one thread uses it at a time. No wait
// is unlimited: a connection whose answer did not arrive in time is given up. With a pooler that lends a session for
// one transaction only, such as pgbouncer, nothing is kept in the session: no prepared statements, and settings apply
// to one transaction.

import CPostgres
import Dispatch
import SynclineCore
import SynclineGround
import SynclineTables

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

final class PostgresConnection: SQLConnection {
    private let handle: OpaquePointer
    private let waits: PostgresWaitLimits
    private var statements: [ExactString: String] = [:]
    /// What the last statement bound: a number of values, then those of columns.
    private var last: (values: Int, columns: [Column]) = (0, [])
    private var prepared = 0
    private var mustPrepareAgain = false
    /// Whether an answer is outstanding that is no longer awaited.
    private(set) var isGivenUp = false
    /// Whether a pooler lends the session.
    private(set) var isLent = false
    /// Clients' filters can create any number of different statements.
    private static let statementLimit = 200

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
        try execute(settings(isLocal: false))
        // If the setting is not known, the database notices later that the client is gone.
        _ = try? execute(
            """
            SELECT set_config(name, '1000', false) FROM pg_settings WHERE name = 'client_connection_check_interval'
            """)
    }

    deinit { PQfinish(handle) }

    /// Whether it can be used again: connected, in no transaction, and without a notice, for example that the database
    /// shuts down.
    var isGood: Bool {
        if isGivenUp || PQstatus(handle) != CONNECTION_OK || PQtransactionStatus(handle) != PQTRANS_IDLE {
            return false
        }
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
        try execute(isLent ? "\(text); \(settings(isLocal: true))" : text)
    }

    func execute(_ text: String) throws(StoreFailure) {
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
        return Int(String(cString: PQcmdTuples(result))) ?? 0
    }

    /// A statement's result, which the caller must clear.
    private func perform(_ statement: SQLStatement) throws(StoreFailure) -> OpaquePointer? {
        let name = isLent ? nil : try prepare(statement.text)
        return try finished(try send(statement, name))
    }

    private func send(_ statement: SQLStatement, _ name: String?) throws(StoreFailure) -> Int32 {
        last = (statement.values.count, statement.columns?.columns ?? [])
        let arrays = try statement.rows.map { rows throws(StoreFailure) in try PostgresArray.arrays(rows) }
        let values: [[UInt8]?] = arrays ?? statement.allValues.map { $0.postgresText?.terminated }
        let lengths = values.map { Int32($0?.count ?? 0) }
        let formats = values.map { _ in arrays == nil ? 0 : 1 as Int32 }
        let count = Int32(values.count)
        return PostgresConnection.withPointers(values) { pointers in
            if let name { return PQsendQueryPrepared(handle, name, count, pointers, lengths, formats, 0) }
            return PQsendQueryParams(handle, statement.text, count, nil, pointers, lengths, formats, 0)
        }
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
        let isSent = try send(statement, isLent ? nil : try prepare(statement.text))
        if isSent == 1 { PQsetSingleRowMode(handle) }
        var (isWanted, count) = (true, 0)
        var failed: StoreFailure?
        try results(isSent) { result in
            defer { PQclear(result) }
            guard isWanted, failed == nil else { return }
            if !PostgresConnection.isFine(result) {
                failed = failure(result)
            } else {
                count += 1
                isWanted = PostgresConnection.show(result, each)
                if !isWanted, statement.limit.map({ $0 > count + RowScan.some }) ?? true { cancel() }
            }
        }
        if let failed { throw failed }
    }

    /// Asks the database to cancel the current statement. libpq blocks until the request is received; this function
    /// does not.
    private func cancel() {
        guard let request = PQgetCancel(handle) else { return }
        let address = UInt(bitPattern: request)
        let isHeard = DispatchSemaphore(value: 0)
        // A queue of its own has a thread at once; the global queue has one for each processor.
        DispatchQueue(label: "syncline.cancel").async {
            guard let request = OpaquePointer(bitPattern: address) else { return }
            var reason = [CChar](repeating: 0, count: 256)
            PQcancel(request, &reason, Int32(reason.count))
            PQfreeCancel(request)
            isHeard.signal()
        }
        // A request that arrives later would cancel the next statement.
        if isHeard.wait(timeout: .now() + .seconds(1)) == .timedOut { isGivenUp = true }
    }

    private func prepare(_ text: String) throws(StoreFailure) -> String {
        if mustPrepareAgain { try forget() }
        if let known = statements[text] { return known }
        if statements.count >= PostgresConnection.statementLimit { try forget() }
        prepared += 1
        let name = "s\(prepared)"
        PQclear(try finished(PQsendPrepare(handle, name, text, 0, nil)))
        statements[text] = name
        return name
    }

    private func forget() throws(StoreFailure) {
        try execute("DEALLOCATE ALL")
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

    // MARK: Answers

    /// The last result of what was sent, which the caller must clear.
    private func finished(_ isSent: Int32) throws(StoreFailure) -> OpaquePointer? {
        var last: OpaquePointer?
        var failed: StoreFailure?
        do throws(StoreFailure) {
            try results(isSent) { result in
                PQclear(last)
                last = result
                if failed == nil, !PostgresConnection.isFine(result) { failed = failure(result) }
            }
        } catch {
            failed = failed ?? error
        }
        guard let failed else { return last }
        PQclear(last)
        throw failed
    }

    /// Reads the results of what was sent; the body must clear each.
    private func results(_ isSent: Int32, _ body: (OpaquePointer) -> Void) throws(StoreFailure) {
        guard isSent == 1 else { throw failure(nil) }
        // The database itself gives up a little earlier, and then the connection is still usable.
        let wait = waits.wait(waits.limits.statement * 1.1)
        while PQflush(handle) == 1 {
            // Data from the database must be read meanwhile, or neither side continues.
            try pause(wait, POLLIN | POLLOUT)
            guard PQconsumeInput(handle) == 1 else { throw failure(nil) }
        }
        while true {
            while PQisBusy(handle) == 1 {
                try pause(wait, POLLIN)
                // The next result contains the error of the connection.
                if PQconsumeInput(handle) == 0 { break }
            }
            guard let result = PQgetResult(handle) else { return }
            body(result)
        }
    }

    /// An unfinished answer would be taken for the next one.
    private func pause(_ wait: SocketWait, _ events: Int32) throws(StoreFailure) {
        do throws(StoreFailure) {
            try wait.wait(PQsocket(handle), events)
        } catch {
            // A request whose time is over must not keep the database busy, nor cost a connection.
            if case .refused = error, cancelAndDrain() { throw error }
            isGivenUp = true
            throw error
        }
    }

    /// Cancels the statement and reads the rest of the answer; false if that takes too long.
    private func cancelAndDrain() -> Bool {
        cancel()
        let wait = waits.wait(.seconds(1), isForRequest: false)
        while !isGivenUp {
            while PQisBusy(handle) == 1 {
                do throws(StoreFailure) {
                    try wait.wait(PQsocket(handle), POLLIN)
                } catch {
                    return false
                }
                guard PQconsumeInput(handle) == 1 else { return false }
            }
            guard let result = PQgetResult(handle) else { return true }
            PQclear(result)
        }
        return false
    }

    private static func isFine(_ result: OpaquePointer?) -> Bool {
        [PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE].contains(PQresultStatus(result))
    }

    /// A field of an error, such as `c`, the column.
    private func field(_ result: OpaquePointer?, _ name: Character) -> String? {
        guard let result, let code = name.asciiValue, let text = PQresultErrorField(result, Int32(code)) else {
            return nil
        }
        return String(cString: text)
    }

    /// The message of an error and the names in it, without the details, which contain values.
    private func told(_ result: OpaquePointer?, _ code: String) -> String {
        let names = [("t", "table"), ("c", "column"), ("n", "constraint")].compactMap { key, word in
            field(result, Character(key)).map { "\(word) \($0)" }
        }
        let message = field(result, "M") ?? "no reason given"
        return "\(message) (\((["PostgreSQL code \(code)"] + names).joined(separator: ", ")))"
    }

    /// The column of a value that its type can't have. The database names the number of the value, but only if it can't
    /// read it: not for a string that is too long for its column.
    private func unfitColumn(_ result: OpaquePointer?) -> String? {
        guard let context = field(result, "W"), let sign = context.lastIndex(of: "$"),
            let number = Int(context[context.index(after: sign)...].prefix { $0.isASCII && $0.isNumber })
        else { return nil }
        let place = number - 1 - last.values
        return last.columns.indices.contains(place) ? last.columns[place].name : nil
    }

    /// Maps the class of an error code to a failure.
    private func failure(_ result: OpaquePointer?) -> StoreFailure {
        let code = field(result, "C") ?? "08000"
        let reason = FailureReason(
            FailureReason.Kind(sqlState: code),
            "\(PostgresConnection.line(PQerrorMessage(handle))) (PostgreSQL code \(code))")
        switch code {
        case "0A000", "42703", "42P01", "42804", "42883":
            // Prepared statements may refer to the previous tables.
            mustPrepareAgain = true
            return .changed(reason)
        case "54011": return .refused(ServedTable.tooManyColumns)
        // A trigger refuses, or only the database may set a column.
        case "P0001":
            return .refused(.trigger(FailureReason(.constraint, "a trigger refused a row (PostgreSQL code \(code))")))
        case "428C9":
            return .refused(.constraint(nil, FailureReason(.constraint, "only the database may set a column")))
        case "42501": return .refused(.rights(FailureReason(.permission, told(result, code))))
        default: break
        }
        switch code.prefix(2) {
        case "23":
            let name = field(result, "n") ?? field(result, "c")
            return .refused(.constraint(name, FailureReason(.constraint, told(result, code))))
        case "22":
            let named = unfitColumn(result).map { " \($0)" } ?? ""
            return .refused(Refusal(400, "invalid-value", "A value does not fit the database's column\(named)"))
        case "54": return .refused(.valueTooLarge)
        case "08", "40", "53", "55", "57", "25": return .busy(reason)
        default: return .broken(reason)
        }
    }

    private static func line(_ message: UnsafeMutablePointer<CChar>?) -> String {
        guard let message else { return "no reason given" }
        return String(cString: message).split(separator: "\n").joined(separator: " ")
    }
}

extension String {
    /// The string as C has it.
    fileprivate var terminated: [UInt8] { Array(utf8) + [0] }
}

private struct PostgresRow: SQLRow {
    let result: OpaquePointer?
    let row: Int32

    func value(_ index: Int) -> SQLValue {
        text(index).map {
            SQLValue(postgresText: String(decoding: $0, as: UTF8.self), type: PQftype(result, Int32(index)))
        } ?? .null
    }

    func instant(_ index: Int) -> Timestamp.Instant {
        let time = text(index).flatMap { Timestamp.Instant(postgresText: $0, type: PQftype(result, Int32(index))) }
        return time.map { .init(milliseconds: $0.milliseconds) } ?? value(index).instant
    }

    func place(of index: Int, among texts: FewTexts) -> Int? {
        guard SQLValue.isPostgresText(PQftype(result, Int32(index))) else { return nil }
        return text(index).flatMap { texts.place(of: UnsafeRawBufferPointer($0)) }
    }

    /// Strings and times, the most common values, are read directly from libpq's memory.
    func encode(_ index: Int, as type: ColumnType, into writer: inout ByteWriter) {
        let stored = PQftype(result, Int32(index))
        if let text = text(index) {
            let isText = [.string, .uuid].contains(type.form) && SQLValue.isPostgresText(stored)
            if isText, UnsafeRawBufferPointer(text).isUTF8 {
                return writer.append(textValue: UnsafeRawBufferPointer(text))
            }
            if type.form == .date, let instant = Timestamp.Instant(postgresText: text, type: stored) {
                return writer.append(value: .date(Timestamp(kept: instant)))
            }
        }
        writer.append(value: type.value(value(index)))
    }

    private func text(_ index: Int) -> UnsafeBufferPointer<UInt8>? {
        guard PQgetisnull(result, row, Int32(index)) == 0, let start = PQgetvalue(result, row, Int32(index)) else {
            return nil
        }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, Int32(index))))
        return bytes.assumingMemoryBound(to: UInt8.self)
    }
}
