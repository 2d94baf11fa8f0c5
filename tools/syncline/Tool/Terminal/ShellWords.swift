// The words of a line, with quotes and escapes as a shell has them.

/// Splits a typed line into words: quotes hold spaces together.
enum ShellWords {
    static func split(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return words
    }

    /// The completions of the last word of a line: words of commands, and options.
    static func completions(of line: String, _ table: CommandTable) -> [String] {
        var words = split(line)
        let word = line.hasSuffix(" ") || line.isEmpty ? "" : words.popLast() ?? ""
        var path: [String] = []
        for known in words where table.words(after: path).contains(known) { path.append(known) }
        var choices = path.count == words.count ? table.words(after: path) : []
        if word.hasPrefix("-") {
            choices = ((table.command(path)?.options ?? []) + CommandTable.common).map { "--\($0.name)" }
        }
        return choices.filter { $0.hasPrefix(word) }.sorted()
    }
}
