// Reads a filter in both protocols' spelling:
//
//   or-expr  := and-expr { "or" and-expr }            additive := multip { ("add"|"sub") multip }
//   and-expr := compare { "and" compare }             multip   := unary { ("mul"|"div"|"mod") unary }
//   compare  := additive { ("eq"|"ne"|…) additive | "in" "(" literal { "," literal } ")" }
//   unary    := "-" unary | "not" unary | primary     primary  := literal | "(" or-expr ")" | function | column
//
// `not` binds tightest: `not a eq b` is `(not a) eq b`. There are no words but these: everything else is a column.

struct FilterParser {
    private var scanner: FilterScanner
    private var depth = 0

    /// No filter anyone writes nests deeper; the bound keeps a hostile one from using up the stack.
    static let depthLimit = 200

    private let limit: Int

    private init(_ text: String, limit: Int) throws(FilterError) {
        scanner = try FilterScanner(text)
        self.limit = limit
    }

    static func parse(_ text: String, depthLimit: Int = FilterParser.depthLimit) throws(FilterError) -> Expression {
        var parser = try FilterParser(text, limit: min(depthLimit, FilterParser.depthLimit))
        let expression = try parser.orExpression()
        guard parser.scanner.isAtEnd else { throw parser.scanner.unexpected() }
        return expression
    }

    // MARK: Operators

    private mutating func orExpression() throws(FilterError) -> Expression {
        var left = try andExpression()
        while scanner.skip(word: "or") { left = .or(left, try andExpression()) }
        return left
    }

    private mutating func andExpression() throws(FilterError) -> Expression {
        var left = try comparison()
        while scanner.skip(word: "and") { left = .and(left, try comparison()) }
        return left
    }

    private mutating func comparison() throws(FilterError) -> Expression {
        var left = try additive()
        while true {
            if let comparison = Expression.Comparison.allCases.first(where: { scanner.skip(word: $0.rawValue) }) {
                left = .compare(comparison, left, try additive())
            } else if scanner.skip(word: "in") {
                left = .oneOf(left, try arguments())
            } else {
                return left
            }
        }
    }

    private mutating func additive() throws(FilterError) -> Expression {
        try chain([.add, .sub]) { parser throws(FilterError) in
            try parser.chain([.mul, .div, .mod]) { parser throws(FilterError) in try parser.unary() }
        }
    }

    private mutating func chain(
        _ operators: [Expression.Arithmetic], _ operand: (inout FilterParser) throws(FilterError) -> Expression
    ) throws(FilterError) -> Expression {
        var left = try operand(&self)
        while let arithmetic = operators.first(where: { scanner.skip(word: $0.rawValue) }) {
            left = .arithmetic(arithmetic, left, try operand(&self))
        }
        return left
    }

    private mutating func unary() throws(FilterError) -> Expression {
        try nested { parser throws(FilterError) in
            if parser.scanner.skip("-") {
                // A minus before a number belongs to it, so that the smallest integer can be written.
                if let number = try parser.scanner.number(isNegative: true) { return .literal(number) }
                return .negate(try parser.unary())
            }
            if parser.scanner.skip(word: "not") { return .not(try parser.unary()) }
            return try parser.primary()
        }
    }

    private mutating func nested(
        _ body: (inout FilterParser) throws(FilterError) -> Expression
    ) throws(FilterError) -> Expression {
        guard depth < limit else {
            throw scanner.error("the filter nests deeper than \(limit)")
        }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    // MARK: Operands

    private mutating func primary() throws(FilterError) -> Expression {
        if scanner.skip("(") {
            let inner = try orExpression()
            try scanner.expect(")")
            return inner
        }
        if let text = try scanner.quoted() { return .literal(.string(text)) }
        if let moment = scanner.bareDateOrTime() { return moment }
        if let number = try scanner.number(isNegative: false) { return .literal(number) }
        let start = scanner.position
        guard let name = scanner.name() else { throw scanner.unexpected() }
        switch name {
        case "true": return .literal(.bool(true))
        case "false": return .literal(.bool(false))
        case "null": return .literal(.null)
        case "cast" where scanner.isNext("("): return try cast(from: start)
        case "datetime" where scanner.isNext("'"), "datetimeoffset" where scanner.isNext("'"):
            return try date(from: start)
        case "guid" where scanner.isNext("'"):
            return .literal(.string(try scanner.quoted() ?? ""), form: .guid)
        default:
            return scanner.isNext("(") ? try call(name, from: start) : try column(name)
        }
    }

    private mutating func column(_ first: String) throws(FilterError) -> Expression {
        var path = [first]
        while scanner.skip("/") {
            guard let name = scanner.name() else { throw scanner.unexpected() }
            path.append(name)
        }
        return .column(path)
    }

    private mutating func date(from start: Int) throws(FilterError) -> Expression {
        guard let text = try scanner.quoted(), let date = Timestamp(text) else {
            throw scanner.error("the date can't be read; write it as 2026-05-19T21:30:00.000Z", at: start)
        }
        return .literal(.date(date))
    }

    private mutating func cast(from start: Int) throws(FilterError) -> Expression {
        try scanner.expect("(")
        let text = scanner.raw(until: ",")
        try scanner.expect(",")
        let type = scanner.raw(until: ")")
        try scanner.expect(")")
        switch type {
        case "Edm.DateTimeOffset", "Edm.DateTime", "Edm.Date":
            if let date = Timestamp(text) { return .literal(.date(date)) }
        case "Edm.TimeOfDay":
            if FilterScanner.isTime(text) { return .literal(.string(text), form: .time) }
        case "Edm.Guid":
            if !text.isEmpty { return .literal(.string(text), form: .guid) }
        default:
            throw scanner.error("casts to \(type) are not known", at: start)
        }
        throw scanner.error("'\(text)' is no \(type)", at: start)
    }

    private mutating func call(_ name: String, from start: Int) throws(FilterError) -> Expression {
        let known = Expression.Function(rawValue: name.lowercased())
        // The old protocol has the same test with its arguments the other way round.
        let isSubstringOf = name.lowercased() == "substringof"
        guard let function = isSubstringOf ? .contains : known else {
            throw scanner.error("there is no function \(name)", at: start)
        }
        let arguments = try arguments()
        guard function.arity.contains(arguments.count) else {
            throw scanner.error("\(name) does not take \(arguments.count) arguments", at: start)
        }
        return .call(function, isSubstringOf ? arguments.reversed() : arguments)
    }

    private mutating func arguments() throws(FilterError) -> [Expression] {
        try scanner.expect("(")
        var list = [try orExpression()]
        while scanner.skip(",") { list.append(try orExpression()) }
        try scanner.expect(")")
        return list
    }
}

extension Expression {
    /// Reads a filter's text.
    public init(parsing text: String) throws(FilterError) {
        self = try FilterParser.parse(text)
    }

    /// The same where less nesting is allowed than elsewhere.
    package init(parsing text: String, depthLimit: Int) throws(FilterError) {
        self = try FilterParser.parse(text, depthLimit: depthLimit)
    }
}
