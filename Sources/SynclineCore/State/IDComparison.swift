// Which ids name the same row.

/// How ids that differ only in the case of ASCII letters are compared.
public enum IDComparison: UInt8, Sendable {
    /// They are different rows.
    case exact
    /// They are the same row.
    case ignoreCase
}
