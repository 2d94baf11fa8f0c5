// The tree of a filter: OData text in either protocol's spelling is parsed to it, printed from it for a server, and
// evaluated with it by local queries.

package import SynclineGround

/// A filter, or a part of one.
public indirect enum FilterExpression: Hashable, Sendable {
    /// A column, or a member of a nested object below it.
    case column([String])
    /// A value, and the form it was written in.
    case literal(Value, form: LiteralForm)
    /// A comparison of two values.
    case compare(Comparison, FilterExpression, FilterExpression)
    /// A sum, difference, product, quotient or remainder.
    case arithmetic(Arithmetic, FilterExpression, FilterExpression)
    /// A negated number.
    case negate(FilterExpression)
    /// A negated condition.
    case not(FilterExpression)
    /// Both conditions hold.
    case and(FilterExpression, FilterExpression)
    /// At least one condition holds.
    case or(FilterExpression, FilterExpression)
    /// A value equals one of several.
    case oneOf(FilterExpression, [FilterExpression])
    /// A function call.
    case call(Function, [FilterExpression])
    /// What the clocks and calendars of a time zone show at a date. No server evaluates it.
    case local(FilterExpression, ClockZone, ClockPart)
    /// A column refers to a row of another table, or a row of another table refers to it by that column. No server
    /// evaluates it.
    case related(String, Selection)

    /// The values of a column in the rows of a table that match a filter.
    public struct Selection: Hashable, Sendable {
        /// The table.
        public var table: String
        /// The column; `id` for the ids of the rows.
        public var column: String
        /// The condition of the rows; nil for all.
        public var filter: FilterExpression?
        /// Whether columns hold the ids of rows as numbers.
        public var hasNumbers: Bool

        /// Creates a selection.
        public init(table: String, column: String, filter: FilterExpression? = nil, hasNumbers: Bool = false) {
            self.table = table
            self.column = column
            self.filter = filter
            self.hasNumbers = hasNumbers
        }
    }

    /// Returns a column by its name.
    public static func column(_ name: String) -> FilterExpression { .column([name]) }
    /// Returns a literal in its plain form.
    public static func literal(_ value: Value) -> FilterExpression { .literal(value, form: .plain) }

    /// A comparison of two values, with its OData name.
    public enum Comparison: String, Hashable, Sendable, CaseIterable {
        /// Both are equal.
        case equal = "eq"
        /// Both differ.
        case notEqual = "ne"
        /// The left is greater.
        case greater = "gt"
        /// The left is greater or equal.
        case greaterOrEqual = "ge"
        /// The left is less.
        case less = "lt"
        /// The left is less or equal.
        case lessOrEqual = "le"
    }

    /// An arithmetic operation, with its OData name.
    public enum Arithmetic: String, Hashable, Sendable, CaseIterable {
        /// The operators.
        case add, sub, mul, div, mod
    }

    /// The form a literal was written in, if its value alone does not show that.
    public enum LiteralForm: String, Hashable, Sendable {
        /// The plain form of the value.
        case plain
        /// A GUID.
        case guid = "Edm.Guid"
        /// A time of day.
        case time = "Edm.TimeOfDay"
    }

    /// The functions of both protocols, with their OData 4 names if the two differ.
    public enum Function: String, Hashable, Sendable, CaseIterable {
        /// Functions of strings.
        case contains, startswith, endswith, concat, indexof, substring, replace, toupper, tolower, trim, length
        /// Parts of a date.
        case year, month, day, hour, minute, second
        /// Rounding functions.
        case floor, ceiling, round
        /// Whether an array has an element. Neither protocol has it.
        case element

        /// Whether it rounds a number.
        var rounds: Bool { self == .floor || self == .ceiling || self == .round }

        /// The number of arguments.
        var arity: ClosedRange<Int> {
            switch self {
            case .contains, .startswith, .endswith, .concat, .indexof, .element: 2...2
            case .substring: 2...3
            case .replace: 3...3
            default: 1...1
            }
        }
    }

    /// The columns it uses.
    package var columns: Set<ExactString> {
        var all: Set<ExactString> = []
        forEachColumn { all.insert(ExactString($0)) }
        return all
    }

    /// Whether it or a part of it is wanted. Queries ask this each time, so it makes nothing.
    func contains(_ isWanted: (FilterExpression) -> Bool) -> Bool {
        if isWanted(self) { return true }
        switch self {
        case .column, .literal, .related: return false
        case .compare(_, let left, let right), .arithmetic(_, let left, let right), .and(let left, let right),
            .or(let left, let right):
            return left.contains(isWanted) || right.contains(isWanted)
        case .negate(let inner), .not(let inner), .local(let inner, _, _): return inner.contains(isWanted)
        case .oneOf(let value, let choices):
            return value.contains(isWanted) || choices.contains { $0.contains(isWanted) }
        case .call(_, let arguments): return arguments.contains { $0.contains(isWanted) }
        }
    }

    /// Whether a state gives it its meaning.
    var dependsOnState: Bool {
        contains { part in
            switch part {
            case .related, .arithmetic(.div, _, _): true
            default: false
            }
        }
    }

    /// Calls `body` with each column it uses, as often as it does.
    func forEachColumn(_ body: (String) -> Void) {
        switch self {
        case .column(let path): body(path[0])
        case .related(let column, _): body(column)
        case .literal: break
        case .compare(_, let left, let right), .arithmetic(_, let left, let right), .and(let left, let right),
            .or(let left, let right):
            left.forEachColumn(body)
            right.forEachColumn(body)
        case .negate(let inner), .not(let inner), .local(let inner, _, _): inner.forEachColumn(body)
        case .oneOf(let value, let choices):
            value.forEachColumn(body)
            for choice in choices { choice.forEachColumn(body) }
        case .call(_, let arguments): for argument in arguments { argument.forEachColumn(body) }
        }
    }
}

/// Why a string is not a valid filter, and where.
public struct FilterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position in the string, in characters from 0.
    public var position: Int
    /// What is wrong at that position.
    public var message: String

    /// Creates an error.
    public init(position: Int, message: String) {
        self.position = position
        self.message = message
    }

    public var description: String { "\(message) at character \(position + 1)" }
}
