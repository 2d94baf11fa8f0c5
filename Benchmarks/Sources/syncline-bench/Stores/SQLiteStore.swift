// SQLite doing a sync client's job: a table of rows with a column each, and a table of operations, written in one
// transaction; write-ahead log, FULL for durable commits and NORMAL for buffered ones; statements prepared once.

import CBareSQLite

/// Sendable although it holds pointers: one thread uses it at a time.
final class SQLiteStore: Store, @unchecked Sendable {
    private let connection: SQLiteConnection

    init(_ directory: String, _ durability: Durability, _ settings: SQLiteSettings) throws {
        connection = try SQLiteConnection(directory + "/store.sqlite", durability, settings)
        try connection.run(
            """
            CREATE TABLE IF NOT EXISTS rows(id BLOB PRIMARY KEY NOT NULL, title TEXT, done INTEGER, priority INTEGER,
            project TEXT, due TEXT, tag TEXT)\(settings.clustered ? " WITHOUT ROWID" : "");
            CREATE TABLE IF NOT EXISTS operations(seq INTEGER PRIMARY KEY, kind INTEGER, tbl TEXT, id BLOB, data TEXT)
            """)
    }

    func insert(_ rows: TodoRows, _ range: Range<Int>) throws {
        let row = try connection.statement(
            """
            INSERT INTO rows VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(id) DO UPDATE SET title = excluded.title,
            done = excluded.done, priority = excluded.priority, project = excluded.project, due = excluded.due,
            tag = excluded.tag
            """)
        let operation = try connection.statement(
            "INSERT INTO operations(kind, tbl, id, data) VALUES(0, 'todos', ?1, ?2)")
        try connection.step(try connection.statement("BEGIN IMMEDIATE"))
        for index in range {
            let todo = rows[index]
            try withBytes(of: rows.key(index)) { id in
                connection.bind(row, 1, id)
                connection.bind(row, 2, todo.title)
                sqlite3_bind_int(row, 3, todo.isDone ? 1 : 0)
                sqlite3_bind_int(row, 4, Int32(todo.priority))
                connection.bind(row, 5, todo.project)
                connection.bind(row, 6, todo.due)
                connection.bind(row, 7, todo.tag)
                try connection.step(row)
                connection.bind(operation, 1, id)
                try todo.json.withUnsafeBytes { json in
                    sqlite3_bind_text(
                        operation, 2, json.bindMemory(to: CChar.self).baseAddress, Int32(json.count), nil)
                    try connection.step(operation)
                }
            }
        }
        try connection.step(try connection.statement("COMMIT"))
    }

    func get(_ rows: TodoRows, _ index: Int) throws -> Int {
        let select = try connection.statement("SELECT title, done, priority, project, due, tag FROM rows WHERE id = ?1")
        defer { sqlite3_reset(select) }
        return try withBytes(of: rows.key(index)) { id in
            connection.bind(select, 1, id)
            guard try connection.next(select) else { throw BenchError("a row is missing") }
            return copy(select, from: 0)
        }
    }

    func filter() throws -> Int {
        try count(
            """
            SELECT id, title, done, priority, project, due, tag FROM rows
            WHERE done = 0 AND priority = 3 AND project = 'travel'
            """
        ) { _ in }
    }

    func index() throws { try connection.run("CREATE INDEX tags ON rows(tag)") }

    func find(tag: String) throws -> Int {
        try count("SELECT id, title, done, priority, project, due, tag FROM rows WHERE tag = ?1") {
            connection.bind($0, 1, tag)
        }
    }

    func indexLists() throws {
        try connection.run("CREATE INDEX dates ON rows(due, id); CREATE INDEX titles ON rows(tag, title, id); ANALYZE")
    }

    func ask(_ question: ListQuestion, _ place: ListPlace) throws -> Int {
        let columns = "id, title, done, priority, project, due, tag"
        switch question {
        // A plus keeps an index from being used.
        case .top: return try count("SELECT \(columns) FROM rows ORDER BY +due DESC, id LIMIT 10") { _ in }
        case .topText: return try count("SELECT \(columns) FROM rows ORDER BY +title, id LIMIT 10") { _ in }
        case .counted:
            return try number("SELECT count(*) FROM rows WHERE done = 0 AND priority = 3 AND project = 'travel'")
        case .done: return try number("SELECT count(*) FROM rows WHERE done = 1")
        case .sums: return try count("SELECT 1, sum(priority), min(priority), max(priority) FROM rows") { _ in }
        case .groups: return try count("SELECT project, count(*), sum(priority) FROM rows GROUP BY project") { _ in }
        case .substring: return try number("SELECT count(*) FROM rows WHERE instr(title, 'bicycle') > 0")
        case .newest: return try count("SELECT \(columns) FROM rows ORDER BY due DESC, id DESC LIMIT 50") { _ in }
        case .page:
            return try count(
                "SELECT \(columns) FROM rows WHERE (due, id) > (?1, ?2) ORDER BY due, id LIMIT 50"
            ) { select in
                connection.bind(select, 1, place.due)
                withBytes(of: place.key) { connection.bind(select, 2, $0) }
            }
        case .count:
            return try number("SELECT count(*) FROM rows WHERE tag >= ?1 AND tag < ?2") { bindTags($0, place.tags(1)) }
        case .range, .prefix:
            return try count("SELECT \(columns) FROM rows WHERE tag >= ?1 AND tag < ?2") {
                bindTags($0, place.tags(3))
            }
        case .covered:
            return try count("SELECT id, title FROM rows WHERE tag = ?1") { connection.bind($0, 1, place.tag) }
        }
    }

    private func bindTags(_ select: OpaquePointer?, _ tags: (from: String, to: String)) {
        connection.bind(select, 1, tags.from)
        connection.bind(select, 2, tags.to)
    }

    func plan() throws -> Int { try count("SELECT id, kind, data, tbl, seq FROM operations ORDER BY seq") { _ in } }

    func close() { connection.close() }

    // MARK: Statements

    private func count(_ query: String, _ prepare: (OpaquePointer?) -> Void) throws -> Int {
        let select = try connection.statement(query)
        defer { sqlite3_reset(select) }
        prepare(select)
        var rows: [Int] = []
        while try connection.next(select) { rows.append(copy(select, from: 1)) }
        return rows.count
    }

    private func number(_ query: String, _ prepare: (OpaquePointer?) -> Void = { _ in }) throws -> Int {
        let select = try connection.statement(query)
        defer { sqlite3_reset(select) }
        prepare(select)
        guard try connection.next(select) else { throw BenchError("SQLite counts nothing") }
        return Int(sqlite3_column_int64(select, 0))
    }

    /// Takes a row out of the statement, as an app must before it continues.
    private func copy(_ select: OpaquePointer?, from column: Int32) -> Int {
        var values: [Value] = []
        values.reserveCapacity(Int(sqlite3_column_count(select)))
        for column in column..<sqlite3_column_count(select) {
            if sqlite3_column_type(select, column) == SQLITE_INTEGER {
                values.append(.integer(sqlite3_column_int64(select, column)))
            } else {
                let start = sqlite3_column_text(select, column)
                let text = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(select, column)))
                values.append(.text(String(decoding: text, as: UTF8.self)))
            }
        }
        return values.count
    }

    private enum Value {
        case integer(Int64)
        case text(String)
    }
}
