// SQLite with tables of its own: what the answers of a store are compared with.

import CSQLite
import SynclineCore

/// A database in memory, or a file that is read.
final class PlainSQLite {
    private var handle: OpaquePointer?

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    init(_ path: String = ":memory:") throws {
        guard sqlite3_open(path, &handle) == SQLITE_OK else { throw failure }
    }

    deinit { sqlite3_close_v2(handle) }

    private var failure: Failure { Failure(description: String(cString: sqlite3_errmsg(handle))) }

    /// Makes a table with rows. A column without a value in a row is null.
    func add(_ name: String, columns: [String], types: [String: String] = [:], rows: [[Value]]) throws {
        let names = columns.map { "\"\($0)\" \(types[$0] ?? "")" }.joined(separator: ", ")
        try run("create table \"\(name)\" (\(names))")
        for row in rows {
            try run("insert into \"\(name)\" values (\(row.map(PlainSQLite.literal).joined(separator: ", ")))")
        }
    }

    /// A value as SQL has it. Written here once more, on purpose.
    private static func literal(_ value: Value) -> String {
        switch value {
        case .null: "null"
        case .bool(let flag): flag ? "1" : "0"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .number(let number): (number.spelling.contains(".") ? "" : "0.0 + ") + number.spelling
        case .string(let text):
            "'" + text.unicodeScalars.map { $0 == "'" ? "''" : String($0) }.joined() + "'"
        case .date(let date):
            "'\(Timestamp(.init(seconds: date.instant.seconds, nanoseconds: date.instant.nanoseconds), decimals: 3))'"
        case .bytes(let bytes): "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
        case .array(let elements): "'[\(elements.map { "\($0.debugDescription)" }.joined(separator: ","))]'"
        case .object: "'{}'"
        }
    }

    @discardableResult
    func run(_ text: String) throws -> [[Value]] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw Failure(description: failure.description + " in " + text)
        }
        defer { sqlite3_finalize(statement) }
        var rows: [[Value]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append((0..<sqlite3_column_count(statement)).map { PlainSQLite.value(statement, $0) })
            case SQLITE_DONE: return rows
            default: throw failure
            }
        }
    }

    private static func value(_ statement: OpaquePointer, _ column: Int32) -> Value {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .double(sqlite3_column_double(statement, column))
        case SQLITE_TEXT: return .string(sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "")
        case SQLITE_BLOB:
            let bytes = UnsafeRawBufferPointer(
                start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column)))
            return .bytes([UInt8](bytes))
        default: return .null
        }
    }
}
