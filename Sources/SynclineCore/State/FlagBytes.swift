// The flag bytes in entries of the state, with names for their bits.

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

/// Facts about a frozen operation, in a row's entry and in an event that carries it.
struct FrozenFlags: OptionSet {
    let rawValue: UInt8
    /// The server may have seen it.
    static let maybeSent = FrozenFlags(rawValue: 1)
    /// It continues as an undelete.
    static let revival = FrozenFlags(rawValue: 2)
    /// It was decided to restore the row if the server has deleted it.
    static let decided = FrozenFlags(rawValue: 4)
    static let mayHaveBeenDone = FrozenFlags(rawValue: 8)
    /// A count of failures follows. In an event it always follows, and the flag is not set.
    static let failures = FrozenFlags(rawValue: 0x10)
    static let serverWorks = FrozenFlags(rawValue: 0x20)
    /// The app's side of a conflict with another process follows.
    static let rival = FrozenFlags(rawValue: 0x40)

    /// The flags that an event may have.
    static let ofEvents: FrozenFlags = [.maybeSent, .revival, .decided, .mayHaveBeenDone, .serverWorks, .rival]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ frozen: FrozenOperation) {
        self = []
        set(.maybeSent, if: frozen.maybeSent)
        set(.revival, if: frozen.revival != nil)
        set(.decided, if: frozen.isDecided)
        set(.mayHaveBeenDone, if: frozen.mayHaveBeenDone)
        set(.failures, if: frozen.failures != 0)
        set(.serverWorks, if: frozen.serverWorks)
        set(.rival, if: frozen.rival != nil)
    }
}

/// The parts of an entry of the journal. The three lowest bits are its form.
struct JournalFlags: OptionSet {
    /// The kind of a change, and its special cases.
    enum Form: UInt8 {
        case insert, replacingInsert, update, delete, cancellingDelete, revivingInsert
    }

    let rawValue: UInt8
    /// Part of a transaction.
    static let grouped = JournalFlags(rawValue: 8)
    static let content = JournalFlags(rawValue: 0x10)
    /// The row has an earlier change.
    static let previous = JournalFlags(rawValue: 0x20)
    /// Made by a resolution.
    static let resolution = JournalFlags(rawValue: 0x40)
    static let frozen = JournalFlags(rawValue: 0x80)

    static func form(_ form: Form) -> JournalFlags { JournalFlags(rawValue: form.rawValue) }

    /// Nil for unknown bits.
    var form: Form? { Form(rawValue: rawValue & 7) }
}
