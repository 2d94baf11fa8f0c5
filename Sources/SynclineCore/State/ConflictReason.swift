// The reason why an operation awaits a decision.

/// Why an operation conflicted or was rejected.
public enum ConflictReason: String, Hashable, Sendable {
    /// The server's row is another: another client changed it, or inserted one with the same id.
    case changed = "conflict"
    /// The server no longer has the row.
    case gone = "row-gone"
    /// The user lost the right to the row, which others still have.
    case rightLost = "right-lost"
    /// The server refused the operation.
    case rejected

    /// Reads what the log or the state recorded.
    init(recorded code: String?) { self = code.flatMap(ConflictReason.init(rawValue:)) ?? .changed }
}
