// A filter as the condition of a statement. Only the parts that a database evaluates exactly as the engine's own
// evaluator does are translated. The engine evaluates the rest on the resulting rows: the condition never excludes a
// row that matches. So both databases, and a client's tables, give the same answer to the same filter.

import SynclineCore
import SynclineWire

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
        case oneOf(Operand, [Operand])
        case text(FilterExpression.Function, Operand, String)
    }

    enum Operand {
        case column(source: String, kind: Kind)
        case value(SQLValue)
    }

    enum Kind: Hashable {
        case string, number, boolean, date, version
    }

    private let schema: TableSchema
    private let dialect: SQLDialect
    private let condition: Condition?
    /// Whether the condition is equivalent to the filter.
    let isExact: Bool
    /// The filter for the evaluator.
    let filter: FilterExpression

    init(_ filter: FilterExpression, _ schema: TableSchema, _ dialect: SQLDialect) {
        self.schema = schema
        self.dialect = dialect
        self.filter = filter.asServersRead
        let translation = Translation(schema: schema)
        (condition, isExact) = translation.necessary(self.filter)
    }

    /// Adds the condition; false if there is none to add.
    func add(to statement: inout SQLStatement) -> Bool {
        guard let condition else { return false }
        write(condition, &statement)
        return true
    }

    // MARK: Writing

    private func write(_ condition: Condition, _ statement: inout SQLStatement) {
        switch condition {
        case .all(let parts): join(parts[...], " AND ", &statement)
        case .any(let parts): join(parts[...], " OR ", &statement)
        case .not(let inner):
            statement.add("(NOT ")
            write(inner, &statement)
            statement.add(")")
        case .compare(let left, let sign, let right):
            write(left, &statement)
            statement.add(" \(sign) ")
            write(right, &statement)
        case .isNull(let operand, let isNull):
            write(operand, &statement)
            statement.add(isNull ? " IS NULL" : " IS NOT NULL")
        case .isTrue(let operand):
            write(operand, &statement)
            if dialect == .sqlite { statement.add(" = 1") }
        case .oneOf(let operand, let choices):
            write(operand, &statement)
            statement.add(" IN (")
            for (index, choice) in choices.enumerated() {
                if index > 0 { statement.add(", ") }
                write(choice, &statement)
            }
            statement.add(")")
        case .text(let function, let operand, let part):
            write(function, operand, part, &statement)
        }
    }

    /// Halves in parentheses: databases limit the nesting depth of a condition, and a long chain would exceed it.
    private func join(_ parts: ArraySlice<Condition>, _ word: String, _ statement: inout SQLStatement) {
        if parts.count == 1 { return write(parts[parts.startIndex], &statement) }
        let middle = parts.startIndex + parts.count / 2
        statement.add("(")
        join(parts[..<middle], word, &statement)
        statement.add(word)
        join(parts[middle...], word, &statement)
        statement.add(")")
    }

    private func write(_ operand: Operand, _ statement: inout SQLStatement) {
        switch operand {
        case .column(let source, _): statement.add(name: source)
        case .value(let value): statement.add(value)
        }
    }

    /// Parts of strings, without patterns: `%` and `_` are ordinary characters.
    private func write(
        _ function: FilterExpression.Function, _ operand: Operand, _ part: String, _ statement: inout SQLStatement
    ) {
        let length = part.unicodeScalars.count
        if function == .contains {
            statement.add(dialect == .sqlite ? "instr(" : "strpos(")
            write(operand, &statement)
            statement.add(", ")
            statement.add(.text(part))
            return statement.add(") > 0")
        }
        switch (function, dialect) {
        case (.startswith, .sqlite):
            statement.add("substr(")
            write(operand, &statement)
            statement.add(", 1, \(length))")
        case (.startswith, .postgres):
            statement.add("left(")
            write(operand, &statement)
            statement.add(", \(length))")
        case (_, .sqlite):
            statement.add("substr(")
            write(operand, &statement)
            statement.add(", -\(length))")
        case (_, .postgres):
            statement.add("right(")
            write(operand, &statement)
            statement.add(", \(length))")
        }
        statement.add(" = ")
        statement.add(.text(part))
    }
}
