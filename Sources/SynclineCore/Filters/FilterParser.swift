// Reads a filter in both protocols' spelling:
//
//   or-expr  := and-expr { "or" and-expr }            additive := multip { ("add"|"sub") multip }
//   and-expr := compare { "and" compare }             multip   := unary { ("mul"|"div"|"mod") unary }
//   compare  := additive { ("eq"|"ne"|…) additive | "in" "(" literal { "," literal } ")" }
//   unary    := "-" unary | "not" unary | primary     primary  := literal | "(" or-expr ")" | function | column
//
// `not` binds tightest: `not a eq b` is `(not a) eq b`. There are no words but these: everything else is a column.

struct FilterParser {
    /// The part of the filter read so far, its kind, and where it began.
    private struct Part {
        var expression: FilterExpression
        var kind: FilterKind?
        var start: Int
    }

    private var scanner: FilterScanner
    private var depth = 0
    private let typing: FilterTyping?

    /// The maximum depth of nesting, so that a hostile filter can't overflow the stack.
    static let depthLimit = 200

    private let limit: Int
    /// Whether `=` and `==` are read as `eq`, as people write it.
    private let takesEqualSigns: Bool

    static func parse(
        _ text: String, depthLimit: Int = FilterParser.depthLimit, _ typing: FilterTyping? = nil,
        takesEqualSigns: Bool = false
    ) throws(FilterError) -> FilterExpression {
        let limit = min(depthLimit, FilterParser.depthLimit)
        var parser = FilterParser(
            scanner: try FilterScanner(text), typing: typing, limit: limit, takesEqualSigns: takesEqualSigns)
        let whole = try parser.orExpression()
        guard parser.scanner.isAtEnd else { throw parser.scanner.unexpected() }
        try parser.check(whole, is: .boolean)
        return whole.expression
    }

    // MARK: Kinds

    /// Throws if kinds are checked and a part has the wrong kind.
    private func check(_ part: Part, is kind: FilterKind) throws(FilterError) {
        guard typing != nil, let found = part.kind, found != kind else { return }
        switch (found, kind) {
        case (.decimal, .number), (.anyText, .text), (.anyText, .date): return
        default: break
        }
        throw scanner.error("expected \(kind.noun), found \(found.noun)", at: part.start)
    }

    private func check(_ part: Part, fits other: Part) throws(FilterError) {
        guard typing != nil, let kind = part.kind, let known = other.kind, kind != known,
            !FilterParser.canMeet(part, other), !FilterParser.canMeet(other, part)
        else { return }
        throw scanner.error("\(known.noun) can't be compared with \(kind.noun)", at: part.start)
    }

    /// Whether a column can be compared with another kind: a decimal with a number, also one in quotation marks, and
    /// strings that may be dates with dates.
    private static func canMeet(_ column: Part, _ other: Part) -> Bool {
        switch (column.kind, other.kind, column.expression, other.expression) {
        case (.decimal?, .number?, _, _): true
        case (.decimal?, .text?, _, .literal(let value, _)): NumberDigits(number: value) != nil
        case (.anyText?, .text?, _, _), (.anyText?, .date?, _, _): true
        default: false
        }
    }

    private func literal(_ value: Value, form: FilterExpression.LiteralForm = .plain, from start: Int) -> Part {
        Part(expression: .literal(value, form: form), kind: FilterKind(of: value), start: start)
    }

    // MARK: Operators

    private mutating func orExpression() throws(FilterError) -> Part {
        try conditions("or", FilterExpression.or) { parser throws(FilterError) in
            try parser.conditions("and", FilterExpression.and) { parser throws(FilterError) in try parser.comparison() }
        }
    }

    /// Parses conditions joined by a word, or a single one.
    private mutating func conditions(
        _ word: String, _ join: (FilterExpression, FilterExpression) -> FilterExpression,
        _ operand: (inout FilterParser) throws(FilterError) -> Part
    ) throws(FilterError) -> Part {
        var parts = [try operand(&self)]
        while scanner.skip(word: word) {
            if parts.count == 1 { try check(parts[0], is: .boolean) }
            parts.append(try operand(&self))
            try check(parts[parts.count - 1], is: .boolean)
        }
        if parts.count == 1 { return parts[0] }
        return Part(
            expression: joined(parts.map(\.expression)[...], join), kind: .boolean, start: parts[0].start)
    }

    /// Joins a server's chain in halves, so that even a long chain hardly nests. A client's is joined from the left,
    /// because queries are recognized by that form.
    private func joined(
        _ parts: ArraySlice<FilterExpression>, _ join: (FilterExpression, FilterExpression) -> FilterExpression
    ) -> FilterExpression {
        if parts.count == 1 || typing == nil { return parts.dropFirst().reduce(parts[parts.startIndex], join) }
        let middle = parts.startIndex + parts.count / 2
        return join(joined(parts[..<middle], join), joined(parts[middle...], join))
    }

    private mutating func comparison() throws(FilterError) -> Part {
        var left = try additive()
        for length in 0... {
            let expression: FilterExpression
            if let comparison = sign() {
                let right = try additive()
                try check(right, fits: left)
                expression = .compare(comparison, left.expression, right.expression)
            } else if scanner.skip(word: "in") {
                let choices = try arguments()
                for choice in choices { try check(choice, fits: left) }
                expression = .oneOf(left.expression, choices.map(\.expression))
            } else {
                break
            }
            try check(depth: length)
            left = Part(expression: expression, kind: .boolean, start: left.start)
        }
        return left
    }

    private mutating func sign() -> FilterExpression.Comparison? {
        if takesEqualSigns, scanner.skipEqualSign() { return .equal }
        return FilterExpression.Comparison.allCases.first { scanner.skip(word: $0.rawValue) }
    }

    /// Checks a depth, or a chain's length: each operator except `and` and `or` nests the part before it.
    private func check(depth: Int) throws(FilterError) {
        guard depth < limit else { throw scanner.error("the filter nests deeper than \(limit)") }
    }

    private mutating func additive() throws(FilterError) -> Part {
        try chain([.add, .sub]) { parser throws(FilterError) in
            try parser.chain([.mul, .div, .mod]) { parser throws(FilterError) in try parser.unary() }
        }
    }

    private mutating func chain(
        _ operators: [FilterExpression.Arithmetic], _ operand: (inout FilterParser) throws(FilterError) -> Part
    ) throws(FilterError) -> Part {
        var left = try operand(&self)
        var length = 0
        while let arithmetic = operators.first(where: { scanner.skip(word: $0.rawValue) }) {
            try check(depth: length)
            length += 1
            let right = try operand(&self)
            try check(left, is: .number)
            try check(right, is: .number)
            left.expression = .arithmetic(arithmetic, left.expression, right.expression)
            left.kind = .number
        }
        return left
    }

    private mutating func unary() throws(FilterError) -> Part {
        try nested { parser throws(FilterError) in
            let start = parser.scanner.position
            if parser.scanner.skip("-") {
                // A minus before a number belongs to it, so that the smallest integer can be written.
                if let number = try parser.scanner.number(isNegative: true) {
                    return parser.literal(number, from: start)
                }
                let part = try parser.unary()
                try parser.check(part, is: .number)
                return Part(expression: .negate(part.expression), kind: .number, start: start)
            }
            if parser.scanner.skip(word: "not") {
                let part = try parser.unary()
                try parser.check(part, is: .boolean)
                return Part(expression: .not(part.expression), kind: .boolean, start: start)
            }
            return try parser.primary()
        }
    }

    private mutating func nested(
        _ body: (inout FilterParser) throws(FilterError) -> Part
    ) throws(FilterError) -> Part {
        try check(depth: depth)
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    // MARK: Operands

    private mutating func primary() throws(FilterError) -> Part {
        let start = scanner.position
        if scanner.skip("(") {
            let inner = try orExpression()
            try scanner.expect(")")
            return inner
        }
        if let text = try scanner.quoted() { return literal(.string(text), from: start) }
        if let moment = scanner.bareDateOrTime() {
            let isDate = if case .literal(.date, _) = moment { true } else { false }
            return Part(expression: moment, kind: isDate ? .date : .text, start: start)
        }
        if let number = try scanner.number(isNegative: false) { return literal(number, from: start) }
        guard let name = scanner.name() else { throw scanner.unexpected() }
        switch name {
        case "true": return literal(.bool(true), from: start)
        case "false": return literal(.bool(false), from: start)
        case "null": return literal(.null, from: start)
        case "cast" where scanner.isNext("("): return try cast(from: start)
        case "datetime" where scanner.isNext("'"), "datetimeoffset" where scanner.isNext("'"):
            return try date(from: start)
        case "guid" where scanner.isNext("'"):
            return literal(.string(try scanner.quoted() ?? ""), form: .guid, from: start)
        default:
            return scanner.isNext("(") ? try call(name, from: start) : try column(name, from: start)
        }
    }

    private mutating func column(_ first: String, from start: Int) throws(FilterError) -> Part {
        var path = [first]
        while scanner.skip("/") {
            guard let name = scanner.name() else { throw scanner.unexpected() }
            path.append(name)
        }
        return Part(expression: .column(path), kind: path.count == 1 ? typing?(first) : nil, start: start)
    }

    private mutating func date(from start: Int) throws(FilterError) -> Part {
        guard let text = try scanner.quoted(), let date = Timestamp(anyForm: text) else {
            throw scanner.error("the date can't be read; write it as 2026-05-19T21:30:00.000Z", at: start)
        }
        return literal(.date(date), from: start)
    }

    private mutating func cast(from start: Int) throws(FilterError) -> Part {
        try scanner.expect("(")
        let text = scanner.raw(until: ",")
        try scanner.expect(",")
        let type = scanner.raw(until: ")")
        try scanner.expect(")")
        switch type {
        case "Edm.DateTimeOffset", "Edm.DateTime", "Edm.Date":
            if let date = Timestamp(anyForm: text) { return literal(.date(date), from: start) }
        case "Edm.TimeOfDay":
            if FilterScanner.isTime(text) { return literal(.string(text), form: .time, from: start) }
        case "Edm.Guid":
            if !text.isEmpty { return literal(.string(text), form: .guid, from: start) }
        default:
            throw scanner.error("can't cast to \(type)", at: start)
        }
        throw scanner.error("'\(text)' is not a valid \(type)", at: start)
    }

    private mutating func call(_ name: String, from start: Int) throws(FilterError) -> Part {
        let known = FilterExpression.Function(rawValue: name.lowercased())
        // The old protocol has the same test with its arguments in reverse order.
        let isSubstringOf = name.lowercased() == "substringof"
        guard let function = isSubstringOf ? .contains : known else {
            throw scanner.error("there is no function \(name)", at: start)
        }
        let arguments = try arguments()
        guard function.arity.contains(arguments.count) else {
            throw scanner.error("\(name) does not take \(arguments.count) arguments", at: start)
        }
        for (index, argument) in arguments.enumerated() {
            if let kind = function.kind(ofArgument: index) { try check(argument, is: kind) }
        }
        let expressions = arguments.map(\.expression)
        return Part(
            expression: .call(function, isSubstringOf ? expressions.reversed() : expressions), kind: function.kind,
            start: start)
    }

    private mutating func arguments() throws(FilterError) -> [Part] {
        try scanner.expect("(")
        var list = [try orExpression()]
        while scanner.skip(",") { list.append(try orExpression()) }
        try scanner.expect(")")
        return list
    }
}

extension FilterExpression {
    /// Parses a filter.
    public init(parsing text: String) throws(FilterError) {
        self = try FilterParser.parse(text)
    }

    /// Parses a filter with a limit on its nesting and, with a typing, rejects operands of the wrong kind.
    package init(parsing text: String, depthLimit: Int, typing: FilterTyping? = nil) throws(FilterError) {
        self = try FilterParser.parse(text, depthLimit: depthLimit, typing)
    }
}
