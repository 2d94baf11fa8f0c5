// Aggregates computed naively: rows are grouped by comparing each with the groups found so far.

import SynclineCore

struct NaiveAggregate {
    var condition: NaiveCondition?
    var groups: [String]
    var functions: [RowAggregate.Function]

    func run(_ rows: [NaiveRow]) -> [RowGroup] {
        var found: [(key: [Value], rows: [NaiveRow])] = groups.isEmpty ? [([], [])] : []
        for row in rows where (condition?.truth(row) ?? 1) == 1 {
            let key = groups.map { row.value($0) }
            if let index = found.firstIndex(where: { NaiveAggregate.order($0.key, key) == 0 }) {
                found[index].rows.append(row)
            } else {
                found.append((key, [row]))
            }
        }
        return found.sorted { NaiveAggregate.order($0.key, $1.key) < 0 }
            .map { group in RowGroup(key: group.key, values: functions.map { value($0, group.rows) }) }
    }

    private func value(_ function: RowAggregate.Function, _ rows: [NaiveRow]) -> Value {
        switch function {
        case .count: return .integer(Int64(rows.count))
        case .sum(let column): return .double(numbers(column, rows).reduce(0, +))
        case .average(let column):
            let numbers = numbers(column, rows)
            return numbers.isEmpty ? .null : .double(numbers.reduce(0, +) / Double(numbers.count))
        case .min(let column): return sorted(column, rows).first ?? .null
        case .max(let column): return sorted(column, rows).last ?? .null
        }
    }

    private func numbers(_ column: String, _ rows: [NaiveRow]) -> [Double] {
        rows.compactMap { row in
            switch row.value(column) {
            case .integer(let number): Double(number)
            case .double(let number): number
            case .number(let number): Double(number.spelling)
            default: nil
            }
        }
    }

    private func sorted(_ column: String, _ rows: [NaiveRow]) -> [Value] {
        rows.map { $0.value(column) }.filter { !$0.isNull }.sorted { NaiveQuery.order($0, $1) < 0 }
    }

    /// Whether groups are equal: numbers of either kind, and dates in every time zone.
    static func areEqual(_ left: [RowGroup], _ right: [RowGroup]) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { order($0.key, $1.key) == 0 && order($0.values, $1.values) == 0 }
    }

    private static func order(_ left: [Value], _ right: [Value]) -> Int {
        zip(left, right).lazy.map { NaiveQuery.order($0, $1) }.first { $0 != 0 } ?? left.count - right.count
    }
}
