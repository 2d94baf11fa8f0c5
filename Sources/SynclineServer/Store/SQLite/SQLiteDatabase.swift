// An SQLite file: one connection that writes, and as many that read as may be needed at a time. In the write-ahead mode readers
// never wait for the writer; every commit is synced before it is told.

import CSQLite
import SynclineCore

final class SQLiteDatabase: SQLDatabase {
    let dialect = SQLDialect.sqlite
    private let writer: ConnectionPool<SQLiteConnection>
    private let readers: ConnectionPool<SQLiteConnection>
    private let watch: ConnectionPool<SQLiteConnection>

    /// Threads that read side by side would wait for the lock under which SQLite counts its memory.
    private static let isTuned: Void = syncline_sqlite_count_no_memory()

    init(path: String, readers count: Int = 16, limits: DatabaseLimits = DatabaseLimits()) throws(StoreFailure) {
        _ = SQLiteDatabase.isTuned
        // The file is made, and found to be a database, at once.
        _ = try SQLiteDatabase.writer(path)
        // Who waits for the writer waits for a large batch, or for the writers of another process.
        writer = ConnectionPool(limit: 1, patience: limits.statement) { () throws(StoreFailure) in
            try SQLiteDatabase.writer(path)
        }
        watch = ConnectionPool(limit: 1, patience: Pulse.patience) { () throws(StoreFailure) in
            try SQLiteConnection(path: path, isReader: true)
        }
        readers = ConnectionPool(limit: count, patience: limits.turn) { () throws(StoreFailure) in
            let reader = try SQLiteConnection(path: path, isReader: true)
            // Pages in KiB, with a minus.
            try reader.execute("PRAGMA cache_size = -8192")
            return reader
        }
    }

    private static func writer(_ path: String) throws(StoreFailure) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, isReader: false)
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute("PRAGMA synchronous = FULL")
        // Pages are copied back when there are some 30 MB of them, rather than within every large batch.
        try connection.execute("PRAGMA wal_autocheckpoint = 8000")
        // Pages in KiB, with a minus.
        try connection.execute("PRAGMA cache_size = -65536")
        return connection
    }

    func read<Result>(
        _ body: (any SQLConnection) throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        let limit = WorkLimit.current
        try limit?.check()
        return try readers.withConnection { connection throws(StoreFailure) in
            connection.limit = limit
            defer { connection.limit = nil }
            return try body(connection)
        }
    }

    func write<Result>(
        _ body: (any SQLConnection) throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        try writer.withConnection { connection throws(StoreFailure) in try body(connection) }
    }

    func check() throws(StoreFailure) {
        try watch.withConnection { connection throws(StoreFailure) in try connection.run(StateSQL.mark(.sqlite)) }
    }

    /// A statement of SQLite waits for no other machine.
    func interrupt() {}

    var pools: [PoolUse] { [writer.use("writers"), readers.use("readers")] }

    func close() {
        watch.drain()
        readers.drain()
        writer.drain()
    }
}
