// Queries evaluated naively, from the contract: a condition is true, false, or unknown.

import SynclineCore

struct NaiveRow {
    var id: String
    var columns: [String: Value]

    func value(_ name: String) -> Value { name == "id" ? .string(id) : columns[name] ?? .null }
}

enum NaiveCondition {
    case compare(String, FilterExpression.Comparison, Value)
    case columns(String, FilterExpression.Comparison, String)
    case oneOf(String, [Value])
    indirect case not(NaiveCondition)
    indirect case both(NaiveCondition, NaiveCondition)
    indirect case either(NaiveCondition, NaiveCondition)

    var expression: FilterExpression {
        switch self {
        case .compare(let column, let comparison, let value):
            .compare(comparison, .column(column), .literal(value))
        case .columns(let left, let comparison, let right): .compare(comparison, .column(left), .column(right))
        case .oneOf(let column, let values): .oneOf(.column(column), values.map { .literal($0) })
        case .not(let inner): .not(inner.expression)
        case .both(let left, let right): .and(left.expression, right.expression)
        case .either(let left, let right): .or(left.expression, right.expression)
        }
    }

    /// 1 is true, -1 false, 0 unknown.
    func truth(_ row: NaiveRow) -> Int {
        switch self {
        case .compare(let column, .equal, .null): row.value(column).isNull ? 1 : -1
        case .compare(let column, .notEqual, .null): row.value(column).isNull ? -1 : 1
        case .compare(let column, let comparison, let value): holds(comparison, row.value(column), value)
        case .columns(let left, let comparison, let right): holds(comparison, row.value(left), row.value(right))
        case .oneOf(let column, let values):
            values.map { NaiveCondition.compare(column, .equal, $0).truth(row) }.max() ?? -1
        case .not(let inner): -inner.truth(row)
        case .both(let left, let right): min(left.truth(row), right.truth(row))
        case .either(let left, let right): max(left.truth(row), right.truth(row))
        }
    }

    private func holds(_ comparison: FilterExpression.Comparison, _ left: Value, _ right: Value) -> Int {
        if left.isNull || right.isNull { return comparison == .notEqual && left.isNull != right.isNull ? 1 : 0 }
        guard let order = NaiveCondition.order(left, right) else { return 0 }
        let isTrue =
            switch comparison {
            case .equal: order == 0
            case .notEqual: order != 0
            case .less: order < 0
            case .lessOrEqual: order <= 0
            case .greater: order > 0
            case .greaterOrEqual: order >= 0
            }
        return isTrue ? 1 : -1
    }

    /// Nil between values that can't be compared.
    static func order(_ left: Value, _ right: Value) -> Int? {
        func sign<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
            left < right ? -1 : left == right ? 0 : 1
        }
        func instant(_ value: Value) -> Timestamp.Instant? {
            switch value {
            case .date(let date): date.instant
            case .string(let text): Timestamp(text)?.instant
            default: nil
            }
        }
        // A spelling means the nearest double. Other numbers are not in these queries.
        func plain(_ value: Value) -> Value {
            if case .number(let number) = value { .double(Double(number.spelling) ?? .nan) } else { value }
        }
        switch (plain(left), plain(right)) {
        case (.integer(let left), .integer(let right)): return sign(left, right)
        case (.integer(let left), .double(let right)): return sign(Double(left), right)
        case (.double(let left), .integer(let right)): return sign(left, Double(right))
        case (.double(let left), .double(let right)): return sign(left, right)
        case (.string(let left), .string(let right)):
            let (left, right) = (Array(left.unicodeScalars), Array(right.unicodeScalars))
            return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        case (.bool(let left), .bool(let right)): return sign(left ? 1 : 0, right ? 1 : 0)
        case (.date, .date), (.date, .string), (.string, .date):
            guard let left = instant(left), let right = instant(right) else { return nil }
            return sign(left, right)
        default: return nil
        }
    }
}

struct NaiveQuery {
    var condition: NaiveCondition?
    var order: [RowQuery.Key] = []
    var top: Int?
    var skip = 0
    var select: [String]?
    /// Only rows after this one are wanted.
    var after: NaiveRow?

    /// The place to continue after.
    var place: RowQuery.Place? {
        after.map { row in RowQuery.Place(values: order.map { row.value($0.column) }, id: row.id) }
    }

    /// The requested rows, and how many match.
    func run(_ rows: [NaiveRow]) -> (rows: [StoredImage], count: Int) {
        let matches = rows.filter { row in (condition?.truth(row) ?? 1) == 1 }.sorted(by: isBefore)
        let left = matches.filter { row in after.map { isBefore($0, row) } ?? true }
        var window = Array(left.dropFirst(skip))
        if let top { window = Array(window.prefix(top)) }
        let images = window.map { row in
            StoredImage(
                id: row.id, columns: row.columns.filter { name, _ in select.map { $0.contains(name) } ?? true })
        }
        return (images, matches.count)
    }

    /// Kinds sort in this order.
    private static func rank(_ value: Value) -> Int {
        switch value {
        case .null: 0
        case .bool: 1
        case .integer, .double, .number: 2
        case .date: 3
        case .string: 4
        case .bytes: 5
        case .array: 6
        case .object: 7
        }
    }

    /// The order of two values in a list.
    static func order(_ left: Value, _ right: Value) -> Int {
        let (rank, other) = (rank(left), rank(right))
        return rank == other ? NaiveCondition.order(left, right) ?? 0 : rank - other
    }

    private func isBefore(_ left: NaiveRow, _ right: NaiveRow) -> Bool {
        for key in order + [RowQuery.Key("id")] {
            let order = NaiveQuery.order(left.value(key.column), right.value(key.column))
            if order != 0 { return key.isDescending ? order > 0 : order < 0 }
        }
        return false
    }
}

/// A row for comparison: the order of its columns does not matter.
struct StoredImage: Hashable {
    var id: String
    var columns: [String: Value]
}
