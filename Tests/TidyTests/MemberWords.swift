// Which functions, properties and initializers a file of Swift declares, and which it uses, as far as names tell.

/// The names in a file that say whose members it uses. An initializer is named by its type and its first label:
/// `Row(shape:)`.
struct MemberWords {
    /// What other files can use: members of types and what belongs to no type.
    private(set) var declared: Set<String> = []
    /// Other names that may stand after a dot: private members, and cases.
    private(set) var others: Set<String> = []
    /// Names after a dot, and names that are called and mean nothing in a function of the file.
    private(set) var used: Set<String> = []

    private let tokens: [String]
    /// The types around a place, the innermost last; nil for braces of anything else.
    private var scopes: [String?] = []
    /// The type that the next brace belongs to.
    private var type: String?
    private var isInCases = false
    private var called: Set<String> = []
    private var local: Set<String> = []
    /// Names of arguments, and of the parts of tuples.
    private var labels: Set<String> = []

    private static let modifiers: Set<String> = [
        "public", "package", "internal", "private", "fileprivate", "final", "static", "class", "mutating",
        "nonmutating", "nonisolated", "override", "lazy", "weak", "unowned", "convenience", "required", "set", "(", ")",
    ]

    init(_ tokens: [String]) {
        self.tokens = tokens
        for (place, word) in tokens.enumerated() {
            if word == "{" {
                scopes.append(type)
                type = nil
            } else if word == "}" {
                _ = scopes.popLast()
            } else if SourceTokens.isName(word) {
                if token(place - 1) != "." { declare(word, place) }
                use(word, place)
            }
        }
        used.formUnion(called.subtracting(local))
        used.subtract(labels)
    }

    private func token(_ place: Int) -> String { tokens.indices.contains(place) ? tokens[place] : "" }

    private mutating func declare(_ word: String, _ place: Int) {
        let next = token(place + 1)
        if isInCases, token(place - 1) == "," { others.insert(word) }
        switch word {
        case "struct", "class", "enum", "protocol", "actor", "extension":
            isInCases = false
            if token(place - 1) == "import" || ["func", "var", "let"].contains(next) { return }
            if word == "extension" || SourceTokens.isName(next) { type = typeName(at: place + 1) }
        case "func", "var", "let":
            isInCases = false
            if SourceTokens.isName(next) { declare(member: next, at: place) }
        case "case":
            isInCases = !scopes.contains(nil)
            if SourceTokens.isName(next) { others.insert(next) }
        case "init":
            isInCases = false
            guard let scope = scopes.last, let scope, let start = tokens[place...].firstIndex(of: "("),
                SourceTokens.isName(token(start + 1)), token(start + 1) != "_"
            else { return }
            declare(member: "\(scope)(\(token(start + 1)):)", at: place)
        default: break
        }
    }

    private mutating func declare(member: String, at place: Int) {
        if scopes.contains(nil) {
            local.insert(member)
        } else if isPrivate(place) {
            others.insert(member)
        } else {
            declared.insert(member)
        }
    }

    /// Whether a declaration is for its file only. `private(set)` says something else.
    private func isPrivate(_ place: Int) -> Bool {
        let start = tokens[..<place].lastIndex { !MemberWords.modifiers.contains($0) } ?? -1
        return (start + 1..<place).contains { tokens[$0].hasSuffix("private") && token($0 + 1) != "(" }
    }

    /// The last part of a name with dots.
    private func typeName(at start: Int) -> String {
        var place = start
        while token(place + 1) == "." { place += 2 }
        return token(place)
    }

    private mutating func use(_ word: String, _ place: Int) {
        let isMember = token(place - 1) == "." && token(place - 2) != "."
        let isCall = token(place + 1) == "("
        if isMember { used.insert(word) } else if isCall, token(place - 1) != "func" { called.insert(word) }
        if token(place + 1) == ":" { labels.insert(word) }
        if isCall, SourceTokens.isName(token(place + 2)), token(place + 3) == ":" {
            let type = isMember && word == "init" ? token(place - 2) : word
            used.insert("\(type)(\(token(place + 2)):)")
        }
    }
}
