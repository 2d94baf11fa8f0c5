// Which types a file of Swift declares, and which names it uses. It knows enough of Swift for that: comments, strings with
// what is interpolated in them, and braces.

/// The names in a file that say whom it depends on.
struct SourceWords {
    /// The types that it declares for others.
    private(set) var declared: Set<String> = []
    /// Names that mean something of the file's own: types within types, private types, parameters that stand for types.
    private(set) var own: Set<String> = []
    /// Every name that is not a member of another.
    private(set) var used: Set<String> = []

    private static let kinds: Set<String> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    private static let modifiers: Set<String> = [
        "public", "package", "internal", "private", "fileprivate", "final", "indirect",
    ]

    init(_ text: String) {
        let tokens = SourceTokens(text).tokens
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

/// The text of a file as names and single characters, without comments and strings.
private struct SourceTokens {
    private(set) var tokens: [String] = []
    private let text: [UInt8]
    private var place = 0

    init(_ text: String) {
        self.text = Array(text.utf8)
        while place < self.text.count { step() }
    }

    static func isName(_ token: String) -> Bool { token.utf8.first.map(isLetter) ?? false }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte >= 0x80 || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private func begins(with word: String) -> Bool { text[place...].starts(with: word.utf8) }

    private mutating func step() {
        let byte = text[place]
        if begins(with: "//") {
            while place < text.count, text[place] != UInt8(ascii: "\n") { place += 1 }
        } else if byte == UInt8(ascii: "\"") || begins(with: "#\"") {
            string()
        } else if SourceTokens.isLetter(byte) {
            let start = place
            while place < text.count, SourceTokens.isLetter(text[place]) || SourceTokens.isDigit(text[place]) {
                place += 1
            }
            tokens.append(String(decoding: text[start..<place], as: UTF8.self))
        } else {
            if byte > 0x20, !SourceTokens.isDigit(byte) { tokens.append(String(UnicodeScalar(byte))) }
            place += 1
        }
    }

    /// Passes over a string, but for what is interpolated.
    private mutating func string() {
        let isRaw = text[place] == UInt8(ascii: "#")
        if isRaw { place += 1 }
        let quotes = begins(with: "\"\"\"") ? "\"\"\"" : "\""
        place += quotes.utf8.count
        let (end, opening) = isRaw ? (quotes + "#", "\\#(") : (quotes, "\\(")
        while place < text.count, !begins(with: end) {
            if begins(with: opening) {
                place += opening.utf8.count
                interpolation()
            } else {
                place += !isRaw && text[place] == UInt8(ascii: "\\") ? 2 : 1
            }
        }
        place += end.utf8.count
    }

    private mutating func interpolation() {
        var depth = 1
        while place < text.count {
            if text[place] == UInt8(ascii: "(") { depth += 1 }
            if text[place] == UInt8(ascii: ")") { depth -= 1 }
            if depth == 0 { break }
            step()
        }
        place += 1
    }
}
