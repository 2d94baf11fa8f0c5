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

        /// The end of a range that has all numbers that this one may be in SQL: digits that no double holds are rounded.
        func widened(_ direction: FloatingPointRoundingRule) -> Value {
            guard case .double(let number) = self, number.magnitude >= 0x1p63 else { return value }
            return .double(direction == .up ? number.nextUp : number.nextDown)
        }

        /// Rounded, which keeps the order.
        var rounded: Double {
            switch self {
            case .integer(let number): Double(number)
            case .double(let number): number
            }
        }
    }

    init(_ value: OpaquePointer, _ affinity: Affinity) {
        // SQLite still needs the value as it is, so a copy becomes a number.
        if affinity == .numeric, sqlite3_value_type(value) == SQLITE_TEXT, let copy = sqlite3_value_dup(value) {
            defer { sqlite3_value_free(copy) }
            sqlite3_value_numeric_type(copy)
            self.init(copy)
        } else {
            self.init(value)
        }
    }

    private init(_ value: OpaquePointer) {
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

    /// Calls `body` with each value of a list, which SQLite gives to a scan as one value, until it returns false.
    static func forEach(
        in list: OpaquePointer, _ affinity: Affinity, _ body: (Operand) -> Bool
    ) throws(SyncError) {
        var isFirst = true
        try forEach(
            from: { () throws(SyncError) in
                var element: OpaquePointer?
                let code = isFirst ? sqlite3_vtab_in_first(list, &element) : sqlite3_vtab_in_next(list, &element)
                isFirst = false
                if code == SQLITE_OK { return element.map { Operand($0, affinity) } }
                if code == SQLITE_DONE { return nil }
                throw SyncError(.internalError, "SQLite can't read a list: error \(code)")
            }, body)
    }

    /// Calls `body` with each value that `next` returns, until it returns false. SQLite takes no step meanwhile, so it
    /// does not notice that the task is cancelled.
    static func forEach(
        from next: () throws(SyncError) -> Operand?, _ body: (Operand) -> Bool
    ) throws(SyncError) {
        var count = 0
        while let operand = try next(), body(operand) {
            count += 1
            if count & 1023 == 0, Task.isCancelled { throw .queryCancelled }
        }
    }

    /// The values of a list; nil if there are more than a limit.
    static func list(_ list: OpaquePointer, _ affinity: Affinity, limit: Int) throws(SyncError) -> [Operand]? {
        var operands: [Operand] = []
        try forEach(in: list, affinity) { operand in
            operands.append(operand)
            return operands.count <= limit
        }
        return operands.count <= limit ? operands : nil
    }
}
