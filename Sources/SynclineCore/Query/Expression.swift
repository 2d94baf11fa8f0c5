// The tree of a filter: what OData text in both protocols' spelling is parsed to, what is printed for a server, and what
// a local query evaluates.

/// A filter, or a part of one.
public indirect enum Expression: Hashable, Sendable {
    /// A column, or a member of a nested object below it.
    case column([String])
    case literal(Value, form: LiteralForm)
    case compare(Comparison, Expression, Expression)
    case arithmetic(Arithmetic, Expression, Expression)
    case negate(Expression)
    case not(Expression)
    case and(Expression, Expression)
    case or(Expression, Expression)
    case oneOf(Expression, [Expression])
    case call(Function, [Expression])

    /// A column by its name.
    public static func column(_ name: String) -> Expression { .column([name]) }
    /// A literal in its plain form.
    public static func literal(_ value: Value) -> Expression { .literal(value, form: .plain) }

    public enum Comparison: String, Hashable, Sendable, CaseIterable {
        case equal = "eq"
        case notEqual = "ne"
        case greater = "gt"
        case greaterOrEqual = "ge"
        case less = "lt"
        case lessOrEqual = "le"
    }

    public enum Arithmetic: String, Hashable, Sendable, CaseIterable {
        case add, sub, mul, div, mod
    }

    /// What a literal was written as, where its value alone does not tell.
    public enum LiteralForm: String, Hashable, Sendable {
        case plain
        case guid = "Edm.Guid"
        case time = "Edm.TimeOfDay"
    }

    /// The functions of both protocols, by their spelling in OData 4 where the two differ.
    public enum Function: String, Hashable, Sendable, CaseIterable {
        case contains, startswith, endswith, concat, indexof, substring, replace, toupper, tolower, trim, length
        case year, month, day, hour, minute, second
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

/// Why a text is no filter, and where.
public struct FilterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The place in the text, in characters from 0.
    public var position: Int
    public var message: String

    public init(position: Int, message: String) {
        self.position = position
        self.message = message
    }

    public var description: String { "\(message) at character \(position + 1)" }
}
