// The functions that an SQLite connection has for what SQLite can't compare: moments in several forms, and numbers of
// which some are text, because they have more digits than a double.

import CSQLite
import SynclineCore
import SynclineGround

enum SQLiteFunctions {
    typealias Function =
        @convention(c) (
            OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
        ) -> Void

    static var all: [(name: String, function: Function)] {
        [
            (SQLDialect.momentFunction, readMoment), (SQLDialect.instantFunction, readInstant),
            (SQLDialect.numberFunction, readNumber),
        ]
    }

    fileprivate static func text(_ value: OpaquePointer) -> String? {
        guard sqlite3_value_type(value) == SQLITE_TEXT, let start = sqlite3_value_text(value) else { return nil }
        let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
        return String(decoding: bytes, as: UTF8.self)
    }

    fileprivate static func moment(
        _ context: OpaquePointer?, _ argument: OpaquePointer?, _ form: (Timestamp.Instant) -> Timestamp
    ) {
        guard let argument, let text = text(argument), let moment = Timestamp(stored: text) else {
            return sqlite3_result_null(context)
        }
        form(moment.instant).withText { syncline_sqlite_result_text(context, $0.baseAddress, $0.count) }
    }

    /// The number of a value; nil for other text.
    fileprivate static func digits(_ value: OpaquePointer) -> NumberDigits? {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: NumberDigits(number: .integer(sqlite3_value_int64(value)))
        case SQLITE_FLOAT: NumberDigits(number: .double(sqlite3_value_double(value)))
        default: text(value).flatMap { NumberDigits(number: .string($0)) }
        }
    }
}

/// Called by SQLite: reads a moment that is stored as text, and returns it with milliseconds, or null.
private nonisolated func readMoment(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    SQLiteFunctions.moment(context, arguments?[0]) { Timestamp(.init(milliseconds: $0.milliseconds)) }
}

/// Called by SQLite: reads a moment that is stored as text, and returns it with nine decimals, or null.
private nonisolated func readInstant(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    SQLiteFunctions.moment(context, arguments?[0]) { Timestamp($0, decimals: 9) }
}

/// Called by SQLite: returns bytes in the order of the numbers. Everything else comes after all of them.
private nonisolated func readNumber(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let value = arguments?[0], sqlite3_value_type(value) != SQLITE_NULL else {
        return sqlite3_result_null(context)
    }
    var writer = ByteWriter(capacity: 40)
    if let digits = SQLiteFunctions.digits(value) {
        writer.append(sortOf: digits)
    } else {
        writer.append(UInt8.max)
        writer.append(Array((SQLiteFunctions.text(value) ?? "").utf8))
    }
    writer.bytes.withUnsafeBytes { syncline_sqlite_result_blob(context, $0.baseAddress, $0.count) }
}
