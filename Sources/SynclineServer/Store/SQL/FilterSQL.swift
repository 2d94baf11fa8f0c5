// A filter as the condition of a statement. Only the parts that a database evaluates exactly as the engine's own
// evaluator does are translated. The engine evaluates the rest on the resulting rows: the condition never excludes a
// row that matches. So both databases, and a client's tables, give the same answer to the same filter.

import SynclineCore
import SynclineTables

/// The part of a filter that a database evaluates.
struct FilterSQL {
    /// A part that the database evaluates, in SQL's three-valued logic.
    indirect enum Condition {
        case all([Condition])
        case any([Condition])
        case not(Condition)
        case compare(Operand, String, Operand)
        case isNull(Operand, Bool)
        case isTrue(Operand)
        /// Whether a column of numbers has one as text, because no integer and no double has its digits.
        case isText(Operand, Bool)
        case oneOf(Operand, [Operand])
        case text(FilterExpression.Function, Operand, String)
    }

    enum Operand {
        case column(ColumnSQL)
        case value(SQLValue)
    }

    enum Kind: Hashable {
        case string, number, decimal, boolean, date, uuid, version
    }

    /// A column in a condition.
    struct ColumnSQL {
        let source: String
        var kind: Kind
        /// Whether it and the values beside it are read by a function that gives them an order.
        var isRead = false
        /// The database has a type of its own for its UUIDs.
        var isNative = false
        /// Its times may be more exact than the milliseconds that clients see.
        var isFine = false
        /// Its strings are ordered by their bytes only if the condition says so.
        var isCollated = false
        /// Its strings are equal by their bytes only if the condition says so; if not set, an index may serve equality.
        var isInexact = false
    }

    private let dialect: SQLDialect
    private let condition: Condition?
    /// Whether the condition is equivalent to the filter.
    let isExact: Bool
    /// The filter for the evaluator.
    let filter: FilterExpression

    init(_ filter: FilterExpression, _ schema: ServedTable, _ dialect: SQLDialect) {
        self.dialect = dialect
        self.filter = filter.asServerReads(schema)
        (condition, isExact) = Translation(schema: schema, dialect: dialect).necessary(self.filter)
    }

    /// The condition in SQL; nil if there is none.
    var sql: SQLText? { condition.map { write($0) } }

    // MARK: Writing

    private func write(_ condition: Condition) -> SQLText {
        switch condition {
        case .all(let parts): join(parts[...], " AND ")
        case .any(let parts): join(parts[...], " OR ")
        case .not(let inner): "(NOT \(write(inner)))"
        case .compare(let left, let sign, let right):
            "\(write(left, forEquality: ["=", "<>"].contains(sign))) \(sign) \(write(right, beside: left))"
        case .isText(let operand, let isText): "typeof(\(write(operand))) \(isText ? "=" : "<>") 'text'"
        case .isNull(let operand, let isNull): "\(write(operand)) IS \(isNull ? "" : "NOT ")NULL"
        case .isTrue(let operand): "\(write(operand))\(dialect == .sqlite ? " = 1" : "")"
        case .oneOf(let operand, let choices):
            "\(write(operand, forEquality: true)) IN (\(choices.map { write($0, beside: operand) }, separator: ", "))"
        case .text(let function, let operand, let part): write(function, operand, part)
        }
    }

    /// Halves in parentheses: databases limit the nesting depth of a condition, and a long chain would exceed it.
    private func join(_ parts: ArraySlice<Condition>, _ word: String) -> SQLText {
        if parts.count == 1 { return write(parts[parts.startIndex]) }
        let middle = parts.startIndex + parts.count / 2
        return "(\(join(parts[..<middle], word))\(word)\(join(parts[middle...], word)))"
    }

    private func write(_ operand: Operand, beside other: Operand? = nil, forEquality: Bool = false) -> SQLText {
        switch operand {
        case .column(let column):
            let name = SQLDialect.quoted(column.source)
            if column.kind == .uuid { return "\(dialect.uuid(name, isNative: column.isNative))" }
            if column.isRead { return "\(FilterSQL.function(column.kind))(\(name))" }
            let needsCollation = column.isCollated && !(forEquality && !column.isInexact)
            return "\(name)\(needsCollation ? dialect.byBytes : "")"
        case .value(let value):
            guard case .column(let column)? = other, column.isRead else { return "\(value)" }
            return "\(FilterSQL.function(column.kind))(\(value))"
        }
    }

    /// The function of an SQLite connection that gives the values of a column an order.
    private static func function(_ kind: Kind) -> String {
        kind == .date ? SQLDialect.instantFunction : SQLDialect.numberFunction
    }

    /// Parts of strings, without patterns: `%` and `_` are ordinary characters.
    private func write(_ function: FilterExpression.Function, _ operand: Operand, _ part: String) -> SQLText {
        let (text, length) = (write(operand), String(part.unicodeScalars.count))
        return switch (function, dialect) {
        case (.contains, .sqlite): "instr(\(text), \(.text(part))) > 0"
        case (.contains, .postgres): "strpos(\(text), \(.text(part))) > 0"
        case (.startswith, .sqlite): "substr(\(text), 1, \(length)) = \(.text(part))"
        case (.startswith, .postgres): "left(\(text), \(length)) = \(.text(part))"
        case (_, .sqlite): "substr(\(text), -\(length)) = \(.text(part))"
        case (_, .postgres): "right(\(text), \(length)) = \(.text(part))"
        }
    }
}
