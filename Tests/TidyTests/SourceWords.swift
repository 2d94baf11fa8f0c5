// Which types a file of Swift declares, and which names it uses.

/// The names in a file that show what it depends on.
struct SourceWords {
    /// The types that it declares for others.
    private(set) var declared: Set<String> = []
    /// Names that mean something of the file's own: types within types, private types, parameters that stand for types.
    private(set) var own: Set<String> = []
    /// Every name that is not a member of another.
    private(set) var used: Set<String> = []
    let members: MemberWords

    private static let kinds: Set<String> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    private static let modifiers: Set<String> = [
        "public", "package", "internal", "private", "fileprivate", "final", "indirect",
    ]

    init(_ text: String) {
        let tokens = SourceTokens(text).tokens
        members = MemberWords(tokens)
        var depth = 0
        for (place, token) in tokens.enumerated() {
            if token == "{" { depth += 1 }
            if token == "}" { depth -= 1 }
            guard SourceTokens.isName(token) else { continue }
            if place == 0 || tokens[place - 1] != "." { used.insert(token) }
            guard place + 1 < tokens.count, SourceTokens.isName(tokens[place + 1]) else { continue }
            let isImport = place > 0 && tokens[place - 1] == "import"
            if SourceWords.kinds.contains(token), !isImport {
                let isPrivate = SourceWords.modifiers(before: place, tokens).contains { $0.hasSuffix("private") }
                if depth == 0, !isPrivate { declared.insert(tokens[place + 1]) } else { own.insert(tokens[place + 1]) }
            }
            if SourceWords.kinds.contains(token) || token == "func" || token == "associatedtype" {
                own.formUnion(SourceWords.parameters(from: place + 2, tokens))
            }
        }
    }

    private static func modifiers(before place: Int, _ tokens: [String]) -> [String] {
        tokens[..<place].reversed().prefix { modifiers.contains($0) }
    }

    /// The names between `<` and `>`, of which each is the first of its part.
    private static func parameters(from start: Int, _ tokens: [String]) -> Set<String> {
        guard start < tokens.count, tokens[start] == "<" else { return [] }
        var names: Set<String> = []
        for place in (start + 1)..<tokens.count {
            if tokens[place] == ">" { break }
            if tokens[place - 1] == "<" || tokens[place - 1] == "," { names.insert(tokens[place]) }
        }
        return names
    }
}
