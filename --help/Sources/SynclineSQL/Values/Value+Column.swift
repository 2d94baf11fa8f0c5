// A value of the current row of a running statement, copied.

import CSQLite
import SynclineCore

extension Value {
    init(column: Int32, of statement: OpaquePointer) {
        func bytes(_ start: UnsafeRawPointer?) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
        }
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT:
            // A value is never infinite. SQLite has no NaN.
            let number = sqlite3_column_double(statement, column)
            self = number.isFinite ? .double(number) : .null
        case SQLITE_TEXT:
            let text = bytes(sqlite3_column_text(statement, column).map { UnsafeRawPointer($0) })
            self = .string(String(decoding: text, as: UTF8.self))
        case SQLITE_BLOB: self = .bytes([UInt8](bytes(sqlite3_column_blob(statement, column))))
        default: self = .null
        }
    }

    /// An estimate of the memory that a result's value takes.
    var resultSize: Int {
        switch self {
        case .string(let text): 32 + text.utf8.count
        case .bytes(let bytes): 32 + bytes.count
        default: 32
        }
    }
}
