// The declaration of a full-text index.

/// Columns of a table whose words can be found.
public struct FullTextIndex: Hashable, Sendable {
    /// How strings are divided into words.
    public enum Tokenizer: Hashable, Sendable {
        /// Words of letters and digits in any language. Case and accents are ignored.
        case unicode
        /// Words of letters and digits in any language. Only case is ignored.
        case unicodeWithAccents
        /// English words without their endings, so that "run" finds "running".
        case porter
        /// Every sequence of three characters, so that parts of words are found.
        case trigram
    }

    /// The table.
    public var table: String
    /// The columns. Strings, and strings in arrays, are indexed; other values are not.
    public var columns: [String]
    /// How strings are divided into words.
    public var tokenizer: Tokenizer
    /// Lengths of prefixes, such as 2 and 3, that are found especially fast.
    public var prefixes: [Int]

    /// Declares an index.
    public init(
        _ table: String, columns: [String], tokenizer: Tokenizer = .unicode, prefixes: [Int] = []
    ) {
        self.table = table
        self.columns = columns
        self.tokenizer = tokenizer
        self.prefixes = prefixes
    }

    /// The options of the table in SQLite.
    var options: String {
        let lengths = Set(prefixes.filter { (1...31).contains($0) }).sorted().map(String.init)
        let prefix = lengths.isEmpty ? "" : ", prefix = '\(lengths.joined(separator: " "))'"
        return "tokenize = '\(tokenizer.name)'" + prefix
    }
}

extension FullTextIndex.Tokenizer {
    fileprivate var name: String {
        switch self {
        case .unicode: "unicode61 remove_diacritics 2"
        case .unicodeWithAccents: "unicode61 remove_diacritics 0"
        case .porter: "porter unicode61 remove_diacritics 2"
        case .trigram: "trigram"
        }
    }
}
