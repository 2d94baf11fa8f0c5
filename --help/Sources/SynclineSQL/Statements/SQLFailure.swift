// Errors of statements, in words that say what to do.

import CSQLite
import SynclineCore

enum SQLFailure {
    /// The error for a statement that would change rows.
    static func refused(change name: String) -> SyncError {
        refused(
            "change \(name)", hint: "Change rows with `insert`, `update` and `delete`, so that each change is an event."
        )
    }

    private static func refused(_ what: String, hint: String) -> SyncError {
        SyncError(.invalidQuery, "SQL only reads a store, and this statement would \(what)", hint: hint)
    }

    /// The error for what a statement would do, as the authorizer is told; nil if it is harmless.
    static func refusal(of action: Int32, _ first: String?, _ second: String?) -> SyncError? {
        switch action {
        case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: return nil
        case SQLITE_FUNCTION:
            guard second?.lowercased() == "load_extension" else { return nil }
            return refused("load an extension", hint: "Use SQLite's built-in functions.")
        // SQLite asks this when it connects to a virtual table. A statement that does it fails for another reason.
        case SQLITE_INSERT where first == "sqlite_master", SQLITE_UPDATE where first == "sqlite_master": return nil
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            guard let first, !first.hasPrefix("sqlite_") else { return changedSchema }
            return refused(change: first)
        case SQLITE_PRAGMA:
            return refused(
                "run the pragma\(first.map { " \($0)" } ?? "")",
                hint: "`select name, columns from syncline_tables` lists the tables and their columns.")
        case SQLITE_TRANSACTION, SQLITE_SAVEPOINT:
            return refused(
                "control a transaction", hint: "Leave it out: a statement reads all its tables at the same moment.")
        case SQLITE_ATTACH, SQLITE_DETACH:
            return refused(
                "attach or detach a database",
                hint: "Make a mirror of the store, and attach that file in another program.")
        default: return changedSchema
        }
    }

    private static var changedSchema: SyncError {
        refused("change the schema", hint: "Tables and columns are created when a row that has them is inserted.")
    }

    /// An error that SQLite reports.
    static func error(_ code: Int32, _ message: String, _ catalog: TableCatalog?) -> SyncError {
        if let name = message.rest(after: "no such table: "), let catalog {
            return catalog.unknown(name.rest(after: "main.") ?? name)
        }
        if let name = message.rest(after: "no such column: "), let catalog { return catalog.unknown(column: name) }
        if message.hasSuffix("may not be modified") || message.hasSuffix("may not be altered") {
            return refused(change: message.split(separator: " ").dropFirst().prefix(1).joined())
        }
        switch code & 0xff {
        case SQLITE_INTERRUPT: return .queryCancelled
        case SQLITE_TOOBIG:
            return SyncError(
                .invalidQuery, "the statement is too long, or it makes a value that is too large",
                hint: "A statement has at most 1 MiB, and a value at most 32 MiB.")
        case SQLITE_NOMEM:
            return SyncError(
                .invalidQuery, "there is not enough memory for the statement", hint: "Select fewer rows or columns.")
        case SQLITE_FULL:
            return SyncError(
                .diskFull, "the disk is full: there is no space for the statement's temporary files",
                hint: "Free space on the disk, then try again.")
        case SQLITE_IOERR, SQLITE_CANTOPEN: return SyncError(.ioError, "a temporary file can't be used: \(message)")
        default: return SyncError(.invalidQuery, "the statement can't be run: \(message)")
        }
    }
}

extension String {
    /// The rest of the string after a prefix; nil if it does not have the prefix.
    func rest(after prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
