// The tree of a filter: what OData text in both protocols' spelling is parsed to, what is printed for a server, and what
// a local query evaluates.

/// A filter, or a part of one.
public indirect enum Expression: Hashable, Sendable {
    /// A column, or a member of a nested object below it.
    case column([String])
    /// A value, and what it was written as.
    case literal(Value, form: LiteralForm)
    /// A comparison of two values.
    case compare(Comparison, Expression, Expression)
    /// A sum, difference, product, quotient or remainder.
    case arithmetic(Arithmetic, Expression, Expression)
    /// A number with the other sign.
    case negate(Expression)
    /// What holds where the condition does not.
    case not(Expression)
    /// Both conditions.
    case and(Expression, Expression)
    /// One condition or the other.
    case or(Expression, Expression)
    /// Whether a value is one of several.
    case oneOf(Expression, [Expression])
    /// A function of values.
    case call(Function, [Expression])

    /// A column by its name.
    public static func column(_ name: String) -> Expression { .column([name]) }
    /// A literal in its plain form.
    public static func literal(_ value: Value) -> Expression { .literal(value, form: .plain) }

    /// How two values are compared, as OData spells it.
    public enum Comparison: String, Hashable, Sendable, CaseIterable {
        /// They mean the same.
        case equal = "eq"
        /// They do not mean the same.
        case notEqual = "ne"
        /// The left is greater.
        case greater = "gt"
        /// The left is greater, or they mean the same.
        case greaterOrEqual = "ge"
        /// The left is less.
        case less = "lt"
        /// The left is less, or they mean the same.
        case lessOrEqual = "le"
    }

    /// What is done with two numbers, as OData spells it.
    public enum Arithmetic: String, Hashable, Sendable, CaseIterable {
        /// An operator.
        case add, sub, mul, div, mod
    }

    /// What a literal was written as, where its value alone does not tell.
    public enum LiteralForm: String, Hashable, Sendable {
        /// As its value is.
        case plain
        /// As a GUID.
        case guid = "Edm.Guid"
        /// As a time of day.
        case time = "Edm.TimeOfDay"
    }

    /// The functions of both protocols, by their spelling in OData 4 where the two differ.
    public enum Function: String, Hashable, Sendable, CaseIterable {
        /// A function of texts.
        case contains, startswith, endswith, concat, indexof, substring, replace, toupper, tolower, trim, length
        /// A part of a date.
        case year, month, day, hour, minute, second
        /// A number without its fraction.
        case floor, ceiling, round

        /// How many arguments it takes.
        var arity: ClosedRange<Int> {
            switch self {
            case .contains, .startswith, .endswith, .concat, .indexof: 2...2
            case .substring: 2...3
            case .replace: 3...3
            default: 1...1
            }
        }
    }
}

extension Expression {
    /// The columns that it names.
    package var columns: Set<String> {
        switch self {
        case .column(let path): [path[0]]
        case .literal: []
        case .compare(_, let left, let right), .arithmetic(_, let left, let right), .and(let left, let right),
            .or(let left, let right):
            left.columns.union(right.columns)
        case .negate(let inner), .not(let inner): inner.columns
        case .oneOf(let value, let choices): choices.reduce(value.columns) { $0.union($1.columns) }
        case .call(_, let arguments): arguments.reduce([]) { $0.union($1.columns) }
        }
    }
}

/// Why a text is no filter, and where.
public struct FilterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The place in the text, in characters from 0.
    public var position: Int
    /// What is wrong there.
    public var message: String

    /// Makes an error.
    public init(position: Int, message: String) {
        self.position = position
        self.message = message
    }

    public var description: String { "\(message) at character \(position + 1)" }
}
