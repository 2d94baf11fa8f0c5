// The words that the glossary rejects, found as whole words in code and text.

import Foundation

/// The last column of the glossary's tables.
struct RejectedWords {
    let words: [String]
    private let expression: NSRegularExpression

    init(glossary: String) throws {
        words = glossary.split(separator: "\n").filter { $0.hasPrefix("| ") }.flatMap { line -> [String] in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 5, !cells[1].contains("word") else { return [] }
            return cells[3].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { !$0.isEmpty }
        }
        let choices = words.map { NSRegularExpression.escapedPattern(for: $0) }.joined(separator: "|")
        expression = try NSRegularExpression(pattern: "(?<!\\p{L})(?:\(choices))(?!\\p{L})", options: .caseInsensitive)
    }

    /// The words that a text has, in lower case.
    func found(in text: String) -> [String] {
        expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
            Range(match.range, in: text).map { text[$0].lowercased() }
        }
    }
}
