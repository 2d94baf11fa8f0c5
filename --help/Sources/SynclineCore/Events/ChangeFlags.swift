// The bytes of flags in the changes of events, by the names of their bits.

/// What a change of an event has. The two lowest bits are its kind.
struct ChangeFlags: OptionSet {
    let rawValue: UInt8
    static let version = ChangeFlags(rawValue: 4)
    static let replaces = ChangeFlags(rawValue: 8)
    static let cancels = ChangeFlags(rawValue: 0x10)
    /// The row that another process saw follows.
    static let seen = ChangeFlags(rawValue: 0x20)
    static let contested = ChangeFlags(rawValue: 0x40)

    static func kind(_ kind: OperationKind) -> ChangeFlags { ChangeFlags(rawValue: kind.rawValue) }

    /// Nil if the bits name none, or if one is set that means nothing.
    var kind: OperationKind? { rawValue < 0x80 ? OperationKind(rawValue: rawValue & 3) : nil }
}

/// What a change has that an event carries. The two lowest bits are its kind.
struct CarriedFlags: OptionSet {
    let rawValue: UInt8
    static let revives = CarriedFlags(rawValue: 4)
    static let replaces = CarriedFlags(rawValue: 8)
    static let cancels = CarriedFlags(rawValue: 0x10)
    /// Made in a transaction.
    static let grouped = CarriedFlags(rawValue: 0x20)
    /// Made by a resolution.
    static let resolution = CarriedFlags(rawValue: 0x40)

    static func kind(_ kind: OperationKind) -> CarriedFlags { CarriedFlags(rawValue: kind.rawValue) }

    /// Nil if the bits name none, or if one is set that means nothing.
    var kind: OperationKind? { rawValue < 0x80 ? OperationKind(rawValue: rawValue & 3) : nil }
}
