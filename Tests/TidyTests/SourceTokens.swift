// What a file of Swift consists of, for the tests that look at its names. It knows enough of Swift for that: comments, and
// strings with what is interpolated in them.

/// The text of a file as names and single characters, without comments and strings.
struct SourceTokens {
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
