// An order by a column of other rows, to which the rows of a query refer. What each row of the other table has is read once
// for a query; then a sort key is found by the reference alone.

import SynclineGround

/// The column of another table by which rows are sorted that refer to its rows.
package struct OrderThrough: Hashable, Sendable {
    /// The table, to whose ids the column of the sort key refers.
    let table: String
    /// The column there, or the path of a member.
    let column: String
    /// Whether references are numbers.
    private let hasNumbers: Bool
    /// What the rows have there, by their ids in the form of references; nil until it is read.
    private var known: [ExactString: Value]?
    private(set) var type = ColumnType.any

    package init(_ column: String, of table: String, hasNumbers: Bool = false) {
        (self.table, self.column, self.hasNumbers) = (table, column, hasNumbers)
    }

    /// The value for a reference; null if there is no such row.
    func value(for reference: Value) -> Value {
        switch reference {
        case .string(let id) where !hasNumbers: known?[OrderThrough.form(id)] ?? .null
        case .integer(let number) where hasNumbers: known?[ExactString("\(number)")] ?? .null
        default: .null
        }
    }

    /// Takes what rows have, and its type.
    mutating func take(_ values: [(id: String, value: Value)], as type: ColumnType) {
        var all: [ExactString: Value] = [:]
        for (id, value) in values {
            let form = hasNumbers ? Int64(id).map { ExactString("\($0)") } : OrderThrough.form(id)
            if let form, all[form] == nil { all[form] = value }
        }
        (known, self.type) = (all, type)
    }

    /// The id of a row may be in another case than a reference to it.
    private static func form(_ id: String) -> ExactString {
        guard let digits = Array(id.utf8).withBytes({ UUIDDigits(anyCase: $0) }) else { return ExactString(id) }
        return ExactString(UUIDDigits(first: digits.first, second: digits.second, isUpper: false).text)
    }
}

extension [RowQuery.Key] {
    /// Whether rows are sorted by what other rows have.
    var asksOthers: Bool { contains { $0.through != nil } }

    /// The tables of these other rows.
    var relatedTables: [String] { compactMap { $0.through?.table } }

    /// Throws if no server sorts so.
    package func checkForServers() throws(UnsupportedPredicate) {
        guard let table = relatedTables.first else { return }
        throw UnsupportedPredicate(what: "an order by related rows of \(table)")
    }
}
