// SQL over the tables of a store, at present and at any event of its history.

public import Syncline

extension SyncDatabase {
    /// Runs a SELECT statement on the tables of the store, as of one moment, and returns its rows.
    ///
    /// `todoitem` is the current table, and `"todoitem@41"` the table as of event 41. The tables `syncline_outbox`,
    /// `syncline_conflicts`, `syncline_cursors`, `syncline_events` and `syncline_tables` are about the store itself.
    /// A statement that would write is refused, and one whose task is cancelled is stopped.
    @concurrent
    public func sql(_ statement: String, _ arguments: SQLArguments = []) async throws(SyncError) -> [SQLRow] {
        try await sqlSource.rows(statement, arguments, databases)
    }

    /// Runs a SELECT statement and decodes a model from each row, or a plain value if rows have one column.
    @concurrent
    public func sql<Model: Decodable & Sendable>(
        _ statement: String, _ arguments: SQLArguments = [], as type: Model.Type
    ) async throws(SyncError) -> [Model] {
        try await sqlSource.models(statement, arguments, type, databases)
    }

    /// Observes a SELECT statement: yields its current rows, and new ones after each commit that changes them. It
    /// runs again after a commit that changes a table that it reads.
    public func observeSQL(_ statement: String, _ arguments: SQLArguments = []) -> SQLResults<SQLRow> {
        SQLResults(database: self, tables: { [databases] in await $0.tables(readBy: statement, databases) }) {
            [databases] source throws(SyncError) in try await source.rows(statement, arguments, databases)
        }
    }

    /// Observes a SELECT statement, and decodes a model from each row.
    public func observeSQL<Model: Decodable & Hashable & Sendable>(
        _ statement: String, _ arguments: SQLArguments = [], as type: Model.Type
    ) -> SQLResults<Model> {
        SQLResults(database: self, tables: { [databases] in await $0.tables(readBy: statement, databases) }) {
            [databases] source throws(SyncError) in try await source.models(statement, arguments, type, databases)
        }
    }

    /// The current state, for a statement.
    var sqlSource: SQLSource {
        get throws(SyncError) {
            let present = try present
            return SQLSource(
                try present.reader, event: present.event.rawValue, storage, companion { StoreFacts() })
        }
    }

    /// The databases of SQLite that run the statements.
    var databases: DatabasePool { companion { DatabasePool() } }
}

extension StoreSnapshot {
    /// Runs a SELECT statement on the tables as they were.
    @concurrent
    public func sql(_ statement: String, _ arguments: SQLArguments = []) async throws(SyncError) -> [SQLRow] {
        try await SQLSource(reader, event: event.rawValue, storage).rows(statement, arguments)
    }

    /// Runs a SELECT statement on the tables as they were, and decodes a model from each row.
    @concurrent
    public func sql<Model: Decodable & Sendable>(
        _ statement: String, _ arguments: SQLArguments = [], as type: Model.Type
    ) async throws(SyncError) -> [Model] {
        try await SQLSource(reader, event: event.rawValue, storage).models(statement, arguments, type)
    }
}

extension SQLSource {
    /// The limit for the size of a result in bytes, because all of its rows are in memory.
    private static let resultLimit = 256 << 20
    /// How many rows at most share the memory of their values, and the size at which no more do. A row that is kept keeps
    /// the values of the others.
    private static let sharedRows = 16
    private static let sharedSize = 8 << 10

    /// Runs a statement and returns its rows. Never runs on the caller's actor.
    @concurrent
    func rows(
        _ statement: String, _ arguments: SQLArguments, _ pool: DatabasePool? = nil
    ) async throws(SyncError) -> [SQLRow] {
        let running = try RunningStatement(statement, arguments, on: self, pool)
        var rows: [SQLRow] = []
        let columns = running.columns
        var (size, isAtEnd) = (0, false)
        while !isAtEnd {
            var values: [Value] = []
            let most = (rows.isEmpty ? 1 : SQLSource.sharedRows) * columns.count
            values.reserveCapacity(most)
            let sizeBefore = size
            while values.count < most, size - sizeBefore < SQLSource.sharedSize {
                guard let more = try running.appendNext(to: &values) else {
                    isAtEnd = true
                    break
                }
                size += more
                guard size <= SQLSource.resultLimit else {
                    throw SyncError(
                        .invalidQuery, "the result is larger than \(SQLSource.resultLimit >> 20) MiB",
                        hint: "Select fewer rows or columns, or add a LIMIT.")
                }
            }
            for start in stride(from: 0, to: values.count, by: columns.count) {
                rows.append(SQLRow(columns: columns, of: values, from: start))
            }
        }
        return rows
    }

    /// The tables that a statement reads; nil if any commit may change its result, or if it can't be run now.
    @concurrent
    func tables(readBy statement: String, _ pool: DatabasePool) async -> Set<String>? {
        do throws(SyncError) {
            return try StatementConnection(self, pool).tables(readBy: statement)
        } catch {
            return nil
        }
    }

    @concurrent
    func models<Model: Decodable & Sendable>(
        _ statement: String, _ arguments: SQLArguments, _ type: Model.Type, _ pool: DatabasePool? = nil
    ) async throws(SyncError) -> [Model] {
        try await rows(statement, arguments, pool).map { row throws(SyncError) in try row.decode(type) }
    }
}
