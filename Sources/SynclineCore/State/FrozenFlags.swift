// The flag byte of a frozen operation.

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
