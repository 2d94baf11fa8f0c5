// A rule about the rows of a table, as a value: which rows a caller may see or write, by the row's own columns, the
// caller's name, and rows of other tables that lead from one to the other.

package import SynclineCore
import SynclineGround
package import SynclineWire

/// A rule covers a row if one of its alternatives does.
package struct RowRule: Hashable, Sendable {
    package let text: String
    package let alternatives: [RuleAlternative]
}

/// Rows in a bucket, and the path from the caller to the bucket.
package struct RuleAlternative: Hashable, Sendable {
    /// The role that the caller must have.
    package var role: String?
    package var bucket: RuleBucket
    /// The tables on the way, the caller's first. Without any, the bucket has the caller's name, or is for everybody.
    package var path: [RuleEdge] = []
}

/// The bucket that a row is in: the value of a column, while conditions hold.
package struct RuleBucket: Hashable, Sendable {
    /// Nil if all rows that meet the conditions are in one bucket, which is for everybody.
    package var column: String?
    package var conditions: [RuleCondition] = []

    /// The bucket of a row; nil if it is in none.
    package func name(of row: TableRow) -> String? {
        guard !row.isDeleted, conditions.allSatisfy({ $0.holds(for: row) }) else { return nil }
        return column.map { row.ruleText($0) } ?? RuleBucket.everybody
    }

    /// The name of the bucket that is for everybody: no column's value can name it.
    package static let everybody = ""

    package var text: String { ([column].compactMap(\.self) + conditions.map(\.text)).joined(separator: " and ") }
}

/// A step of a path: each row of a table that meets the conditions leads from the value of one column to another's.
package struct RuleEdge: Hashable, Sendable {
    package var table: String
    package var from: String
    package var to: String
    package var conditions: [RuleCondition] = []

    /// Where a row leads from and to; nil if it leads nowhere.
    package func ends(of row: TableRow) -> RuleEnds? {
        guard !row.isDeleted, conditions.allSatisfy({ $0.holds(for: row) }), let from = row.ruleText(from),
            let to = row.ruleText(to)
        else { return nil }
        return RuleEnds(from: from, to: to)
    }

    package var text: String {
        "\(table)(\(to) where \(([from] + conditions.map(\.text)).joined(separator: " and ")))"
    }
}

package struct RuleEnds: Hashable, Sendable {
    package var from: String
    package var to: String

    package init(from: String, to: String) { (self.from, self.to) = (from, to) }
}

/// A column with a certain value.
package struct RuleCondition: Hashable, Sendable {
    package var column: String
    package var value: Value

    package func holds(for row: TableRow) -> Bool { holds(row.value(ofColumn: column)) }

    package func holds(_ found: Value) -> Bool {
        switch (found, value) {
        case (.string(let text), .string(let wanted)): text.hasSameBytes(as: wanted)
        case (.bool(let flag), .bool(let wanted)): flag == wanted
        default: false
        }
    }

    package var text: String {
        if case .string(let text) = value { return "\(column) eq \(text.quoted(by: "'"))" }
        return "\(column) eq \(value.json)"
    }
}

extension TableRow {
    fileprivate func ruleText(_ column: String) -> String? { value(ofColumn: column).ruleText }
}

extension Value {
    /// A column's value that can name a bucket or a caller. They are compared exactly.
    package var ruleText: String? {
        guard case .string(let text) = self, !text.isEmpty else { return nil }
        return text
    }
}

extension RowRule {
    /// The steps of its paths.
    package var edges: [RuleEdge] { alternatives.flatMap(\.path) }
}

/// The rules of a table's rows.
package struct TableRules: Hashable, Sendable {
    /// The rows that callers see; nil for all.
    package var read: RowRule?
    /// The rows that callers may insert, change, delete and restore; nil for those that they see.
    package var write: RowRule?
    /// What differs from `write` for one of these.
    package var writes: [RuleOperation: RowRule] = [:]

    package init() {}

    package var isEmpty: Bool { read == nil && write == nil && writes.isEmpty }

    /// Whether rows of one of the tables lead callers to rows that they see.
    package func isLed(byAnyOf tables: Set<String>) -> Bool {
        read?.edges.contains { tables.contains($0.table) } ?? false
    }

    /// The rule for a write; nil if none restricts it.
    package func rule(_ operation: RuleOperation) -> RowRule? { writes[operation] ?? write ?? read }

    /// All rules with the setting that each belongs to.
    package var all: [(setting: String, rule: RowRule)] {
        var all: [(String, RowRule)] = []
        if let read { all.append(("read", read)) }
        if let write { all.append(("write", write)) }
        for operation in RuleOperation.allCases {
            if let rule = writes[operation] { all.append((operation.rawValue, rule)) }
        }
        return all
    }
}

/// A write that may have a rule of its own.
package enum RuleOperation: String, Hashable, Sendable, CaseIterable {
    case insert, update, delete, undelete
}
