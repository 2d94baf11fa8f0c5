// A database of SQLite that has no tables of its own: those that statements name are read from a store. One statement uses
// it at a time.
//
// A statement only reads: the authorizer refuses everything else, and no file can be attached. Memory is bounded: sorted
// rows and intermediate results beyond a few MiB go to temporary files, and the sizes of values and results are limited.

import CSQLite
import SynclineCore
import SynclineGround

/// It is unchecked because only one statement uses it at a time.
final class EmptyDatabase: @unchecked Sendable {
    let handle: OpaquePointer
    /// The functions of the tables. SQLite keeps the address.
    private let module: UnsafeMutablePointer<sqlite3_module>
    /// Whether `sum` can add digits.
    private var addsDigits = false
    /// The names that statements may use for tables. SQLite keeps the addresses.
    private var offered: [OfferedTable] = []
    /// The statement that uses it, which calls `end()` before it is gone.
    fileprivate(set) unowned(unsafe) var statement: StatementConnection?

    /// Limits of SQLite, among them the size of a value, the length of a statement, and the depth of nesting.
    private static let limits: [(Int32, Int32)] = [
        (SQLITE_LIMIT_LENGTH, 32 << 20), (SQLITE_LIMIT_SQL_LENGTH, 1 << 20), (SQLITE_LIMIT_EXPR_DEPTH, 500),
        (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]

    init() throws(SyncError) {
        var opened: OpaquePointer?
        let access = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(":memory:", &opened, access, nil) == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw SyncError(.internalError, "a database in memory can't be opened")
        }
        handle = opened
        module = .allocate(capacity: 1)
        module.initialize(to: TableModule.functions)
        // A negative value is a size in KiB.
        sqlite3_exec(handle, "PRAGMA temp_store = FILE; PRAGMA cache_size = -8192", nil, nil, nil)
        syncline_sqlite_refuse_text_in_double_quotes(handle)
        syncline_sqlite_be_defensive(handle)
        for (limit, value) in EmptyDatabase.limits { sqlite3_limit(handle, limit, value) }
        SumFunction.offer(handle)
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_set_authorizer(handle, authorize, context)
        // A thousand steps take some tens of microseconds.
        sqlite3_progress_handler(handle, 1000, isStatementStopped, context)
    }

    deinit {
        sqlite3_close_v2(handle)
        module.deallocate()
    }

    /// Lets a statement use it, with these tables.
    /// - Parameter hasDecimals: Whether there are columns of decimals.
    func begin(_ statement: StatementConnection, _ names: [String], hasDecimals: Bool) {
        self.statement = statement
        if hasDecimals != addsDigits {
            addsDigits = hasDecimals
            SumFunction.replaceSum(handle, hasDecimals ? self : nil)
        }
        guard !names.elementsEqual(offered, by: { $0.hasSameBytes(as: $1.name) }) else { return }
        for table in offered { sqlite3_create_module(handle, table.name, nil, nil) }
        offered = []
        for name in names { offer(name) }
    }

    /// Ends its use by a statement, and makes SQLite let the tables go that were used.
    func end() {
        // First, because the statement is about to be gone, and SQLite may ask it whether to stop.
        statement = nil
        for table in offered where table.isUsed {
            table.isUsed = false
            create(table)
        }
        // What a replaced module had is released when the next statement is prepared.
        var none: OpaquePointer?
        sqlite3_prepare_v2(handle, "", 0, &none, nil)
    }

    /// Lets statements use a name as a table.
    func offer(_ name: String) {
        let table = OfferedTable(name, self)
        offered.append(table)
        create(table)
    }

    private func create(_ table: OfferedTable) {
        sqlite3_create_module(handle, table.name, module, Unmanaged.passUnretained(table).toOpaque())
    }

    /// SQLite ignores the case of letters in names.
    func offers(_ name: String) -> Bool {
        offered.contains { $0.name.lowercased().hasSameBytes(as: name.lowercased()) }
    }
}

/// Keeps databases for the next statements of a store, because to open one takes longer than a small statement.
package final class DatabasePool: Sendable {
    private let idle = Mutex<[EmptyDatabase]>([])
    private static let limit = 4

    func take() -> EmptyDatabase? { idle.withLock { $0.popLast() } }

    func keep(_ database: EmptyDatabase) {
        idle.withLock { idle in
            if idle.count < DatabasePool.limit { idle.append(database) }
        }
    }
}

private nonisolated func isStatementStopped(_ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 1 }
    let database = Unmanaged<EmptyDatabase>.fromOpaque(context).takeUnretainedValue()
    return database.statement?.isStopped() ?? true ? 1 : 0
}

private nonisolated func authorize(
    _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
    _ second: UnsafePointer<CChar>?, _ database: UnsafePointer<CChar>?, _ trigger: UnsafePointer<CChar>?
) -> Int32 {
    guard let context else { return SQLITE_DENY }
    let statement = Unmanaged<EmptyDatabase>.fromOpaque(context).takeUnretainedValue().statement
    let isAllowed = statement?.mayDo(
        action, first.map { String(cString: $0) }, second.map { String(cString: $0) })
    return isAllowed ?? false ? SQLITE_OK : SQLITE_DENY
}
