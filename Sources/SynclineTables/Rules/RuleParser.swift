// Reads a rule:
//
//   rule        := alternative { "or" alternative }
//   alternative := condition { "and" condition }
//   condition   := column "eq" ( "auth.sub" | literal ) | column "in" set | "role:" name
//   set         := table "(" column "where" condition { "and" condition } ")"
//
// An alternative has at most one condition that leads to the caller, a set exactly one: so each is a path. An alternative
// may also have one role; a set has none.

import SynclineCore

extension RowRule {
    /// The number of tables between a caller and a row.
    package static let pathLimit = 2

    package init(_ text: String) throws(RuleError) {
        var parser = try RuleParser(text)
        var alternatives = [try parser.alternative()]
        while parser.skip("or") { alternatives.append(try parser.alternative()) }
        if !parser.isAtEnd { throw parser.unexpected("expected and, or, or the end of the rule") }
        self.init(text: text, alternatives: alternatives)
    }
}

private struct RuleParser {
    private enum Word: Hashable {
        case name(String)
        case literal(String)
        case open, close
    }

    private var words: [(word: Word, position: Int)] = []
    private var place = 0
    private let end: Int

    init(_ text: String) throws(RuleError) {
        let characters = Array(text)
        end = characters.count
        var index = 0
        while index < characters.count {
            let (character, start) = (characters[index], index)
            index += 1
            switch character {
            case " ", "\n", "\t": continue
            case "(": words.append((.open, start))
            case ")": words.append((.close, start))
            case "'":
                var literal = ""
                while true {
                    guard index < characters.count else {
                        throw RuleError(position: start, message: "a string without its end")
                    }
                    if characters[index] == "'" {
                        index += 1
                        if index == characters.count || characters[index] != "'" { break }
                    }
                    literal.append(characters[index])
                    index += 1
                }
                words.append((.literal(literal), start))
            case _ where RuleParser.isOfName(character):
                while index < characters.count, RuleParser.isOfName(characters[index]) { index += 1 }
                words.append((.name(String(characters[start..<index])), start))
            default: throw RuleError(position: start, message: "a rule can't contain '\(character)'")
            }
        }
    }

    private static func isOfName(_ character: Character) -> Bool {
        character == "_" || character == "-" || character == "." || character == ":" || character.isLetter
            || character.isNumber
    }

    var isAtEnd: Bool { place == words.count }

    private var position: Int { isAtEnd ? end : words[place].position }

    func unexpected(_ message: String) -> RuleError { RuleError(position: position, message: message) }

    mutating func skip(_ word: String) -> Bool {
        guard !isAtEnd, words[place].word == .name(word) else { return false }
        place += 1
        return true
    }

    private mutating func skip(_ word: Word) -> Bool {
        guard !isAtEnd, words[place].word == word else { return false }
        place += 1
        return true
    }

    /// A part of conditions: what they say about the row itself, and the condition that leads to the caller.
    private struct Conditions {
        var own: [RuleCondition] = []
        /// The column from which the path begins, and the path.
        var access: (column: String, path: [RuleEdge])?
        var role: String?
    }

    mutating func alternative() throws(RuleError) -> RuleAlternative {
        let found = try conditions()
        return RuleAlternative(
            role: found.role, bucket: RuleBucket(column: found.access?.column, conditions: found.own),
            path: found.access?.path ?? [])
    }

    private mutating func conditions(depth: Int = 0) throws(RuleError) -> Conditions {
        var found = Conditions()
        repeat {
            let start = position
            if depth == 0, found.role == nil, let role = role() {
                found.role = role
                continue
            }
            let column = try name("a column")
            if skip("in") {
                try checkFirst(found, at: start)
                found.access = (column, try set(depth: depth + 1))
            } else if skip("eq") {
                if skip("auth.sub") {
                    try checkFirst(found, at: start)
                    found.access = (column, [])
                } else {
                    found.own.append(RuleCondition(column: column, value: try literal()))
                }
            } else {
                throw unexpected("expected eq or in")
            }
        } while skip("and")
        // Rules that say the same have the same buckets.
        found.own.sort { $0.text < $1.text }
        return found
    }

    private func checkFirst(_ found: Conditions, at position: Int) throws(RuleError) {
        if found.access == nil { return }
        throw RuleError(
            position: position,
            message: "a second condition about the caller, which no index could answer; write it as an alternative, "
                + "or within a set,")
    }

    /// The path to the values of a set: the caller's step first.
    private mutating func set(depth: Int) throws(RuleError) -> [RuleEdge] {
        let start = position
        if depth > RowRule.pathLimit {
            throw unexpected("more than \(RowRule.pathLimit) tables between the caller and the row")
        }
        let table = try name("a table")
        guard skip(.open) else { throw unexpected("expected (") }
        let to = try name("a column")
        guard skip("where") else { throw unexpected("expected where") }
        let found = try conditions(depth: depth)
        guard let access = found.access else {
            throw RuleError(position: start, message: "a set that does not lead to auth.sub")
        }
        guard skip(.close) else { throw unexpected("expected )") }
        return access.path + [RuleEdge(table: table, from: access.column, to: to, conditions: found.own)]
    }

    private mutating func role() -> String? {
        guard !isAtEnd, case .name(let name) = words[place].word, name.hasPrefix("role:"), name != "role:" else {
            return nil
        }
        place += 1
        return String(name.dropFirst("role:".count))
    }

    private mutating func literal() throws(RuleError) -> Value {
        guard !isAtEnd else { throw unexpected("expected auth.sub or a value") }
        switch words[place].word {
        case .literal(let text):
            place += 1
            return .string(text)
        case .name("true"), .name("false"):
            defer { place += 1 }
            return .bool(words[place].word == .name("true"))
        default: throw unexpected("expected auth.sub, a string in quotation marks, true or false")
        }
    }

    private mutating func name(_ what: String) throws(RuleError) -> String {
        guard !isAtEnd, case .name(let name) = words[place].word, !RuleParser.reserved.contains(name) else {
            throw unexpected("expected \(what)")
        }
        if name.contains(".") || name.contains(":") { throw unexpected("'\(name)' can't be \(what) of a rule") }
        place += 1
        return name
    }

    private static let reserved: Set = ["or", "and", "eq", "in", "where", "not"]
}
