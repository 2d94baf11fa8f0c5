// An SQLite file: one connection that writes, and as many readers as are needed at a time. In write-ahead mode, readers
// never wait for the writer; every commit is synced before it is reported.

import CSQLite
import SynclineTables

final class SQLiteDatabase: SQLDatabase {
    let dialect = SQLDialect.sqlite
    private let writer: ConnectionPool<SQLiteConnection>
    private let readers: ConnectionPool<SQLiteConnection>
    private let watch: ConnectionPool<SQLiteConnection>
    private let waits = LockWaits()

    /// Otherwise parallel readers would wait for the lock under which SQLite counts its memory.
    private static let isTuned: Void = syncline_sqlite_count_no_memory()

    /// - Parameter cache: The memory of its writer, in KiB; each reader has a quarter of it.
    init(
        path: String, readers count: Int = 16, limits: DatabaseLimits = DatabaseLimits(), cache: Int = 65_536
    ) throws(StoreFailure) {
        _ = SQLiteDatabase.isTuned
        // The files beside it get the same permissions.
        SystemFiles.createPrivate(path)
        // Creates the file at once and checks that it is a database.
        _ = try SQLiteDatabase.writer(path, waits, cache)
        // A caller that waits for the writer waits for a large batch, or for the writers of another process.
        writer = ConnectionPool(limit: 1, timeout: limits.statement) { [waits] () throws(StoreFailure) in
            try SQLiteDatabase.writer(path, waits, cache)
        }
        watch = ConnectionPool(limit: 1, timeout: limits.check) { [waits] () throws(StoreFailure) in
            try SQLiteConnection(path: path, isReader: true, waits: waits)
        }
        readers = ConnectionPool(limit: count, timeout: limits.turn) { [waits] () throws(StoreFailure) in
            let reader = try SQLiteConnection(path: path, isReader: true, waits: waits)
            // A negative value is a size in KiB.
            try reader.execute("PRAGMA cache_size = -\(cache / 4)")
            return reader
        }
    }

    private static func writer(
        _ path: String, _ waits: LockWaits, _ cache: Int
    ) throws(StoreFailure) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, isReader: false, waits: waits)
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute("PRAGMA synchronous = FULL")
        // Pages are copied back at about 30 MB, rather than within every large batch.
        try connection.execute("PRAGMA wal_autocheckpoint = 8000")
        // A log that grew while a long read kept it is cut afterwards.
        try connection.execute("PRAGMA journal_size_limit = 67108864")
        try connection.execute("PRAGMA cache_size = -\(cache)")
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
            let result = try body(connection)
            connection.patience = SQLiteConnection.patience
            return result
        }
    }

    func write<Result>(
        _ body: (any SQLConnection) throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        try writer.withConnection { connection throws(StoreFailure) in
            let result = try body(connection)
            connection.patience = SQLiteConnection.patience
            return result
        }
    }

    func check() throws(StoreFailure) {
        try watch.withConnection { connection throws(StoreFailure) in try connection.run(StateSQL.probe) }
    }

    func checkWrites() throws(StoreFailure) {
        try check()
        do throws(StoreFailure) {
            try writer.withConnection(waiting: .zero) { connection throws(StoreFailure) in
                let patience = connection.patience
                connection.patience = .zero
                defer { connection.patience = patience }
                try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in ((), false) }
            }
        } catch {
            // The writer is in use, in this process or in another one.
            guard case .busy(let reason) = error, [.busy, .locked].contains(reason.kind) else { throw error }
        }
    }

    /// Statements no longer wait for locks of other processes.
    func interrupt() { waits.end() }

    func rest() {
        for pool in [watch, readers, writer] { pool.rest() }
    }

    var pools: [PoolUse] { [writer.use("writers"), readers.use("readers")] }

    func close() {
        watch.drain()
        readers.drain()
        writer.drain()
    }
}
