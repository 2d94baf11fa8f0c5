// One SQLite connection, whose statements are prepared once.

import CBareSQLite

/// Not Sendable: its owner sees to it that one thread uses it at a time.
final class SQLiteConnection {
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]
    private var begin: OpaquePointer?
    private var commit: OpaquePointer?
    private var upsert: OpaquePointer?
    private var newer: OpaquePointer?

    init(_ path: String) throws {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        try check(sqlite3_open_v2(path, &handle, flags, nil))
        sqlite3_busy_timeout(handle, 10_000)
    }

    convenience init(_ path: String, _ durability: Durability, _ settings: SQLiteSettings) throws {
        try self.init(path)
        try run("PRAGMA journal_mode=WAL")
        try run("PRAGMA synchronous=\(durability == .durable ? "FULL" : "NORMAL")")
        if settings.tuned {
            try run("PRAGMA cache_size=-262144")
            try run("PRAGMA wal_autocheckpoint=20000")
        }
    }

    func run(_ text: String) throws { try check(sqlite3_exec(handle, text, nil, nil, nil)) }

    func prepareWrites() throws {
        begin = try statement("BEGIN IMMEDIATE")
        commit = try statement("COMMIT")
        upsert = try statement(
            "INSERT INTO rows(id, data) VALUES(?1, ?2) ON CONFLICT(id) DO UPDATE SET data = excluded.data")
    }

    /// One record commits by itself; more share a transaction.
    func put(_ records: RecordSet, _ range: Range<Int>) throws {
        if range.count > 1 { try step(begin) }
        for index in range {
            let key = records.key(index)
            let value = records.value(index)
            sqlite3_bind_blob(upsert, 1, key.baseAddress, Int32(key.count), nil)  // nil: the bytes stay where they are
            sqlite3_bind_text(
                upsert, 2, value.bindMemory(to: CChar.self).baseAddress, Int32(value.count), nil)
            try step(upsert)
        }
        if range.count > 1 { try step(commit) }
    }

    /// Calls with the blob of column 0 and the text of column 1 of each row.
    func read(_ query: String, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) throws {
        let statement = try prepare(query)
        defer { sqlite3_finalize(statement) }
        while try next(statement) { body(bytes(statement, 0), bytes(statement, 1)) }
    }

    /// The rows of a query, each value as text.
    /// - Parameter isKept: Whether the statement is prepared only the first time.
    func rows(_ query: String, isKept: Bool) throws -> [[String]] {
        let statement = isKept ? try statement(query) : try prepare(query)
        defer { _ = isKept ? sqlite3_reset(statement) : sqlite3_finalize(statement) }
        var rows: [[String]] = []
        while try next(statement) {
            rows.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "null"
                })
        }
        return rows
    }

    func prepareFollowing() throws {
        newer = try statement("SELECT rowid, data FROM rows WHERE rowid > ?1 ORDER BY rowid")
    }

    /// Calls with the value of each row after `lastRow`, and updates `lastRow`.
    func follow(after lastRow: inout Int64, _ body: (UnsafeRawBufferPointer) -> Void) throws -> Int {
        defer { sqlite3_reset(newer) }
        sqlite3_bind_int64(newer, 1, lastRow)
        var count = 0
        while try next(newer) {
            lastRow = sqlite3_column_int64(newer, 0)
            body(bytes(newer, 1))
            count += 1
        }
        return count
    }

    enum Field {
        case text(String)
        case integer(Int64)
    }

    /// A statement that is run with other fields each time.
    func insertion(_ text: String) throws -> ([Field]) throws -> Void {
        let statement = try statement(text)
        return { [unowned self] fields in
            for (index, field) in fields.enumerated() {
                switch field {
                case .integer(let number): sqlite3_bind_int64(statement, Int32(index + 1), number)
                case .text(let text): bind(statement, Int32(index + 1), text)
                }
            }
            try step(statement)
        }
    }

    func close() {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close(handle)
        handle = nil
    }

    // MARK: Statements

    /// A statement that is kept.
    func statement(_ text: String) throws -> OpaquePointer? {
        if let known = statements[text] { return known }
        let statement = try prepare(text, UInt32(SQLITE_PREPARE_PERSISTENT))
        statements[text] = statement
        return statement
    }

    private func prepare(_ text: String, _ flags: UInt32 = 0) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, text, -1, flags, &statement, nil))
        return statement
    }

    func bind(_ statement: OpaquePointer?, _ place: Int32, _ bytes: UnsafeRawBufferPointer) {
        sqlite3_bind_blob(statement, place, bytes.baseAddress, Int32(bytes.count), SQLiteConnection.copies)
    }

    func bind(_ statement: OpaquePointer?, _ place: Int32, _ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            _ = utf8.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(statement, place, $0.baseAddress, Int32($0.count), SQLiteConnection.copies)
            }
        }
    }

    /// Tells SQLite to copy what is bound (`SQLITE_TRANSIENT`).
    private static let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Runs a statement that returns no rows.
    func step(_ statement: OpaquePointer?) throws {
        let code = sqlite3_step(statement)
        sqlite3_reset(statement)
        guard code == SQLITE_DONE else { return try check(code) }
    }

    func next(_ statement: OpaquePointer?) throws -> Bool {
        let code = sqlite3_step(statement)
        if code != SQLITE_ROW && code != SQLITE_DONE { try check(code) }
        return code == SQLITE_ROW
    }

    private func bytes(_ statement: OpaquePointer?, _ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }

    private func check(_ code: Int32) throws {
        guard code != SQLITE_OK else { return }
        throw BenchError("SQLite: \(String(cString: sqlite3_errmsg(handle)))")
    }
}
