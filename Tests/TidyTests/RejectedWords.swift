// The words that the glossary rejects, found as whole words in code and text.

import Foundation

/// The last column of the glossary's tables.
struct RejectedWords {
    /// What contains a rejected word and is right: names, and uses with another meaning.
    private static let allowed = [
        "there (?:is|was) no", "is no longer", "answer is no", "behind (?:a proxy|TLS|pgbouncer|any load balancer)",
        "\"behind", "nil where hasBase", "pg_current_wal_insert_lsn",
    ]
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
        let allowed = RejectedWords.allowed.joined(separator: "|")
        expression = try NSRegularExpression(
            pattern: "\(allowed)|(?<!\\p{L})(\(choices))(?!\\p{L})", options: .caseInsensitive)
    }

    /// The rejected words in a file, in lower case.
    func found(in text: String) -> [String] {
        expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
            Range(match.range(at: 1), in: text).map { text[$0].lowercased() }
        }
    }
}
