// A value that SQLite gives to a scan.

import CSQLite
import SynclineCore

enum Operand: Hashable {
    case null
    case number(Number)
    case text(String)
    case blob
    /// Text that is not UTF-8, which no value of the store equals.
    case brokenText

    enum Number: Hashable {
        case integer(Int64)
        case double(Double)

        var value: Value {
            switch self {
            case .integer(let number): .integer(number)
            case .double(let number): .double(number)
            }
        }

        /// Rounded, which keeps the order.
        var rounded: Double {
            switch self {
            case .integer(let number): Double(number)
            case .double(let number): number
            }
        }
    }

    init(_ value: OpaquePointer) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .number(.integer(sqlite3_value_int64(value)))
        case SQLITE_FLOAT: self = .number(.double(sqlite3_value_double(value)))
        case SQLITE_TEXT:
            let text = UnsafeRawBufferPointer(
                start: sqlite3_value_text(value), count: Int(sqlite3_value_bytes(value)))
            let string = String(decoding: text, as: UTF8.self)
            self = string.utf8.elementsEqual(text) ? .text(string) : .brokenText
        case SQLITE_NULL: self = .null
        default: self = .blob
        }
    }
}

extension Operand {
    /// The values of a list, which SQLite gives to a scan as one value; nil if there are more than a limit.
    static func list(_ value: OpaquePointer, limit: Int) -> [Operand]? {
        var operands: [Operand] = []
        var element: OpaquePointer?
        var code = sqlite3_vtab_in_first(value, &element)
        while code == SQLITE_OK, let current = element {
            guard operands.count < limit else { return nil }
            operands.append(Operand(current))
            code = sqlite3_vtab_in_next(value, &element)
        }
        return code == SQLITE_DONE ? operands : nil
    }
}
