// The values of a store as SQLite has them. Booleans are 0 and 1. Dates are strings in UTC with three decimals, so that they
// sort by time. Arrays and objects are JSON.

import CSQLite
import SynclineCore
import SynclineGround
import SynclineWire

/// A place that takes one value.
protocol ValueSink {
    func null()
    func integer(_ number: Int64)
    func double(_ number: Double)
    /// UTF-8.
    func text(_ utf8: UnsafeRawBufferPointer)
    func blob(_ bytes: UnsafeRawBufferPointer)
}

extension ValueSink {
    func write(_ value: Value) {
        switch value {
        case .null: null()
        case .bool(let flag): integer(flag ? 1 : 0)
        case .integer(let number): integer(number)
        case .double(let number): double(number)
        case .number(let number): double(number.rounded)
        case .string(let string): write(text: string)
        case .date(let date): date.sqlForm.withText { text($0) }
        case .bytes(let bytes): bytes.withUnsafeBytes { blob($0) }
        case .array, .object: write(text: value.json)
        }
    }

    func write(_ value: EntryValue) {
        switch value {
        case .null: null()
        case .bool(let flag): integer(flag ? 1 : 0)
        case .integer(let number): integer(number)
        case .double(let number): double(number)
        case .date(let instant): Timestamp(instant).sqlForm.withText { text($0) }
        case .uuid(let string): write(text: string)
        case .text(let utf8): text(utf8)
        case .bytes(let bytes): blob(bytes)
        }
    }

    /// Writes the value of a column at the beginning of some bytes in the encoding of rows.
    @inline(__always)
    func write(encoded bytes: UnsafeRawBufferPointer, as type: ColumnType) {
        var reader = ByteReader(bytes)
        if type == .string, (try? reader.withText({ text($0) })) != nil { return }
        if type == .any { return write(encoded: bytes) }
        write(((try? reader.value()) ?? .null).inSQL(as: type))
    }

    func write(text string: String) {
        var string = string
        string.withUTF8 { text(UnsafeRawBufferPointer($0)) }
    }

    /// Writes the value at the beginning of some bytes in the encoding of rows.
    @inline(__always)
    func write(encoded bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        if (try? reader.withText({ text($0) })) != nil { return }
        write((try? reader.value()) ?? .null)
    }
}

extension Value {
    /// What SQL sees of it in a column of a type: what it means, or if it does not fit, what SQLite would keep in such a
    /// column. A UUID keeps its case, which SQL ignores there.
    func inSQL(as type: ColumnType) -> Value {
        switch Meaning(self, as: type) {
        case .integer(let number): .integer(number)
        case .number(let number): .double(number)
        case .decimal(let number): number.inSQL
        case .date(let instant): .date(Timestamp(instant))
        case .bytes(let bytes): .bytes(bytes)
        case .null, .bool, .string, .uuid, .plain: self
        case .unfit: kept(in: type)
        }
    }
}

extension NumberDigits {
    /// An integer or a double that has the same digits; a string if there is none.
    var inSQL: Value {
        if case .number = value { .string(text) } else { value }
    }
}

extension Timestamp {
    /// The form that all dates have in SQL.
    var sqlForm: Timestamp { Timestamp(.init(milliseconds: instant.milliseconds)) }
}

/// The result of a column of a virtual table.
struct ResultSink: ValueSink {
    let context: OpaquePointer

    func null() { sqlite3_result_null(context) }
    func integer(_ number: Int64) { sqlite3_result_int64(context, number) }
    func double(_ number: Double) { sqlite3_result_double(context, number) }

    func text(_ utf8: UnsafeRawBufferPointer) {
        syncline_sqlite_result_text(context, utf8.baseAddress, utf8.count)
    }

    func blob(_ bytes: UnsafeRawBufferPointer) {
        syncline_sqlite_result_blob(context, bytes.baseAddress, bytes.count)
    }
}

/// A parameter of a statement.
struct ParameterSink: ValueSink {
    let statement: OpaquePointer
    let index: Int32

    func null() { sqlite3_bind_null(statement, index) }
    func integer(_ number: Int64) { sqlite3_bind_int64(statement, index, number) }
    func double(_ number: Double) { sqlite3_bind_double(statement, index, number) }

    func text(_ utf8: UnsafeRawBufferPointer) {
        syncline_sqlite_bind_text(statement, index, utf8.baseAddress, utf8.count)
    }

    func blob(_ bytes: UnsafeRawBufferPointer) {
        syncline_sqlite_bind_blob(statement, index, bytes.baseAddress, bytes.count)
    }
}
