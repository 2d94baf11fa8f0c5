// The functions `sum` and `decimal_sum` of SQL, without rounding. SQLite's own `sum` adds doubles. It is replaced in stores
// with columns of decimals, and then adds digits in statements that read a table with such a column.

import CSQLite
import SynclineCore

enum SumFunction {
    /// Makes `decimal_sum` known to a database.
    static func offer(_ handle: OpaquePointer) {
        sqlite3_create_window_function(
            handle, "decimal_sum", 1, flags, nil, addDecimal, end, show, takeDecimal, nil)
    }

    /// Replaces `sum`, or ends that.
    static func replaceSum(_ handle: OpaquePointer, _ database: EmptyDatabase?) {
        guard let database else {
            sqlite3_create_window_function(handle, "sum", 1, flags, nil, nil, nil, nil, nil, nil)
            return
        }
        let context = Unmanaged.passUnretained(database).toOpaque()
        sqlite3_create_window_function(handle, "sum", 1, flags, context, add, end, show, take, nil)
    }

    private static let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
}

/// The sum of one group.
private final class RunningSum {
    private var numbers: NumberSum
    private var count = 0

    init(isExact: Bool) {
        numbers = NumberSum(isExact ? .decimal : .any)
    }

    /// Adds a value, or takes one back. Null counts as nothing.
    func change(_ value: OpaquePointer, isAdded: Bool) {
        let type = sqlite3_value_type(value)
        if type == SQLITE_NULL { return }
        count += isAdded ? 1 : -1
        if numbers.isOfDecimals, type == SQLITE_TEXT {
            // A decimal that no double holds. SQLite's conversion would round it.
            let text = sqlite3_value_text(value).map { String(cString: $0) } ?? ""
            return numbers.change(.string(text), isAdded: isAdded)
        }
        switch type == SQLITE_TEXT ? sqlite3_value_numeric_type(value) : type {
        case SQLITE_INTEGER: numbers.change(.integer(sqlite3_value_int64(value)), isAdded: isAdded)
        case SQLITE_FLOAT: numbers.change(.double(sqlite3_value_double(value)), isAdded: isAdded)
        default: if !numbers.isOfDecimals { numbers.change(.double(0), isAdded: isAdded) }
        }
    }

    func write(to sink: ResultSink) {
        if count == 0 { return sink.null() }
        // A sum may have more digits than a decimal.
        if case .number(let number) = numbers.sum { return sink.write(text: number.spelling) }
        sink.write(numbers.sum)
    }
}

/// The sum of the current group; nil if it has no values yet and `begin` is nil.
private nonisolated func sum(_ context: OpaquePointer?, begin: (() -> RunningSum)?) -> Unmanaged<RunningSum>? {
    let size = begin == nil ? 0 : Int32(MemoryLayout<UnsafeMutableRawPointer?>.size)
    guard let memory = sqlite3_aggregate_context(context, size) else { return nil }
    let place = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    if let known = place.pointee { return .fromOpaque(known) }
    guard let begin else { return nil }
    let made = Unmanaged.passRetained(begin())
    place.pointee = made.toOpaque()
    return made
}

private nonisolated func change(
    _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?, isAdded: Bool,
    isExact: @escaping () -> Bool
) {
    guard let value = values?.pointee else { return }
    sum(context, begin: { RunningSum(isExact: isExact()) })?.takeUnretainedValue().change(value, isAdded: isAdded)
}

/// Whether the statement that calls a function reads decimals.
private nonisolated func readsDecimals(_ context: OpaquePointer?) -> Bool {
    guard let data = sqlite3_user_data(context) else { return false }
    return Unmanaged<EmptyDatabase>.fromOpaque(data).takeUnretainedValue().statement?.readsDecimals ?? false
}

private nonisolated func add(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    change(context, values, isAdded: true) { readsDecimals(context) }
}

private nonisolated func take(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    change(context, values, isAdded: false) { readsDecimals(context) }
}

private nonisolated func addDecimal(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    change(context, values, isAdded: true) { true }
}

private nonisolated func takeDecimal(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    change(context, values, isAdded: false) { true }
}

private nonisolated func show(_ context: OpaquePointer?) {
    guard let context else { return }
    guard let known = sum(context, begin: nil) else { return sqlite3_result_null(context) }
    known.takeUnretainedValue().write(to: ResultSink(context: context))
}

private nonisolated func end(_ context: OpaquePointer?) {
    show(context)
    sum(context, begin: nil)?.release()
}
