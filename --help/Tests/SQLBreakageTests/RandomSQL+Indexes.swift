// Random statements for which an index can be used: some of its first columns equal a value, the next one is in a range or
// gives the order.

import SynclineTesting

extension RandomSQL {
    /// Nil if there is no index.
    mutating func indexed() -> (text: String, isOrdered: Bool)? {
        guard !indexes.isEmpty else { return nil }
        let index = chance.pick(indexes)
        guard let table = tables.first(where: { $0.name == index.table }) else { return nil }
        let columns = index.columns.filter(table.columns.contains)
        let equal = min(columns.count, chance.below(columns.count + 2))
        let order = order(Array(columns.dropFirst(equal)))
        // SQLite does not sort by a column that must equal one value, but several strings can equal one number.
        var conditions: [String] = []
        for column in columns.prefix(equal) {
            let value = value(column)
            conditions.append("\(column.quoted) = \(chance.once(in: 4) ? cast(value) : value)")
        }
        if equal < columns.count, chance.once(in: 2) { conditions.append(range(columns[equal])) }
        if chance.once(in: 5) { conditions.append("\(chance.pick(table.columns).quoted) is not \(literal())") }
        let filter = conditions.isEmpty ? "" : " where " + conditions.joined(separator: " and ")
        let from = " from \(index.table.quoted)" + filter
        guard let order else {
            let kept = ["id"] + (columns + index.including).filter(table.columns.contains)
            let read = (0...chance.below(3)).map { _ in chance.pick(chance.once(in: 3) ? table.columns : kept) }
            return ("select \(read.map(\.quoted).joined(separator: ", "))\(from)", false)
        }
        // What is read must be the same for rows that come in any order.
        let read = order.isTotal ? table.columns : order.columns
        let window = chance.once(in: 4) ? "" : " limit \(chance.below(6)) offset \(chance.below(3))"
        return ("select \(read.map(\.quoted).joined(separator: ", "))\(from) order by \(order.text)\(window)", true)
    }

    /// An order by some of the columns, mostly in one direction; nil for none.
    private mutating func order(_ columns: [String]) -> (columns: [String], text: String, isTotal: Bool)? {
        var keys = Array(columns.prefix(chance.below(columns.count + 1)))
        let isTotal = chance.once(in: 3)
        if isTotal { keys.append("id") }
        if keys.isEmpty { return nil }
        let direction = chance.pick(["", " desc"])
        let text = keys.map { $0.quoted + (chance.once(in: 10) ? " desc" : direction) }.joined(separator: ", ")
        return (keys, text, isTotal)
    }

    private mutating func range(_ column: String) -> String {
        let (lower, upper) = (chance.pick([">", ">="]), chance.pick(["<", "<="]))
        return switch chance.below(3) {
        case 0: "\(column.quoted) \(lower) \(value(column))"
        case 1: "\(column.quoted) \(upper) \(value(column))"
        default: "\(column.quoted) \(lower) \(value(column)) and \(column.quoted) \(upper) \(value(column))"
        }
    }

    /// A value that the column may have, or another one.
    private mutating func value(_ column: String) -> String {
        if chance.once(in: 5) { return literal() }
        switch column {
        case "tag": return "'\(chance.pick(RandomStore.tags))'"
        case "code": return chance.once(in: 2) ? "cast('5' as integer)" : "'\(chance.pick(RandomStore.codes))'"
        case "word": return "'\(chance.pick(RandomStore.words))'"
        case "flag": return "\(chance.below(2))"
        case "rank": return chance.once(in: 2) ? "\(chance.below(20) - 5)" : "\(chance.below(9)).5"
        case "at", "day":
            return
                "'2026-01-0\(1 + chance.below(4))\(chance.pick(["", "T00:00:00.000Z", "T00:00:00.000Z", "T00:00:00.123Z"]))'"
        default: return literal()
        }
    }
}

extension String {
    fileprivate var quoted: String { "\"\(self)\"" }
}
