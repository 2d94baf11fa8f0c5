// `ne` and null. In a client's tables a row without a value differs from any value; servers over SQL leave such a
// row out. So a filter is rewritten before it is sent, and this project's server reads it like other servers.

extension FilterExpression {
    /// The filter to send to a server so that it has the same meaning as locally: `x ne 5` becomes `(x ne 5 or x eq
    /// null)`.
    package var forServers: FilterExpression {
        switch self {
        case .compare(.notEqual, let left, let right) where !left.isNullLiteral && !right.isNullLiteral:
            let (left, right) = (left.forServers, right.forServers)
            let plain = FilterExpression.compare(.notEqual, left, right)
            switch (left.nullTests, right.nullTests) {
            case (let tests, []), ([], let tests):
                return tests.reduce(plain) { .or($0, $1) }
            case (let left, let right):
                // Two values also differ if exactly one of them is missing.
                return .or(.or(plain, FilterExpression.onlyFirst(left, right)), FilterExpression.onlyFirst(right, left))
            }
        case .oneOf(let value, let choices) where choices.contains(where: \.isNullLiteral):
            // Servers over SQL find no null among the values of `in`.
            let test = FilterExpression.compare(.equal, value.forServers, .literal(.null))
            let rest = choices.filter { !$0.isNullLiteral }
            return rest.isEmpty ? test : .or(.oneOf(value.forServers, rest), test)
        default: return mapParts { $0.forServers }
        }
    }

    /// The filter with the meaning `ne` has on a server over SQL: not true for null.
    package var asServersRead: FilterExpression {
        switch self {
        case .compare(.notEqual, let left, let right) where !left.isNullLiteral && !right.isNullLiteral:
            .not(.compare(.equal, left.asServersRead, right.asServersRead))
        default: mapParts { $0.asServersRead }
        }
    }

    /// Returns the same kind of expression with mapped parts.
    package func mapParts(_ map: (FilterExpression) -> FilterExpression) -> FilterExpression {
        switch self {
        case .column, .literal, .related: self
        case .compare(let comparison, let left, let right): .compare(comparison, map(left), map(right))
        case .arithmetic(let arithmetic, let left, let right): .arithmetic(arithmetic, map(left), map(right))
        case .negate(let inner): .negate(map(inner))
        case .not(let inner): .not(map(inner))
        case .and(let left, let right): .and(map(left), map(right))
        case .or(let left, let right): .or(map(left), map(right))
        case .oneOf(let value, let choices): .oneOf(map(value), choices.map(map))
        case .call(let function, let arguments): .call(function, arguments.map(map))
        case .local(let date, let zone, let part): .local(map(date), zone, part)
        }
    }

    /// Conditions of which one holds if the value is null. Servers disagree about functions of null, so the columns
    /// themselves are tested. Every row has an id.
    private var nullTests: [FilterExpression] {
        switch self {
        case .literal, .column(["id"]): []
        case .column, .compare, .not, .and, .or, .oneOf, .related: [.compare(.equal, self, .literal(.null))]
        case .negate(let inner), .local(let inner, _, _): inner.nullTests
        case .arithmetic(_, let left, let right): FilterExpression.unique(left.nullTests + right.nullTests)
        case .call(_, let arguments): FilterExpression.unique(arguments.flatMap(\.nullTests))
        }
    }

    private static func unique(_ tests: [FilterExpression]) -> [FilterExpression] {
        tests.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Returns the condition that one of the first tests holds, and none of the second.
    private static func onlyFirst(_ first: [FilterExpression], _ second: [FilterExpression]) -> FilterExpression {
        let isFirst = first.dropFirst().reduce(first[0]) { .or($0, $1) }
        return second.reduce(isFirst) { .and($0, .not($1)) }
    }

    /// Whether it is the literal null.
    package var isNullLiteral: Bool {
        if case .literal(.null, _) = self { return true }
        return false
    }
}
