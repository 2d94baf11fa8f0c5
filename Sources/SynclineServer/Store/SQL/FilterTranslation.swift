// Translates a filter to SQL conditions: it decides which parts a database evaluates, and with which values.
// Comparisons of two kinds, functions that differ between databases, and anything that may fail there are left to the
// evaluator.

import SynclineCore
import SynclineGround
import SynclineTables

extension FilterSQL {
    /// Finds the parts that a database evaluates exactly as the evaluator does.
    struct Translation {
        let schema: ServedTable
        let dialect: SQLDialect

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
                // An index can serve it, and no function is called for the other rows.
                if let day = sinceDay(of: part) { parts.append(day) }
            }
            return (parts.isEmpty ? nil : .all(parts), isExact)
        }

        /// A necessary condition for a time that is stored as text in several forms, each of which begins with a day: if
        /// the filter asks for times after a moment, the day must not be earlier, in any zone.
        private func sinceDay(of filter: FilterExpression) -> Condition? {
            guard case .compare(let comparison, .column(let path), .literal(.date(let date), _)) = filter,
                [.greater, .greaterOrEqual, .equal].contains(comparison), path.count == 1,
                let name = schema.timeAsText(path[0], dialect), date.instant.seconds >= Translation.firstSecond + 86_400
            else { return nil }
            let day = Timestamp(.init(seconds: date.instant.seconds - 86_400)).description.prefix(10)
            return .compare(
                .column(.init(source: schema.source(of: name), kind: .string)), ">=", .value(.text(String(day))))
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
            let isSystem = SystemColumn(rawValue: name) != nil
            let isRead = dialect == .sqlite && !isSystem && (kind == .decimal || kind == .date)
            return ColumnSQL(
                source: schema.source(of: name), kind: kind, isRead: isRead, isNative: traits.native.contains(name),
                isFine: traits.fine.contains(name), isCollated: traits.collated.contains(name),
                isInexact: traits.inexact.contains(name))
        }

        /// A column, and a literal in the form for a comparison with it; nil if the two can't be compared by a database.
        private func pair(_ column: ColumnSQL, _ literal: FilterExpression) -> (ColumnSQL, SQLValue)? {
            guard case .literal(let value, let form) = literal else { return nil }
            var column = column
            // A literal of this form is a UUID beside a string, too.
            if column.kind == .string, form == .guid { column.kind = .uuid }
            return bound(value, to: column).map { (column, $0) }
        }

        private func compare(
            _ comparison: FilterExpression.Comparison, _ left: FilterExpression, _ right: FilterExpression
        ) -> Condition? {
            guard let known = column(left) else {
                // The sides are reversed.
                guard case .literal = left, column(right) != nil else { return nil }
                return compare(comparison.reversed, right, left)
            }
            if case .literal(.null, _) = right {
                let operand = Operand.column(known)
                switch comparison {
                case .equal: return .isNull(operand, true)
                case .notEqual: return .isNull(operand, false)
                default: return nil
                }
            }
            if let other = column(right) { return compare(comparison, known, other) }
            let isString = known.kind == .string
            guard let (known, bound) = pair(known, right) else { return nil }
            let (operand, isEquality) = (Operand.column(known), [.equal, .notEqual].contains(comparison))
            switch known.kind {
            case .boolean, .version: if !isEquality { return nil }
            // Strings that are not UUIDs have no order beside one; an adopted table may have them, too.
            case .uuid: if !isEquality, !known.isNative, isString || !schema.isOwn { return nil }
            case .date: if known.isFine { return within(operand, comparison, bound) }
            case .number:
                if dialect == .sqlite, schema.isOwn { return number(comparison, known, bound) }
            case .string, .decimal: break
            }
            return .compare(operand, comparison.sign, .value(bound))
        }

        private func compare(
            _ comparison: FilterExpression.Comparison, _ known: ColumnSQL, _ other: ColumnSQL
        ) -> Condition? {
            if known.kind != other.kind || known.kind == .version || known.isFine || other.isFine { return nil }
            // Databases do not compare columns of two collations, or of two types.
            if known.isCollated || other.isCollated || known.isNative != other.isNative { return nil }
            if known.kind == .uuid, !schema.isOwn { return nil }
            var (left, right) = (known, other)
            if known.kind == .number, dialect == .sqlite { (left.isRead, right.isRead) = (true, true) }
            return .compare(.column(left), comparison.sign, .column(right))
        }

        /// A column of SQLite has numbers with more digits than a double as text, which it puts after all others.
        private func number(
            _ comparison: FilterExpression.Comparison, _ column: ColumnSQL, _ bound: SQLValue
        ) -> Condition {
            var read = column
            read.isRead = true
            let byDigits = Condition.compare(.column(read), comparison.sign, .value(bound))
            let plain = Condition.compare(.column(column), comparison.sign, .value(bound))
            if bound.mayBeText { return byDigits }
            switch comparison {
            case .equal, .notEqual: return plain
            // An index can serve these.
            case .greater, .greaterOrEqual: return .all([plain, .any([.isText(.column(column), false), byDigits])])
            case .less, .lessOrEqual: return .any([plain, .all([.isText(.column(column), true), byDigits])])
            }
        }

        /// Clients see times in whole milliseconds, rounded down: to them, all times within one are equal.
        private func within(
            _ operand: Operand, _ comparison: FilterExpression.Comparison, _ bound: SQLValue
        ) -> Condition? {
            guard case .date(let instant) = bound else { return nil }
            let (this, next) = (Operand.value(bound), Operand.value(.time(instant.milliseconds + 1)))
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
            let pairs = choices.compactMap { pair(known, $0) }
            // Strings may be compared by their letters with some, and as UUIDs with others.
            guard pairs.count == choices.count, pairs.allSatisfy({ $0.0.kind == pairs[0].0.kind }) else { return nil }
            var column = pairs[0].0
            if column.kind == .number, dialect == .sqlite, schema.isOwn {
                column.isRead = pairs.contains { $0.1.mayBeText }
            }
            return .oneOf(.column(column), pairs.map { .value($0.1) })
        }

        private func text(_ function: FilterExpression.Function, _ arguments: [FilterExpression]) -> Condition? {
            guard [.contains, .startswith, .endswith].contains(function), let known = column(arguments[0]),
                known.kind == .string, case .literal(.string(let part), _) = arguments[1], !part.isEmpty,
                !part.utf8.contains(0)
            else { return nil }
            return .text(function, .column(known), part)
        }

        /// A literal in the form for a comparison with a column; nil if the two kinds differ.
        private func bound(_ value: Value, to column: ColumnSQL) -> SQLValue? {
            switch (column.kind, value) {
            // The evaluator takes a string in the form of a date for a date when it compares it with one.
            case (.string, .string(let text)): return text.utf8.contains(0) ? nil : .text(text)
            case (.number, .integer), (.number, .double), (.number, .number): return number(value)
            case (.decimal, _): return value.decimalText.map { .decimal($0) }
            case (.boolean, .bool(let flag)): return .bool(flag)
            case (.date, .date(let date)): return bound(date, to: column)
            case (.date, .string(let text)): return Timestamp(text).flatMap { bound($0, to: column) }
            case (.uuid, .string(let text)):
                guard ColumnType.uuid.fits(value) else { return nil }
                return column.isNative ? .uuid(text) : .text(text.lowercased())
            case (.version, .string(let text)): return RowVersion.change(text).map { .integer($0) }
            default: return nil
            }
        }

        private func number(_ value: Value) -> SQLValue? {
            switch value.number() {
            case .integer(let number)?: .integer(number)
            case .double(let number)?: .double(number)
            // A column of doubles would be compared with the nearest one.
            case .number(let number)? where schema.isOwn: .decimal(number.spelling)
            default: nil
            }
        }

        /// A more exact moment than the rows' is left to the evaluator.
        private func bound(_ date: Timestamp, to column: ColumnSQL) -> SQLValue? {
            let unit: UInt32 = column.isRead ? 1 : column.isFine || isSystem(column) ? 1_000_000 : 1000
            let isWhole = date.instant.nanoseconds % unit == 0
            return isWhole && date.instant.seconds >= Translation.firstSecond ? .date(date.instant) : nil
        }

        private func isSystem(_ column: ColumnSQL) -> Bool {
            [SystemColumn.createdAt, .updatedAt].contains { schema.source(of: $0).hasSameBytes(as: column.source) }
        }

        /// The first one of the year 1.
        private static let firstSecond: Int64 = -62_135_596_800
    }
}

extension ServedTable {
    /// The name, in its original spelling, of a column of times that the database has as text, or of one of strings.
    fileprivate func timeAsText(_ name: String, _ dialect: SQLDialect) -> String? {
        if let place = place(ofAnyCase: name) {
            let column = columns[place]
            let isText = column.type.form == .string && isOwn
            let isTime = column.type.form == .date && dialect == .sqlite
            return isText || isTime ? column.name : nil
        }
        guard let system = SystemColumn(anyCase: name), system == .createdAt || system == .updatedAt,
            traits.opaque.contains(system.rawValue)
        else { return nil }
        return system.rawValue
    }
}

extension SQLValue {
    /// Whether a column of numbers of SQLite may have this number as text.
    fileprivate var mayBeText: Bool {
        switch self {
        case .decimal: true
        case .double(let number): number.magnitude >= 0x1p63
        default: false
        }
    }
}

extension FilterSQL.Kind {
    /// Nil for a column that databases do not compare.
    fileprivate init?(_ type: ColumnType) {
        switch type.form {
        case .string: self = .string
        case .number: self = .number
        case .decimal: self = .decimal
        case .boolean: self = .boolean
        case .date: self = .date
        case .uuid: self = .uuid
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
        case .compare, .isNull, .isTrue, .isText, .oneOf, .text: 0
        }
    }

    /// The number of comparisons.
    var size: Int {
        switch self {
        case .all(let parts), .any(let parts): parts.reduce(0) { $0 + $1.size }
        case .not(let inner): inner.size
        case .oneOf(_, let choices): choices.count
        case .compare, .isNull, .isTrue, .isText, .text: 1
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
}
