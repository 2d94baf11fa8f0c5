// What can be done to a row.

/// What a change does to a row, or an operation sends.
public enum OperationKind: UInt8, Hashable, Sendable, CaseIterable {
    /// One of the three.
    case insert, update, delete
}
