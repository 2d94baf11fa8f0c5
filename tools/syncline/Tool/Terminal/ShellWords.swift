// The words of a line, with quotes and escapes as a shell has them.

/// Splits a typed line into words: quotes hold spaces together.
enum ShellWords {
    static func split(_ line: String) -> [String] {
        var words: [String] = []
        var word: String.UnicodeScalarView?
        var quote: Unicode.Scalar?
        var isEscaped = false
        func add(_ scalar: Unicode.Scalar) {
            if word == nil { word = .init() }
            word?.append(scalar)
        }
        // A quotation mark and an accent after it are one character in Swift.
        for scalar in line.unicodeScalars {
            if isEscaped {
                add(scalar)
                isEscaped = false
            } else if scalar == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if scalar == open { quote = nil } else { add(scalar) }
            } else if scalar == "'" || scalar == "\"" {
                quote = scalar
                word = word ?? .init()
            } else if scalar.properties.isWhitespace {
                if let finished = word { words.append(String(finished)) }
                word = nil
            } else {
                add(scalar)
            }
        }
        if let word { words.append(String(word)) }
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
