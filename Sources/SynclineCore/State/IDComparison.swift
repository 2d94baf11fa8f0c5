// The comparison of ids: exact, or without regard to case.

import SynclineGround

/// How ids that differ only in the case of ASCII letters are compared.
public enum IDComparison: UInt8, Sendable {
    /// They are different rows.
    case exact
    /// They are the same row.
    case ignoreCase

    package func areEqual(_ left: String, _ right: String) -> Bool {
        switch self {
        case .exact: left.hasSameBytes(as: right)
        case .ignoreCase:
            left.utf8.lazy.map(IDComparison.lowered).elementsEqual(right.utf8.lazy.map(IDComparison.lowered))
        }
    }

    /// An id as it counts if case is ignored.
    package static func folded(_ id: String) -> String { String(decoding: id.utf8.map(lowered), as: UTF8.self) }

    /// A byte of an id as it counts if case is ignored.
    static func lowered(_ byte: UInt8) -> UInt8 { byte.inLowerCase }
}
