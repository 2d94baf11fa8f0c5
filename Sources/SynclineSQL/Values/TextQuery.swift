// A full-text query, and its matches.

public import SynclineCore

/// What a search asks for.
public struct TextQuery: Hashable, Sendable {
    /// The query in the syntax of FTS5.
    let expression: String
    /// The maximum number of rows.
    public var limit = 50
    /// How many of the best rows to skip.
    public var skip = 0
    /// The string before each matching word in a snippet.
    public var matchStart = "["
    /// The string after each matching word in a snippet.
    public var matchEnd = "]"
    /// The length of a snippet in words, at most 64.
    public var snippetLength = 12

    /// Finds rows that have all of these words. The last one may be the beginning of a word, for a search while typing.
    public init(_ words: String, lastIsPrefix: Bool = true) {
        let all = words.split(whereSeparator: { $0.isWhitespace || $0 == "\0" }).map { SQLName.quoted(String($0)) }
        expression = all.joined(separator: " ") + (lastIsPrefix && !all.isEmpty ? "*" : "")
    }

    /// Finds rows that match an expression in the syntax of SQLite's FTS5, such as `milk NOT bread` or
    /// `NEAR(oat milk)`.
    public init(expression: String) {
        self.expression = expression
    }
}

/// A row that a search found.
public struct TextMatch: Hashable, Sendable {
    /// The row.
    public var row: StoredRow
    /// The rank of the match; the best match has the lowest.
    public var rank: Double
    /// A part of the text around the match, in which the matching words are marked.
    public var snippet: String
}
