// Runs one statement on SQLite, which has no tables of its own here: all rows come from a store. One thread uses it.
//
// A statement only reads: the authorizer refuses everything else, and no file can be attached. Memory is bounded: sorted
// rows and intermediate results beyond a few MiB go to temporary files, and the sizes of values and results are limited.

import CSQLite
import SynclineCore

final class StatementConnection {
    private let handle: OpaquePointer
    /// The functions of the tables. SQLite keeps the address.
    private let module: UnsafeMutablePointer<sqlite3_module>
    private var offered: [OfferedTable] = []
    private let catalog: TableCatalog
    /// The catalogs of other moments, by their events.
    private var moments: [UInt64: TableCatalog] = [:]
    /// The first error of a table.
    var failure: SyncError?
    /// What the statement would do besides reading.
    private var refusal: String?
    fileprivate let isStopped: @Sendable () -> Bool

    /// Limits of SQLite, among them the size of a value, the length of a statement, and the depth of nesting.
    private static let limits: [(Int32, Int32)] = [
        (SQLITE_LIMIT_LENGTH, 32 << 20), (SQLITE_LIMIT_SQL_LENGTH, 1 << 20), (SQLITE_LIMIT_EXPR_DEPTH, 500),
        (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]

    /// Each moment is a state in memory.
    private static let momentLimit = 8

    init(
        _ source: SQLSource, isStopped: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) throws(SyncError) {
        self.isStopped = isStopped
        catalog = try TableCatalog(source)
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
        for (limit, value) in StatementConnection.limits { sqlite3_limit(handle, limit, value) }
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_set_authorizer(handle, authorize, context)
        // A thousand steps take some tens of microseconds.
        sqlite3_progress_handler(handle, 1000, isStatementStopped, context)
        for name in catalog.names { offer(name) }
    }

    deinit {
        sqlite3_close_v2(handle)
        module.deallocate()
    }

    /// Lets statements use a name as a table.
    private func offer(_ name: String) {
        let table = OfferedTable(name, self)
        offered.append(table)
        sqlite3_create_module(handle, name, module, Unmanaged.passUnretained(table).toOpaque())
    }

    /// The table with a name, at the present or at the moment that the name says.
    func table(_ name: String) throws(SyncError) -> VirtualTable {
        guard !catalog.has(name), let (bare, event) = StatementConnection.moment(name) else {
            return try catalog.table(name)
        }
        return try catalog(at: event).table(bare)
    }

    private func catalog(at event: UInt64) throws(SyncError) -> TableCatalog {
        if let known = moments[event] { return known }
        guard moments.count < StatementConnection.momentLimit else {
            throw SyncError(
                .invalidQuery, "the statement reads more than \(StatementConnection.momentLimit) other moments",
                hint: "Compare fewer moments in one statement.")
        }
        let made = try TableCatalog(try catalog.source.at(event))
        moments[event] = made
        return made
    }

    /// The parts of a name such as `todoitem@41`; nil for a name without a moment.
    private static func moment(_ name: String) -> (name: String, event: UInt64)? {
        guard let sign = name.lastIndex(of: "@"), let event = UInt64(name[name.index(after: sign)...]) else {
            return nil
        }
        return (String(name[..<sign]), event)
    }

    // MARK: Statements

    /// The tables of the store that a statement reads; nil if it also reads tables about the store.
    func tables(readBy text: String) throws(SyncError) -> Set<String>? {
        sqlite3_finalize(try prepare(text))
        let stored = storedTables
        return stored.count == catalog.used.count ? Set(stored) : nil
    }

    /// The tables of the store that were used.
    var storedTables: [String] { catalog.used.keys.compactMap { catalog.stored($0) } }

    /// Prepares a statement, which must only read. The caller finalizes it.
    func prepare(_ text: String) throws(SyncError) -> OpaquePointer {
        while true {
            (failure, refusal) = (nil, nil)
            var statement: OpaquePointer?
            let (code, rest) = StatementConnection.prepare(handle, text, &statement)
            if code == SQLITE_OK { return try checked(statement, rest) }
            // A table at another moment is offered when it is asked for.
            let message = String(cString: sqlite3_errmsg(handle))
            guard let name = message.rest(after: "no such table: "), try offerMoment(name) else { throw error(code) }
        }
    }

    /// Prepares the first statement of a string, and returns what follows it.
    private static func prepare(
        _ handle: OpaquePointer, _ text: String, _ statement: inout OpaquePointer?
    ) -> (code: Int32, rest: String) {
        var text = text
        return text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { bytes in
                var end: UnsafePointer<CChar>?
                let start = bytes.baseAddress
                let code = sqlite3_prepare_v2(handle, start, Int32(clamping: bytes.count), &statement, &end)
                guard let start, let end else { return (code, "") }
                return (code, String(decoding: utf8[(end - start)...], as: UTF8.self))
            }
        }
    }

    private func checked(_ statement: OpaquePointer?, _ rest: String) throws(SyncError) -> OpaquePointer {
        guard let statement else {
            throw SyncError(.invalidQuery, "the statement is empty", hint: "Write a SELECT statement.")
        }
        var fault: SyncError?
        if hasStatement(rest) {
            fault = SyncError(.invalidQuery, "there is more than one statement", hint: "Run one at a time.")
        } else if sqlite3_stmt_readonly(statement) == 0 || sqlite3_column_count(statement) == 0 {
            fault = SyncError(.invalidQuery, "the statement returns no rows", hint: "Write a SELECT statement.")
        }
        guard let fault else { return statement }
        sqlite3_finalize(statement)
        throw fault
    }

    /// Whether a string has more than spaces and comments.
    private func hasStatement(_ text: String) -> Bool {
        var statement: OpaquePointer?
        let (code, _) = StatementConnection.prepare(handle, text, &statement)
        sqlite3_finalize(statement)
        return code != SQLITE_OK || statement != nil
    }

    /// Offers a table of another moment. Returns false if the name is not one, or is offered already.
    private func offerMoment(_ name: String) throws(SyncError) -> Bool {
        let name = name.rest(after: "main.") ?? name
        guard let (bare, event) = StatementConnection.moment(name),
            !offered.contains(where: { $0.name.lowercased() == name.lowercased() })
        else { return false }
        let catalog = try catalog(at: event)
        guard catalog.has(bare) else { throw catalog.unknown(bare) }
        offer(name)
        return true
    }

    /// Why a call of SQLite failed.
    func error(_ code: Int32) -> SyncError {
        if let failure { return failure }
        if let refusal { return SQLFailure.refused(refusal) }
        return SQLFailure.error(code, String(cString: sqlite3_errmsg(handle)), catalog)
    }

    /// Whether the statement may do something while it is prepared.
    fileprivate func mayDo(_ action: Int32, _ first: String?, _ second: String?) -> Bool {
        guard let refused = SQLFailure.refusal(of: action, first, second) else { return true }
        refusal = refusal ?? refused
        return false
    }
}

private nonisolated func isStatementStopped(_ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 1 }
    return Unmanaged<StatementConnection>.fromOpaque(context).takeUnretainedValue().isStopped() ? 1 : 0
}

private nonisolated func authorize(
    _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
    _ second: UnsafePointer<CChar>?, _ database: UnsafePointer<CChar>?, _ trigger: UnsafePointer<CChar>?
) -> Int32 {
    guard let context else { return SQLITE_DENY }
    let connection = Unmanaged<StatementConnection>.fromOpaque(context).takeUnretainedValue()
    let isAllowed = connection.mayDo(
        action, first.map { String(cString: $0) }, second.map { String(cString: $0) })
    return isAllowed ? SQLITE_OK : SQLITE_DENY
}
