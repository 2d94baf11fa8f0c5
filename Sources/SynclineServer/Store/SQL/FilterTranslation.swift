// Translates a filter to SQL conditions: it decides which parts a database evaluates, and with which values.
// Comparisons of two kinds, functions that differ between databases, and anything that may fail there are left to the
// evaluator.

import SynclineCore
import SynclineGround
import SynclineWire

extension FilterSQL {
    /// Finds the parts that a database evaluates exactly as the evaluator does.
    struct Translation {
        let schema: TableSchema

        /// A condition that holds whenever the filter does, and whether it is equivalent.
        func necessary(_ filter: FilterExpression) -> (Condition?, isExact: Bool) {
            var parts: [Condition] = []
            var isExact = true
            var size = 0
            for part in filter.chain(isAnd: true) {
                // A condition that nests too deeply for a database, or is too large, is left to the evaluator.
                guard let condition = exact(part), condition.depth <= Condition.depthLimit,
                    size + condition.size <= Condition.sizeLimit
                else {
                    isExact = false
                    if let day = sinceDay(of: part) { parts.append(day) }
                    continue
                }
                size += condition.size
                parts.append(condition)
            }
            return (parts.isEmpty ? nil : .all(parts), isExact)
        }

        /// A necessary condition for a time that SQLite may store in several forms, each of which begins with a day: if
        /// the filter asks for times after a moment, the day must not be earlier, in any zone.
        private func sinceDay(of filter: FilterExpression) -> Condition? {
            guard case .compare(let comparison, .column(let path), .literal(.date(let date), _)) = filter,
                [.greater, .greaterOrEqual, .equal].contains(comparison), path.count == 1,
                let name = schema.timeOfSQLite(path[0]), let bound = Translation.bound(.date(date), to: .date),
                case .date(let time) = bound
            else { return nil }
            let day = Timestamp.text(milliseconds: time - 86_400_000).prefix(10)
            return .compare(
                .column(.init(source: schema.source(of: name), kind: .date)), ">=", .value(.text(String(day))))
        }

        /// The condition that is equivalent to the filter; nil if SQL has none.
        func exact(_ filter: FilterExpression) -> Condition? {
            switch filter {
            case .and: return all(filter.chain(isAnd: true)).map { .all($0) }
            case .or: return all(filter.chain(isAnd: false)).map { .any($0) }
            case .not(let inner): return exact(inner).map { .not($0) }
            case .compare(let comparison, let left, let right): return compare(comparison, left, right)
            case .oneOf(let value, let choices): return oneOf(value, choices)
            case .call(let function, let arguments): return text(function, arguments)
            case .column:
                guard let column = column(filter), column.kind == .boolean else { return nil }
                return .isTrue(.column(column))
            default: return nil
            }
        }

        private func all(_ parts: [FilterExpression]) -> [Condition]? {
            let conditions = parts.compactMap(exact)
            return conditions.count == parts.count ? conditions : nil
        }

        private func column(_ expression: FilterExpression) -> ColumnSQL? {
            guard case .column(let path) = expression, path.count == 1 else { return nil }
            let name = path[0]
            if let place = schema.place(ofAnyCase: name) {
                let column = schema.columns[place]
                return Kind(column.type).flatMap { self.column(column.name, $0) }
            }
            guard let system = SystemColumn(anyCase: name), schema.systemColumns.contains(system) else { return nil }
            return column(system.rawValue, Kind(system))
        }

        private func column(_ name: String, _ kind: Kind) -> ColumnSQL? {
            let traits = schema.traits
            if traits.opaque.contains(name) { return nil }
            return ColumnSQL(
                source: schema.source(of: name), kind: kind, isFine: traits.fine.contains(name),
                isCollated: traits.collated.contains(name), isInexact: traits.inexact.contains(name))
        }

        private func compare(
            _ comparison: FilterExpression.Comparison, _ left: FilterExpression, _ right: FilterExpression
        ) -> Condition? {
            guard let known = column(left) else {
                // The sides are reversed.
                guard case .literal = left, column(right) != nil else { return nil }
                return compare(comparison.mirrored, right, left)
            }
            let (operand, kind) = (Operand.column(known), known.kind)
            if case .literal(.null, _) = right {
                switch comparison {
                case .equal: return .isNull(operand, true)
                case .notEqual: return .isNull(operand, false)
                default: return nil
                }
            }
            if let other = column(right) {
                if kind != other.kind || kind == .version || known.isFine || other.isFine { return nil }
                // Databases do not compare columns of two collations.
                if known.isCollated || other.isCollated { return nil }
                return .compare(operand, comparison.sign, .column(other))
            }
            guard case .literal(let value, _) = right, let bound = Translation.bound(value, to: kind) else {
                return nil
            }
            if kind == .boolean || kind == .version, comparison != .equal && comparison != .notEqual { return nil }
            if known.isFine { return within(operand, comparison, bound) }
            return .compare(operand, comparison.sign, .value(bound))
        }

        /// Clients see times in whole milliseconds, rounded down: to them, all times within one are equal.
        private func within(
            _ operand: Operand, _ comparison: FilterExpression.Comparison, _ bound: SQLValue
        ) -> Condition? {
            guard case .date(let time) = bound else { return nil }
            let (this, next) = (Operand.value(bound), Operand.value(.date(time + 1)))
            switch comparison {
            case .equal: return .all([.compare(operand, ">=", this), .compare(operand, "<", next)])
            case .notEqual: return .any([.compare(operand, "<", this), .compare(operand, ">=", next)])
            case .greater: return .compare(operand, ">=", next)
            case .greaterOrEqual: return .compare(operand, ">=", this)
            case .less: return .compare(operand, "<", this)
            case .lessOrEqual: return .compare(operand, "<", next)
            }
        }

        private func oneOf(_ value: FilterExpression, _ choices: [FilterExpression]) -> Condition? {
            guard let known = column(value), !known.isFine, !choices.isEmpty else { return nil }
            var bound: [Operand] = []
            for choice in choices {
                guard case .literal(let value, _) = choice, let value = Translation.bound(value, to: known.kind) else {
                    return nil
                }
                bound.append(.value(value))
            }
            return .oneOf(.column(known), bound)
        }

        private func text(_ function: FilterExpression.Function, _ arguments: [FilterExpression]) -> Condition? {
            guard [.contains, .startswith, .endswith].contains(function), let known = column(arguments[0]),
                known.kind == .string, case .literal(.string(let part), _) = arguments[1], !part.isEmpty,
                !part.utf8.contains(0)
            else { return nil }
            return .text(function, .column(known), part)
        }

        /// A literal in the form for a comparison with a column of a kind; nil if the two kinds differ.
        private static func bound(_ value: Value, to kind: Kind) -> SQLValue? {
            switch (kind, value) {
            // The evaluator takes a string in the form of a date for a date when it compares it with one.
            case (.string, .string(let text)): text.utf8.contains(0) ? nil : .text(text)
            case (.number, .integer(let number)): .integer(number)
            case (.number, .double(let number)): .double(number)
            case (.boolean, .bool(let flag)): .bool(flag)
            case (.date, .date(let date)): bound(date)
            case (.date, .string(let text)): Timestamp(text).flatMap(bound)
            case (.version, .string(let text)): RowVersion.change(text).map { .integer($0) }
            default: nil
            }
        }

        /// Rows have whole milliseconds: a more exact moment is left to the evaluator.
        private static func bound(_ date: Timestamp) -> SQLValue? {
            let isWhole = date.instant.nanoseconds % 1_000_000 == 0
            return isWhole && date.instant.seconds >= -62_135_596_800 ? .date(date.instant.milliseconds) : nil
        }
    }
}

extension TableSchema {
    /// The name of a time column that the database compares as strings, in its original spelling.
    fileprivate func timeOfSQLite(_ name: String) -> String? {
        let known = place(ofAnyCase: name).map { columns[$0] }
        let own = known?.name ?? SystemColumn(anyCase: name)?.rawValue
        guard let own, traits.opaque.contains(own), known?.type ?? (own == "id" ? .string : .date) == .date else {
            return nil
        }
        return own
    }
}

extension FilterSQL.Kind {
    /// Nil for a column that databases do not compare.
    fileprivate init?(_ type: ColumnType) {
        switch type {
        case .string: self = .string
        case .number: self = .number
        case .boolean: self = .boolean
        case .date: self = .date
        case .json: return nil
        }
    }

    fileprivate init(_ column: SystemColumn) {
        switch column {
        case .id: self = .string
        case .createdAt, .updatedAt: self = .date
        case .version: self = .version
        case .deleted: self = .boolean
        }
    }
}

extension FilterExpression {
    /// The parts of a chain of `and` or of `or`, in order.
    fileprivate func chain(isAnd: Bool) -> [FilterExpression] {
        var parts: [FilterExpression] = []
        // The remaining parts, the first one last.
        var rest = [self]
        while let next = rest.popLast() {
            switch next {
            case .and(let left, let right) where isAnd: rest += [right, left]
            case .or(let left, let right) where !isAnd: rest += [right, left]
            default: parts.append(next)
            }
        }
        return parts
    }
}

extension FilterSQL.Condition {
    /// SQLite's parser stack has 100 entries, of which each level takes up to three.
    static let depthLimit = 20
    /// Databases limit the values and the length of a statement.
    static let sizeLimit = 5000

    /// The number of nested parentheses in its SQL.
    var depth: Int {
        switch self {
        case .all(let parts), .any(let parts):
            // The parts are written as a tree of halves.
            (parts.map(\.depth).max() ?? 0) + (Int.bitWidth - (parts.count - 1).leadingZeroBitCount)
        case .not(let inner): inner.depth + 1
        case .compare, .isNull, .isTrue, .oneOf, .text: 0
        }
    }

    /// The number of comparisons.
    var size: Int {
        switch self {
        case .all(let parts), .any(let parts): parts.reduce(0) { $0 + $1.size }
        case .not(let inner): inner.size
        case .oneOf(_, let choices): choices.count
        case .compare, .isNull, .isTrue, .text: 1
        }
    }
}

extension FilterExpression.Comparison {
    fileprivate var sign: String {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .less: "<"
        case .lessOrEqual: "<="
        }
    }

    /// The comparison with its sides exchanged.
    fileprivate var mirrored: FilterExpression.Comparison {
        switch self {
        case .equal, .notEqual: self
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        }
    }
}
