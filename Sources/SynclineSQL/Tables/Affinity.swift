// The types that columns have in SQL. SQLite compares a typed column with a value of another kind as it does in its own
// tables: with a column of text, a number becomes text, and with a column of numbers, text that looks like a number
// becomes one.

import CSQLite
import SynclineCore

/// What SQLite makes of a value that is compared with a column.
enum Affinity {
    case none, text, numeric
}

extension ColumnType {
    var affinity: Affinity {
        switch self {
        case .string, .date, .uuid, .guid: .text
        case .boolean, .integer, .number: .numeric
        // SQLite would round a decimal that is text, and a nested value may be a number or a string.
        case .any, .decimal, .decimalString, .bytes, .json: .none
        }
    }

    /// The type that is declared to SQLite, and the collation, each after a space.
    var declared: String {
        switch self {
        case .string, .date: " TEXT"
        case .uuid, .guid: " TEXT COLLATE NOCASE"
        case .boolean: " BOOLEAN"
        case .integer: " INTEGER"
        case .number: " REAL"
        case .bytes: " BLOB"
        case .any, .decimal, .decimalString, .json: ""
        }
    }
}

extension Value {
    /// What SQLite keeps of it in a column of a type that it does not fit.
    func kept(in type: ColumnType) -> Value {
        switch (type.affinity, self) {
        case (.text, .bool(let flag)): .string(flag ? "1" : "0")
        case (.text, .integer(let number)): .string("\(number)")
        case (.text, .double(let number)): .string(number.textInSQL)
        case (.text, .number(let number)): .string(number.rounded.textInSQL)
        case (.numeric, .string(let text)): NumericForm.number(in: text)?.number(in: type) ?? self
        case (.numeric, _): number(in: type)
        default: self
        }
    }

    /// A double in a column of numbers, and otherwise an integer if it is one.
    private func number(in type: ColumnType) -> Value {
        switch self {
        case .bool(let flag) where type == .number: .double(flag ? 1 : 0)
        case .integer(let number) where type == .number: .double(Double(number))
        case .double(let number) where type != .number: Int64(exactly: number).map(Value.integer) ?? self
        default: self
        }
    }
}

extension Double {
    /// The text that SQLite makes of it.
    fileprivate var textInSQL: String {
        withVaList([self]) { arguments in
            guard let text = sqlite3_vmprintf("%!.15g", arguments) else { return description }
            defer { sqlite3_free(text) }
            return String(cString: text)
        }
    }
}
