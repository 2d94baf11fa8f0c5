// The kinds of operations on a row.

/// What a change does to a row, or an operation sends.
public enum OperationKind: UInt8, Hashable, Sendable, CaseIterable {
    /// One of the three.
    case insert, update, delete
}
