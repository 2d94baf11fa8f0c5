// The flag bytes with which the entries of rows begin.

extension OptionSet where Element == Self {
    /// Sets a flag if a condition holds.
    @inline(__always)
    mutating func set(_ flag: Self, if condition: Bool) {
        if condition { insert(flag) }
    }
}

/// The parts of a row's entry.
struct RowFlags: OptionSet {
    let rawValue: UInt8
    static let base = RowFlags(rawValue: 1)
    static let pending = RowFlags(rawValue: 2)
    /// The id has a spelling of its own.
    static let spelling = RowFlags(rawValue: 4)
    /// States of the server's row that own writes have replaced.
    static let overtaken = RowFlags(rawValue: 8)
    /// Columns that never leave the device.
    static let local = RowFlags(rawValue: 0x10)
    /// The server's tombstone comes from an own delete.
    static let ownTombstone = RowFlags(rawValue: 0x20)
    /// The base came with the answer to an own write.
    static let answered = RowFlags(rawValue: 0x40)
    /// The user lost the right to the row, and a change of it waits.
    static let rightLost = RowFlags(rawValue: 0x80)
}

/// The parts of a row's pending changes. The two highest bits are the kind of the operation.
struct PendingFlags: OptionSet {
    let rawValue: UInt8
    static let present = PendingFlags(rawValue: 1)
    static let hidesBase = PendingFlags(rawValue: 2)
    static let several = PendingFlags(rawValue: 4)
    static let frozen = PendingFlags(rawValue: 8)
    static let operation = PendingFlags(rawValue: 0x10)
    /// The operation begins with the first change.
    static let isFromFirst = PendingFlags(rawValue: 0x20)

    static func kind(_ kind: OperationKind) -> PendingFlags { PendingFlags(rawValue: kind.rawValue << 6) }

    /// The kind of the operation; nil if the bits name none.
    var kind: OperationKind? { OperationKind(rawValue: rawValue >> 6) }
}
