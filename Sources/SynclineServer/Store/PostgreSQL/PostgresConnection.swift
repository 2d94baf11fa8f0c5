// A connection to PostgreSQL by libpq. Values go and come as text; statements are prepared once and kept by their text; one
// thread uses it at a time.

import CPostgres
import SynclineCore

final class PostgresConnection: SQLConnection {
    private let handle: OpaquePointer
    private var statements: [String: String] = [:]
    private var prepared = 0
    private var mustPrepareAnew = false
    /// Texts that a client's filters make are endless in number.
    private static let statementLimit = 200

    init(url: String) throws(StoreFailure) {
        guard let handle = PQconnectdb(url) else { throw .broken("out of memory") }
        self.handle = handle
        guard PQstatus(handle) == CONNECTION_OK else {
            // What is wrong with a URL is told with the URL.
            let line = PostgresConnection.line(PQerrorMessage(handle)).replacing(url, with: StoreAddress.masked(url))
            throw .busy(FailureReason(.unreachable, "PostgreSQL can't be reached: \(line)"))
        }
        // A process that stands still inside a transaction must not hold up all the others for ever.
        try execute(
            """
            SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET client_encoding = 'UTF8'; SET lock_timeout = '30s'; \
            SET idle_in_transaction_session_timeout = '30s'; SET client_min_messages = 'warning'; \
            SET extra_float_digits = 1
            """)
    }

    deinit { PQfinish(handle) }

    /// Whether it can be used again: connected, and in no transaction.
    var isGood: Bool { PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE }

    func execute(_ text: String) throws(StoreFailure) {
        let result = PQexec(handle, text)
        defer { PQclear(result) }
        try check(result)
    }

    func run(_ statement: SQLStatement, _ each: (any SQLRow) -> Bool) throws(StoreFailure) {
        if statement.isLarge { return try stream(statement, each) }
        let result = try perform(statement)
        defer { PQclear(result) }
        for row in 0..<PQntuples(result) {
            if !each(PostgresRow(result: result, row: row)) { return }
        }
    }

    func change(_ statement: SQLStatement) throws(StoreFailure) -> Int {
        let result = try perform(statement)
        defer { PQclear(result) }
        return Int(String(cString: PQcmdTuples(result))) ?? 0
    }

    /// A statement's result, which is the caller's to clear.
    private func perform(_ statement: SQLStatement) throws(StoreFailure) -> OpaquePointer? {
        let name = try prepare(statement.text)
        let texts = PostgresConnection.texts(statement)
        let result = PostgresConnection.withPointers(texts) { pointers in
            PQexecPrepared(handle, name, Int32(texts.count), pointers, nil, nil, 0)
        }
        do throws(StoreFailure) {
            try check(result)
        } catch {
            PQclear(result)
            throw error
        }
        return result
    }

    private static func texts(_ statement: SQLStatement) -> [[CChar]?] {
        statement.allValues.map { $0.postgresText.map { Array($0.utf8CString) } }
    }

    /// Rows one by one, so that a table is never in memory whole.
    private func stream(_ statement: SQLStatement, _ each: (any SQLRow) -> Bool) throws(StoreFailure) {
        let name = try prepare(statement.text)
        let texts = PostgresConnection.texts(statement)
        let isSent = PostgresConnection.withPointers(texts) { pointers in
            PQsendQueryPrepared(handle, name, Int32(texts.count), pointers, nil, nil, 0)
        }
        guard isSent == 1 else { throw failure(nil) }
        PQsetSingleRowMode(handle)
        var isWanted = true
        var failed: StoreFailure?
        while let result = PQgetResult(handle) {
            defer { PQclear(result) }
            guard isWanted else { continue }
            do throws(StoreFailure) { try check(result) } catch { failed = failed ?? error }
            if failed == nil, PQntuples(result) > 0, !each(PostgresRow(result: result, row: 0)) {
                isWanted = false
                cancel()
            }
        }
        if let failed { throw failed }
    }

    /// Asks the database to leave off what it is doing.
    private func cancel() {
        guard let request = PQgetCancel(handle) else { return }
        var reason = [CChar](repeating: 0, count: 256)
        PQcancel(request, &reason, Int32(reason.count))
        PQfreeCancel(request)
    }

    func columns(of table: String) throws(StoreFailure) -> [DatabaseColumn] {
        var statement = SQLStatement(
            .postgres,
            """
            SELECT c.column_name::text, CASE t.typtype WHEN 'e' THEN 'enum' ELSE c.data_type::text END \
            FROM information_schema.columns c JOIN pg_namespace n ON n.nspname = c.udt_schema \
            JOIN pg_type t ON t.typnamespace = n.oid AND t.typname = c.udt_name \
            WHERE c.table_schema = current_schema() AND c.table_name =
            """ + " ")
        statement.add(.text(table))
        statement.add(" ORDER BY c.ordinal_position")
        var columns: [DatabaseColumn] = []
        try run(statement) { row in
            columns.append(DatabaseColumn(row.value(0).text, row.value(1).text))
            return true
        }
        return columns
    }

    func isKey(_ column: String, of table: String) throws(StoreFailure) -> Bool {
        let statement = SQLStatement(
            .postgres,
            """
            SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] \
            WHERE i.indrelid = to_regclass(quote_ident($1::text)) AND i.indisunique AND i.indnkeyatts = 1 \
            AND i.indpred IS NULL AND a.attname = $2::text
            """, values: [.text(table), .text(column)])
        return try first(statement, count: 1) != nil
    }

    private func prepare(_ text: String) throws(StoreFailure) -> String {
        if mustPrepareAnew { try forget() }
        if let known = statements[text] { return known }
        if statements.count >= PostgresConnection.statementLimit { try forget() }
        prepared += 1
        let name = "s\(prepared)"
        let result = PQprepare(handle, name, text, 0, nil)
        defer { PQclear(result) }
        try check(result)
        statements[text] = name
        return name
    }

    private func forget() throws(StoreFailure) {
        try execute("DEALLOCATE ALL")
        (statements, mustPrepareAnew) = ([:], false)
    }

    private static func withPointers<Result>(
        _ texts: [[CChar]?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        // All texts in one piece of memory, which stands still while the pointers into it are used.
        var bytes: [CChar] = []
        var offsets: [Int?] = []
        for text in texts {
            offsets.append(text == nil ? nil : bytes.count)
            bytes += text ?? []
        }
        return bytes.withUnsafeBufferPointer { bytes in
            let pointers = offsets.map { offset -> UnsafePointer<CChar>? in
                guard let offset, let start = bytes.baseAddress else { return nil }
                return start + offset
            }
            return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
        }
    }

    // MARK: Failures

    private func check(_ result: OpaquePointer?) throws(StoreFailure) {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE: return
        default: throw failure(result)
        }
    }

    /// What the class of a failure's code means here.
    private func failure(_ result: OpaquePointer?) -> StoreFailure {
        let code = result.flatMap { PQresultErrorField($0, 67) }.map { String(cString: $0) } ?? "08000"
        let reason = FailureReason(
            FailureReason.Kind(sqlState: code),
            "\(PostgresConnection.line(PQerrorMessage(handle))) (PostgreSQL code \(code))")
        switch code {
        case "0A000", "42703", "42P01", "42804", "42883":
            // What was prepared may be of the tables as they were.
            mustPrepareAnew = true
            return .changed(reason)
        case "54011": return .refused(TableSchema.tooManyColumns)
        // A trigger says no, or a column is the database's to set.
        case "P0001", "428C9":
            return .refused(Refusal(409, "constraint", "The item breaks a rule of the database's table"))
        default: break
        }
        switch code.prefix(2) {
        case "23": return .refused(Refusal(409, "constraint", "The item breaks a rule of the database's table"))
        case "22": return .refused(Refusal(400, "invalid-value", "A value does not fit the database's column"))
        case "54": return .refused(Refusal(413, "too-large", "A value is larger than the database can hold"))
        case "08", "40", "53", "55", "57", "25": return .busy(reason)
        default: return .broken(reason)
        }
    }

    private static func line(_ message: UnsafeMutablePointer<CChar>?) -> String {
        guard let message else { return "no reason is given" }
        return String(cString: message).split(separator: "\n").joined(separator: " ")
    }
}

private struct PostgresRow: SQLRow {
    let result: OpaquePointer?
    let row: Int32

    func value(_ index: Int) -> SQLValue {
        let column = Int32(index)
        guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else { return .null }
        let text = String(cString: start)
        return SQLValue(postgresText: text, type: PQftype(result, column))
    }
}
