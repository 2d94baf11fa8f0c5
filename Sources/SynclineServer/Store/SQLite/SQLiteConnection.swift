// A connection to an SQLite file. Statements are prepared once and cached by their text; one thread uses it at a time.

import CSQLite
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

final class SQLiteConnection: SQLConnection {
    let handle: OpaquePointer
    private var statements: [ExactString: OpaquePointer] = [:]
    /// The last bound moment and its text: the rows of a transaction share one time.
    private var moment = (instant: Timestamp.Instant(seconds: 0), text: Timestamp.text(milliseconds: 0))
    /// The limit for its work; nil for no limit.
    var limit: WorkLimit?
    /// How long a statement waits for a lock of another process.
    var patience = SQLiteConnection.patience
    static let patience = Duration.seconds(10)
    /// The same for the next ones, until the lock has been free: those that wait in line do not each wait for long.
    private static let laterPatience = Duration.seconds(1)
    private var waitStart = ContinuousClock.Instant.present
    private let waits: LockWaits
    /// Clients' filters can create any number of different statements.
    private static let statementLimit = 200

    /// Opens a file; `isReader` for one that never writes.
    init(path: String, isReader: Bool, waits: LockWaits = LockWaits()) throws(StoreFailure) {
        self.waits = waits
        var opened: OpaquePointer?
        let access = isReader ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        // One thread at a time uses it, so SQLite's own lock is not needed.
        let code = sqlite3_open_v2(path.plainPath, &opened, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard let opened, code == SQLITE_OK else {
            let reason = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            let kind = FailureReason.Kind(sqlite: code & 0xff)
            throw .broken(FailureReason(kind, "the database \(path) can't be opened: \(reason)"))
        }
        handle = opened
        sqlite3_busy_handler(handle, waitForLock, Unmanaged.passUnretained(self).toOpaque())
        // A name in double quotes that is not a column is an error, never a string.
        syncline_sqlite_refuse_text_in_double_quotes(handle)
        // A few thousand steps take some tens of microseconds.
        sqlite3_progress_handler(handle, 2000, isToStop, Unmanaged.passUnretained(self).toOpaque())
        for (name, function) in SQLiteFunctions.all {
            sqlite3_create_function_v2(
                handle, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, function, nil, nil, nil)
        }
    }

    /// Waits a moment for a lock; returns false if that was the last one.
    func waitsForLock(_ count: Int32) -> Bool {
        let now = ContinuousClock.Instant.present
        if count == 0 { waitStart = now }
        if waits.areOver || waitStart.duration(to: now) >= patience {
            patience = min(patience, SQLiteConnection.laterPatience)
            return false
        }
        Duration.milliseconds(count < 10 ? 1 : 20).block()
        return true
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    func execute(_ text: String) throws(StoreFailure) {
        try run(SQLStatement(prepared: text))
    }

    func run(_ statement: SQLStatement, _ each: (any SQLRow) -> Bool) throws(StoreFailure) {
        let prepared = try prepare(statement.text(.sqlite))
        defer {
            sqlite3_reset(prepared)
            sqlite3_clear_bindings(prepared)
        }
        for (index, value) in statement.values.enumerated() { try bind(value, Int32(index + 1), prepared) }
        if let columns = statement.columns { try bind(columns, after: Int32(statement.values.count), prepared) }
        while true {
            switch sqlite3_step(prepared) {
            case SQLITE_ROW: if !each(SQLiteRow(statement: prepared)) { return }
            case SQLITE_DONE: return
            case let code: throw failure(code)
            }
        }
    }

    func change(_ statement: SQLStatement) throws(StoreFailure) -> Int {
        try run(statement)
        return Int(sqlite3_changes(handle))
    }

    private func prepare(_ text: String) throws(StoreFailure) -> OpaquePointer {
        if let known = statements[text] { return known }
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw failure(code) }
        if statements.count >= SQLiteConnection.statementLimit {
            for statement in statements.values { sqlite3_finalize(statement) }
            statements = [:]
        }
        statements[text] = prepared
        return prepared
    }

    /// Binds a row's values from their encoding.
    private func bind(
        _ row: BoundColumns, after count: Int32, _ statement: OpaquePointer
    ) throws(StoreFailure) {
        try row.values.withView { view throws(StoreFailure) in
            var reader = ByteReader(view.bytes)
            for (place, column) in row.columns.enumerated() {
                let index = count + Int32(place) + 1
                if column.type == .string,
                    let code = try? reader.withText({
                        syncline_sqlite_bind_text(statement, index, $0.baseAddress, $0.count)
                    })
                {
                    if code != SQLITE_OK { throw failure(code) }
                } else {
                    try bind(column.type.bound((try? reader.value()) ?? .null), index, statement)
                }
            }
        }
    }

    private func bind(_ value: SQLValue, _ index: Int32, _ statement: OpaquePointer) throws(StoreFailure) {
        let code: Int32
        switch value {
        case .null: code = sqlite3_bind_null(statement, index)
        case .bool(let flag): code = sqlite3_bind_int64(statement, index, flag ? 1 : 0)
        case .integer(let number): code = sqlite3_bind_int64(statement, index, number)
        case .double(let number): code = sqlite3_bind_double(statement, index, number)
        case .text(let text), .decimal(let text), .uuid(let text), .json(let text):
            code = bind(text, index, statement)
        case .date(let instant):
            if instant != moment.instant { moment = (instant, Timestamp(kept: instant).description) }
            code = bind(moment.text, index, statement)
        }
        if code != SQLITE_OK { throw failure(code) }
    }

    private func bind(_ text: String, _ index: Int32, _ statement: OpaquePointer) -> Int32 {
        var text = text
        return text.withUTF8 { syncline_sqlite_bind_text(statement, index, $0.baseAddress, $0.count) }
    }

    private func failure(_ code: Int32) -> StoreFailure {
        if code & 0xff == SQLITE_INTERRUPT, let limit, let stop = limit.stop { return limit.refusal(stop) }
        let reason = String(cString: sqlite3_errmsg(handle))
        let kind = FailureReason.Kind(sqlite: code & 0xff)
        if code == SQLITE_ERROR {
            if reason.hasPrefix("too many columns") { return .refused(ServedTable.tooManyColumns) }
            if ["no such column", "no such table"].contains(where: reason.hasPrefix) {
                return .changed(FailureReason(kind, reason))
            }
        }
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED: return .busy(FailureReason(kind, "the database is locked: \(reason)"))
        // The message of a trigger is its author's, and may contain values.
        case SQLITE_CONSTRAINT where code == syncline_sqlite_constraint_trigger:
            return .refused(.trigger(FailureReason(.constraint, "a trigger refused a row (SQLite code \(code))")))
        case SQLITE_CONSTRAINT, SQLITE_MISMATCH:
            let name = reason.firstIndex(of: ":").map { reason[reason.index(after: $0)...].trimmed }
            return .refused(.constraint(name, FailureReason(.constraint, "the database refused a row: \(reason)")))
        case SQLITE_TOOBIG: return .refused(.valueTooLarge)
        case SQLITE_READONLY: return .busy(FailureReason(kind, "the database is read-only: \(reason)"))
        case SQLITE_FULL: return .busy(FailureReason(kind, "the disk is full"))
        default: return .broken(FailureReason(kind, "\(reason) (SQLite code \(code))"))
        }
    }
}

/// Whether the connections of a database still wait for locks of other processes.
final class LockWaits: Sendable {
    private let over = Atomic(false)

    var areOver: Bool { over.load(ordering: .acquiring) }

    func end() { over.store(true, ordering: .releasing) }
}

/// Called by SQLite, on the working thread, when another process has a lock, to ask whether to try again.
private nonisolated func waitForLock(_ context: UnsafeMutableRawPointer?, _ count: Int32) -> Int32 {
    guard let context else { return 0 }
    return Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue().waitsForLock(count) ? 1 : 0
}

/// Called by SQLite, on the working thread, to ask whether to stop.
private nonisolated func isToStop(_ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    let connection = Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue()
    return connection.limit?.stop == nil ? 0 : 1
}

/// The current row of a statement.
private struct SQLiteRow: SQLRow {
    let statement: OpaquePointer

    func value(_ index: Int) -> SQLValue {
        let index = Int32(index)
        switch sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, index))
        case SQLITE_FLOAT: return SQLValue(number: sqlite3_column_double(statement, index))
        case SQLITE_NULL: return .null
        default: return text(index).map { .text(String(decoding: $0, as: UTF8.self)) } ?? .null
        }
    }

    func instant(_ index: Int) -> Timestamp.Instant {
        guard sqlite3_column_type(statement, Int32(index)) == SQLITE_TEXT, let text = text(Int32(index)),
            let time = Timestamp(utf8: text.bindMemory(to: UInt8.self))
        else { return value(index).instant }
        return .init(milliseconds: time.instant.milliseconds)
    }

    func place(of index: Int, among texts: FewTexts) -> Int? {
        guard let text = text(Int32(index)) else { return nil }
        return texts.place(of: text)
    }

    /// Strings, the most common values, are copied directly from SQLite's memory.
    func encode(_ index: Int, as type: ColumnType, into writer: inout ByteWriter) {
        // Strings stored by other programs need not be UTF-8.
        guard [.string, .date, .uuid].contains(type.form),
            sqlite3_column_type(statement, Int32(index)) == SQLITE_TEXT, let text = text(Int32(index)), text.isUTF8
        else { return writer.append(value: type.value(value(index))) }
        if type.form != .date {
            writer.append(textValue: text)
        } else if let time = Timestamp(utf8: text.bindMemory(to: UInt8.self)) {
            writer.append(value: .date(Timestamp(kept: time.instant)))
        } else {
            writer.append(value: type.value(value(index)))
        }
    }

    private func text(_ index: Int32) -> UnsafeRawBufferPointer? {
        sqlite3_column_text(statement, index).map {
            UnsafeRawBufferPointer(start: $0, count: Int(sqlite3_column_bytes(statement, index)))
        }
    }
}
