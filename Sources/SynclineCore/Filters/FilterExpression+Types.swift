// A filter in the spellings that a server may have of values in typed columns. Locally a UUID has one meaning, whatever its
// case; a server that keeps it as a string tells cases apart, so it is asked for both.

import SynclineGround

extension FilterExpression {
    /// The filter to send about a table whose columns have these types. Throws for a comparison that a server can't make.
    package func spelled(
        by types: TableTypes, for dialect: ServerProtocol
    ) throws(UnsupportedPredicate) -> FilterExpression {
        switch self {
        case .compare(let comparison, .column(let path), .literal(let value, let form)) where path.count == 1:
            return try TypedLiteral(path[0], types[path[0]], value, form, dialect).compared(by: comparison)
        case .compare(let comparison, .literal(let value, let form), .column(let path)) where path.count == 1:
            return try TypedLiteral(path[0], types[path[0]], value, form, dialect).compared(by: comparison.reversed)
        case .oneOf(.column(let path), let choices) where path.count == 1:
            var spelled: [FilterExpression] = []
            for choice in choices {
                guard case .literal(let value, let form) = choice else {
                    spelled.append(choice)
                    continue
                }
                spelled += TypedLiteral(path[0], types[path[0]], value, form, dialect).spellings
            }
            return .oneOf(.column(path), spelled)
        default:
            var failure: UnsupportedPredicate?
            let mapped = mapParts { part in
                do throws(UnsupportedPredicate) {
                    return try part.spelled(by: types, for: dialect)
                } catch {
                    failure = failure ?? error
                    return part
                }
            }
            if let failure { throw failure }
            return mapped
        }
    }
}

/// A literal beside a column.
private struct TypedLiteral {
    private let column: String
    private let type: ColumnType
    private let value: Value
    /// The forms in which a server may have it.
    let spellings: [FilterExpression]

    init(
        _ column: String, _ type: ColumnType, _ value: Value, _ form: FilterExpression.LiteralForm,
        _ dialect: ServerProtocol
    ) {
        (self.column, self.type, self.value) = (column, type, value)
        let given = FilterExpression.literal(value, form: form == .guid && dialect == .zumo2 ? .plain : form)
        switch (type, value, Meaning(value, as: type)) {
        case (.guid, .string, .uuid): spellings = [.literal(value, form: .guid)]
        case (_, .string(let text), .uuid(let digits)):
            let lower = UUIDDigits(first: digits.first, second: digits.second, isUpper: false).text
            let all = [digits.text, lower] + ([digits.text, lower].contains(text) ? [] : [text])
            spellings = all.map { .literal(.string($0)) }
        case (.date, .string(let text), .date): spellings = [.literal(Timestamp(text).map { .date($0) } ?? value)]
        case (.decimal, .string(let text), .decimal): spellings = [.literal(Value(number: text) ?? value)]
        case (.decimalString, .number(let number), .decimal): spellings = [.literal(.string(number.spelling))]
        case (.decimalString, _, .decimal(let digits)):
            spellings = [.literal(.string(value.isNumber ? digits.text : value.description))]
        case (.bytes, .bytes(let content), _): spellings = [.literal(.string(Base64.encode(content)))]
        default: spellings = [given]
        }
    }

    func compared(by comparison: FilterExpression.Comparison) throws(UnsupportedPredicate) -> FilterExpression {
        let isEquality = comparison == .equal || comparison == .notEqual
        if !isEquality, type.isUUID || type == .decimalString {
            throw UnsupportedPredicate(what: "an order of values of the type \(type.rawValue)")
        }
        let all = spellings.map { FilterExpression.compare(comparison, .column(column), $0) }
        let join = comparison == .notEqual ? FilterExpression.and : FilterExpression.or
        return all.dropFirst().reduce(all[0]) { join($0, $1) }
    }
}
