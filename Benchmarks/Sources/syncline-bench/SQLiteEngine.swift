// SQLite: write-ahead log, synchronous FULL for durable commits and NORMAL for buffered ones, prepared statements, an
// upsert by id. It has one writer at a time: threads either share one connection under a lock, or have a connection each
// and wait by SQLite's busy handler.

import CBareSQLite
import Synchronization

/// The shapes and settings SQLite is measured with.
struct SQLiteSettings: Sendable {
    /// Rows in the order of their ids (WITHOUT ROWID) instead of a table with a unique index beside.
    var clustered = false
    /// A cache of 256 MiB and a checkpoint every 20,000 pages instead of 2 MB and 1,000.
    var tuned = false
    /// A connection for each thread.
    var connectionEach = false
}

final class SQLiteEngine: Engine {
    private let directory: String
    private let durability: Durability
    private let settings: SQLiteSettings
    private let connection: Mutex<SQLiteConnection>

    init(_ directory: String, _ durability: Durability, _ settings: SQLiteSettings) throws {
        self.directory = directory
        self.durability = durability
        self.settings = settings
        connection = Mutex(try Self.connect(directory, durability, settings))
    }

    private static func connect(
        _ directory: String, _ durability: Durability, _ settings: SQLiteSettings
    ) throws -> sending SQLiteConnection {
        let connection = try SQLiteConnection(directory + "/rows.sqlite", durability, settings)
        try connection.run(
            "CREATE TABLE IF NOT EXISTS rows(id BLOB PRIMARY KEY NOT NULL, data TEXT NOT NULL)"
                + (settings.clustered ? " WITHOUT ROWID" : ""))
        try connection.prepareWrites()
        return connection
    }

    func makeSession() throws -> any Session {
        if settings.connectionEach {
            SQLiteOwnSession(try Self.connect(directory, durability, settings))
        } else {
            SQLiteSession(self)
        }
    }

    fileprivate func put(_ records: RecordSet, _ range: Range<Int>) throws {
        try connection.withLock { try $0.put(records, range) }
    }

    func readFirst() throws -> Int {
        try connection.withLock { connection in
            var totals = ScanTotals()
            try connection.read("SELECT id, data FROM rows LIMIT 1") { totals.add(key: $0, value: $1) }
            return totals.bytes
        }
    }

    func scan() throws -> ScanTotals {
        try connection.withLock { connection in
            var totals = ScanTotals()
            try connection.read("SELECT id, data FROM rows") { totals.add(key: $0, value: $1) }
            return totals
        }
    }

    func close() { connection.withLock { $0.close() } }
}

private final class SQLiteSession: Session {
    private let engine: SQLiteEngine

    init(_ engine: SQLiteEngine) { self.engine = engine }

    func put(_ records: RecordSet, _ range: Range<Int>) throws { try engine.put(records, range) }
}

private final class SQLiteOwnSession: Session {
    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    deinit { connection.close() }

    func put(_ records: RecordSet, _ range: Range<Int>) throws { try connection.put(records, range) }
}

/// Follows a rowid table: new rows have higher rowids than all before.
final class SQLiteFollower: Follower {
    private let connection: SQLiteConnection
    private var lastRow: Int64 = 0

    init(_ directory: String) throws {
        connection = try SQLiteConnection(directory + "/rows.sqlite")
        try connection.prepareFollowing()
    }

    func poll(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Int {
        try connection.follow(after: &lastRow, body)
    }
}
