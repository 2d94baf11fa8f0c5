// Runs one statement on SQLite: all rows come from a store. One thread uses it.

import CSQLite
import SynclineCore
import SynclineGround

final class StatementConnection {
    private let database: EmptyDatabase
    private let pool: DatabasePool?
    private let catalog: TableCatalog
    /// The catalogs of other moments, by their events.
    private var moments: [UInt64: TableCatalog] = [:]
    /// The first error of a table.
    var failure: SyncError?
    /// The error for what the statement would do besides reading.
    private var refusal: SyncError?
    let isStopped: @Sendable () -> Bool
    private var handle: OpaquePointer { database.handle }

    /// Each moment is a state in memory.
    private static let momentLimit = 8

    /// - Parameter pool: Where the database comes from, and where it waits afterwards; nil to open one for this statement.
    init(
        _ source: SQLSource, _ pool: DatabasePool?, isStopped: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) throws(SyncError) {
        self.isStopped = isStopped
        self.pool = pool
        catalog = try TableCatalog(source)
        database = if let kept = pool?.take() { kept } else { try EmptyDatabase() }
        database.begin(
            self, catalog.offeredNames,
            hasDecimals: try source.reader.types.hasDecimals)
    }

    deinit {
        database.end()
        pool?.keep(database)
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

    /// Whether it reads a table with a column of decimals.
    private(set) lazy var readsDecimals = ([catalog] + moments.values).contains(where: \.usesDecimals)

    // MARK: Statements

    /// The tables of the store that a statement reads; nil if it also reads tables about the store.
    func tables(readBy text: String) throws(SyncError) -> Set<String>? {
        sqlite3_finalize(try prepare(text))
        let stored = storedTables
        return stored.count == catalog.used.count ? Set(stored) : nil
    }

    /// The tables of the store that were used.
    var storedTables: [String] { catalog.used.keys.compactMap { catalog.stored($0.text) } }

    /// Prepares a statement, which must only read. The caller finalizes it.
    func prepare(_ text: String) throws(SyncError) -> OpaquePointer {
        while true {
            (failure, refusal) = (nil, nil)
            var statement: OpaquePointer?
            let (code, rest) = StatementConnection.prepare(handle, text, &statement)
            if code == SQLITE_OK { return try checked(statement, rest) }
            // A table at another moment, or one of very many, is offered when it is asked for.
            let message = String(cString: sqlite3_errmsg(handle))
            guard let name = message.rest(after: "no such table: "), try offer(name) else { throw error(code) }
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

    /// Offers a table, perhaps of another moment. Returns false if there is none with this name, or if it is offered already.
    private func offer(_ name: String) throws(SyncError) -> Bool {
        let name = name.rest(after: "main.") ?? name
        if catalog.has(name) {
            if database.offers(name) { return false }
            database.offer(name)
            return true
        }
        guard let (bare, event) = StatementConnection.moment(name), !database.offers(name) else { return false }
        let catalog = try catalog(at: event)
        guard catalog.has(bare) else { throw catalog.unknown(bare) }
        database.offer(name)
        return true
    }

    /// Why a call of SQLite failed.
    func error(_ code: Int32) -> SyncError {
        if let failure { return failure }
        if let refusal { return refusal }
        return SQLFailure.error(code, String(cString: sqlite3_errmsg(handle)), catalog)
    }

    /// Whether the statement may do something while it is prepared.
    func mayDo(_ action: Int32, _ first: String?, _ second: String?) -> Bool {
        guard let refused = SQLFailure.refusal(of: action, first, second) else { return true }
        refusal = refusal ?? refused
        return false
    }
}
