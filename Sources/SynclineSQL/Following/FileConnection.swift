// A connection to an SQLite file that is written here. It keeps prepared statements. One thread uses it at a time.

import CSQLite
import Foundation
import SynclineCore
import SynclineGround

/// Why a file can't be used.
enum FileFailure: Error {
    /// Its content can't be read.
    case damaged(path: String, String)
    /// SQLite refuses a statement.
    case refused(path: String, String)
    case failed(SyncError)
}

extension SyncError {
    /// The error for an app.
    init(_ failure: FileFailure) {
        switch failure {
        case .failed(let error): self = error
        case .damaged(let path, let reason):
            // It may be a file of another program.
            self.init(.storeCorrupt, "the file \(path) can't be read: \(reason)", hint: "Choose another path.")
        case .refused(let path, let reason):
            self.init(
                .storeCorrupt, "the file \(path) does not have the expected tables: \(reason)",
                hint: "Remove the file, and it is rebuilt.")
        }
    }
}

final class FileConnection {
    let path: String
    private let handle: OpaquePointer
    private(set) var statements: [ExactString: OpaquePointer] = [:]

    /// Opens a file, or a database in memory if the path is empty.
    convenience init(_ path: String) throws(FileFailure) {
        try self.init(path, path.isEmpty ? ":memory:" : path.plainPath, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    }

    /// Opens a file that is not changed. While no program has it open, it has no log beside it, and SQLite must not make
    /// one.
    convenience init(reading path: String) throws(FileFailure) {
        let isOpenElsewhere = FileManager.default.fileExists(atPath: path + "-wal")
        let name = path.plainPath
        let escaped = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
        try self.init(
            path, isOpenElsewhere ? name : "file:\(escaped)?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
    }

    private init(_ path: String, _ name: String, _ access: Int32) throws(FileFailure) {
        self.path = path
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(name, &opened, access | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            let reason = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw .failed(SyncError(.ioError, "the file \(path) can't be opened: \(reason)"))
        }
        handle = opened
        sqlite3_busy_timeout(handle, FileConnection.patience)
        syncline_sqlite_refuse_text_in_double_quotes(handle)
        syncline_sqlite_be_defensive(handle)
        sqlite3_progress_handler(handle, 1000, shouldStop, nil)
        // A power cut may undo the newest transactions, but never a part of one.
        sqlite3_exec(handle, "PRAGMA synchronous = NORMAL", nil, nil, nil)
        // Removed content is overwritten.
        sqlite3_exec(handle, "PRAGMA secure_delete = ON", nil, nil, nil)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Runs a statement and returns its rows.
    @discardableResult
    func run(_ text: String, _ values: [Value] = []) throws(FileFailure) -> [[Value]] {
        let statement = try prepare(text)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            ParameterSink(statement: statement, index: Int32(index + 1)).write(value)
        }
        var rows: [[Value]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows.append((0..<sqlite3_column_count(statement)).map { Value(column: $0, of: statement) })
            case SQLITE_DONE: return rows
            case let code: throw failure(code)
            }
        }
    }

    /// Begins a statement whose rows are read one after another.
    func rows(_ text: String) throws(FileFailure) -> Rows { Rows(self, try prepare(text)) }

    /// The rows of a running statement.
    final class Rows {
        private let file: FileConnection
        private let statement: OpaquePointer

        fileprivate init(_ file: FileConnection, _ statement: OpaquePointer) {
            (self.file, self.statement) = (file, statement)
        }

        deinit { sqlite3_reset(statement) }

        /// The next row; nil at the end.
        func next() throws(FileFailure) -> [Value]? {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: (0..<sqlite3_column_count(statement)).map { Value(column: $0, of: statement) }
            case SQLITE_DONE: nil
            case let code: throw file.failure(code)
            }
        }
    }

    /// Runs a body that writes the table of the schema itself, and reads the schema again.
    func changingSchema(_ body: () throws(FileFailure) -> Void) throws(FileFailure) {
        syncline_sqlite_let_schema_be_written(handle, 1)
        defer { syncline_sqlite_let_schema_be_written(handle, 0) }
        try body()
    }

    /// How long it waits for other programs, in milliseconds.
    private static let patience: Int32 = 10_000

    /// Moves SQLite's log into the file and empties it; returns false if another program is reading the file.
    func emptyLog() throws(FileFailure) -> Bool {
        sqlite3_busy_timeout(handle, 0)
        defer { sqlite3_busy_timeout(handle, FileConnection.patience) }
        return try run("PRAGMA wal_checkpoint(TRUNCATE)").first?.first == .integer(0)
    }

    /// Runs a body in a transaction, which an error undoes.
    func transaction<Result>(_ body: () throws(FileFailure) -> Result) throws(FileFailure) -> Result {
        try run("BEGIN IMMEDIATE")
        do throws(FileFailure) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // The first failure is the one to report.
            _ = try? run("ROLLBACK")
            throw error
        }
    }

    /// How many statements are kept. None of them is running while another one is prepared.
    private static let statementLimit = 256

    private func prepare(_ text: String) throws(FileFailure) -> OpaquePointer {
        if let known = statements[text] { return known }
        if statements.count == FileConnection.statementLimit {
            for statement in statements.values { sqlite3_finalize(statement) }
            statements = [:]
        }
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, text, -1, &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw failure(code) }
        statements[text] = prepared
        return prepared
    }

    fileprivate func failure(_ code: Int32) -> FileFailure {
        let reason = String(cString: sqlite3_errmsg(handle))
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB: return .damaged(path: path, reason)
        case SQLITE_INTERRUPT: return .failed(.queryCancelled)
        case SQLITE_FULL:
            return .failed(
                SyncError(
                    .diskFull, "the disk is full: the file \(path) can't grow",
                    hint: "Free space on the disk, then try again. The file still has its earlier content."))
        case SQLITE_BUSY, SQLITE_LOCKED:
            return .failed(
                SyncError(
                    .storeLocked, "another program is using the file \(path)",
                    hint: "Try again after that program has closed the file."))
        case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_IOERR:
            return .failed(SyncError(.ioError, "the file \(path) can't be written: \(reason)"))
        // The tables are not those that were made here, or an expression for a search has a syntax error.
        default: return .refused(path: path, reason)
        }
    }
}
