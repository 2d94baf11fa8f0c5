// Prints a filter for a server's protocol. What the old protocol can't express is an error, and is never left out.

import SynclineGround

/// A part of a filter that a protocol can't express.
package struct UnsupportedPredicate: Error, Hashable, Sendable, CustomStringConvertible {
    package var what: String

    package var description: String { "the server's protocol can't express \(what)" }
}

struct FilterPrinter {
    let dialect: ServerProtocol

    /// The precedence of an expression; a part with a lower one than its context gets parentheses.
    private enum Level: Int {
        case or, and, compare, additive, multiplicative, unary, primary
    }

    func text(_ expression: FilterExpression) throws(UnsupportedPredicate) -> String {
        try print(expression, atLeast: .or)
    }

    private func print(_ expression: FilterExpression, atLeast level: Level) throws(UnsupportedPredicate) -> String {
        let own = FilterPrinter.level(of: expression, dialect)
        let text = try plain(expression)
        return own.rawValue < level.rawValue ? "(\(text))" : text
    }

    private static func level(of expression: FilterExpression, _ dialect: ServerProtocol) -> Level {
        switch expression {
        case .or: .or
        case .and: .and
        case .compare: .compare
        case .oneOf(_, let values): dialect == .datasync3 || values.count == 1 ? .compare : .or
        case .arithmetic(.add, _, _), .arithmetic(.sub, _, _): .additive
        case .arithmetic: .multiplicative
        case .not, .negate: .unary
        case .column, .literal, .call, .local, .related: .primary
        }
    }

    private func plain(_ expression: FilterExpression) throws(UnsupportedPredicate) -> String {
        switch expression {
        case .column(let path):
            return path.joined(separator: "/")
        case .literal(let value, let form):
            return try literal(value, form)
        case .compare(let comparison, let left, let right):
            return try join(left, comparison.rawValue, right, .additive, .additive)
        case .arithmetic(let arithmetic, let left, let right):
            let isSum = arithmetic == .add || arithmetic == .sub
            return try join(
                left, arithmetic.rawValue, right, isSum ? .additive : .multiplicative, isSum ? .multiplicative : .unary)
        case .negate(let inner):
            return "-" + (try print(inner, atLeast: .primary))
        case .not(let inner):
            // Always in parentheses: servers disagree about the precedence of `not`.
            return "not (\(try text(inner)))"
        case .and(let left, let right):
            return try join(left, "and", right, .and, .compare)
        case .or(let left, let right):
            return try join(left, "or", right, .or, .and)
        case .oneOf(let value, let choices):
            return try oneOf(value, choices)
        case .call(let function, let arguments):
            return try call(function, arguments)
        case .local(_, let zone, _):
            throw UnsupportedPredicate(what: "a date by the clocks of \(zone.name)")
        case .related(_, let selection):
            throw UnsupportedPredicate(what: "a condition on related rows of \(selection.table)")
        }
    }

    private func join(
        _ left: FilterExpression, _ word: String, _ right: FilterExpression, _ leftLevel: Level, _ rightLevel: Level
    ) throws(UnsupportedPredicate) -> String {
        try print(left, atLeast: leftLevel) + " \(word) " + print(right, atLeast: rightLevel)
    }

    private func oneOf(_ value: FilterExpression, _ choices: [FilterExpression]) throws(UnsupportedPredicate) -> String
    {
        var texts: [String] = []
        for choice in choices {
            texts.append(
                dialect == .datasync3 ? try text(choice) : try join(value, "eq", choice, .additive, .additive))
        }
        guard dialect == .datasync3 else { return texts.joined(separator: " or ") }
        return try print(value, atLeast: .additive) + " in (\(texts.joined(separator: ",")))"
    }

    private func call(_ function: FilterExpression.Function, _ arguments: [FilterExpression])
        throws(UnsupportedPredicate) -> String
    {
        if function == .element { throw UnsupportedPredicate(what: "a condition on the elements of an array") }
        let texts = try arguments.map { argument throws(UnsupportedPredicate) in try text(argument) }
        if dialect == .zumo2, function == .contains {
            return "substringof(\(texts.reversed().joined(separator: ",")))"
        }
        return "\(function.rawValue)(\(texts.joined(separator: ",")))"
    }

    private func literal(_ value: Value, _ form: FilterExpression.LiteralForm) throws(UnsupportedPredicate) -> String {
        switch value {
        case .null: return "null"
        case .bool(let flag): return flag ? "true" : "false"
        case .integer(let number): return String(number)
        case .double(let number): return "\(number)"
        case .number(let number): return number.spelling
        case .string(let text):
            if form != .plain && dialect == .datasync3 { return "cast(\(text),\(form.rawValue))" }
            if form == .guid { return "guid" + text.quoted(by: "'") }
            return text.quoted(by: "'")
        case .date(let date):
            return self.date(date)
        case .bytes: throw UnsupportedPredicate(what: "bytes")
        case .array: throw UnsupportedPredicate(what: "an array")
        case .object: throw UnsupportedPredicate(what: "an object")
        }
    }

    /// Dates are written in UTC, to the millisecond or with more decimals if they have them.
    private func date(_ date: Timestamp) -> String {
        if dialect == .datasync3, date.zone == .dateOnly { return "cast(\(date),Edm.Date)" }
        let utc = Timestamp(date.instant, decimals: max(3, date.decimals))
        return dialect == .zumo2 ? "datetimeoffset'\(utc)'" : "cast(\(utc),Edm.DateTimeOffset)"
    }
}

extension FilterExpression {
    /// Returns the filter's text for a server.
    package func text(for dialect: ServerProtocol) throws(UnsupportedPredicate) -> String {
        try FilterPrinter(dialect: dialect).text(self)
    }
}
