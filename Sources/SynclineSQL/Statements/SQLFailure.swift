// Errors of statements, in words that say what to do.

import CSQLite
import SynclineCore

enum SQLFailure {
    /// The error for a statement that does not only read.
    static func refused(_ what: String) -> SyncError {
        SyncError(
            .invalidQuery, "SQL only reads a store, and this statement would \(what)",
            hint: "Change rows with `insert`, `update` and `delete`, so that each change is an event.")
    }

    /// What a statement would do, as the authorizer is told; nil if it is harmless.
    static func refusal(of action: Int32, _ first: String?, _ second: String?) -> String? {
        let name = first.map { " \($0)" } ?? ""
        switch action {
        case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: return nil
        case SQLITE_FUNCTION:
            let function = second ?? ""
            return function.lowercased() == "load_extension" ? "load an extension" : nil
        // SQLite asks this when it connects to a virtual table. A statement that does it fails for another reason.
        case SQLITE_INSERT where first == "sqlite_master", SQLITE_UPDATE where first == "sqlite_master": return nil
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            return first?.hasPrefix("sqlite_") == true ? "change the schema" : "change\(name)"
        case SQLITE_PRAGMA: return "run the pragma\(name)"
        case SQLITE_TRANSACTION, SQLITE_SAVEPOINT: return "control a transaction"
        case SQLITE_ATTACH, SQLITE_DETACH: return "attach or detach a database"
        default: return "change the schema"
        }
    }

    /// An error that SQLite reports.
    static func error(_ code: Int32, _ message: String, _ catalog: TableCatalog?) -> SyncError {
        if let name = message.rest(after: "no such table: "), let catalog {
            return catalog.unknown(name.rest(after: "main.") ?? name)
        }
        if let name = message.rest(after: "no such column: "), let catalog { return catalog.unknown(column: name) }
        if message.hasSuffix("may not be modified") || message.hasSuffix("may not be altered") {
            return refused("change " + message.split(separator: " ").dropFirst().prefix(1).joined())
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
