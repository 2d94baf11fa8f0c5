// The one error an app meets: a stable code, a sentence, and what to do next.

public struct SyncError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong, for programs. Codes may be added, never renamed.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }
    }

    public var code: Code
    /// A sentence for people.
    public var message: String
    /// What to do next.
    public var hint: String?
    /// Where, in the notation of addresses.
    public var address: String?

    public init(_ code: Code, _ message: String, hint: String? = nil, address: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.address = address
    }

    public var description: String {
        "\(code): \(message)" + (address.map { " (\($0))" } ?? "") + (hint.map { ". \($0)" } ?? "")
    }
}

extension SyncError.Code {
    public static let rowExists = Self(rawValue: "row-exists")
    public static let rowDeleted = Self(rawValue: "row-deleted")
    public static let invalidID = Self(rawValue: "invalid-id")
    public static let missingID = Self(rawValue: "missing-id")
    public static let invalidItem = Self(rawValue: "invalid-item")
    public static let reservedColumn = Self(rawValue: "reserved-column")
    public static let unknownTable = Self(rawValue: "unknown-table")
    public static let invalidQuery = Self(rawValue: "invalid-query")
    public static let queryChanged = Self(rawValue: "query-changed")
    public static let unsupportedPredicate = Self(rawValue: "unsupported-predicate")
    public static let pendingChanges = Self(rawValue: "pending-changes")
    public static let pushIncomplete = Self(rawValue: "push-incomplete")
    public static let offline = Self(rawValue: "offline")
    public static let unauthorized = Self(rawValue: "unauthorized")
    public static let cancelled = Self(rawValue: "cancelled")
    public static let serverError = Self(rawValue: "server-error")
    public static let operationNotFound = Self(rawValue: "operation-not-found")
    public static let conflict = Self(rawValue: "conflict")
    public static let rowGone = Self(rawValue: "row-gone")
    public static let rejected = Self(rawValue: "rejected")
    public static let mergeConflict = Self(rawValue: "merge-conflict")
    public static let noStore = Self(rawValue: "no-store")
    public static let storeExists = Self(rawValue: "store-exists")
    public static let storeLocked = Self(rawValue: "store-locked")
    public static let storeCorrupt = Self(rawValue: "store-corrupt")
    public static let storeNewer = Self(rawValue: "store-newer")
    public static let diskFull = Self(rawValue: "disk-full")
    public static let ioError = Self(rawValue: "io-error")
    public static let invalidConfiguration = Self(rawValue: "invalid-configuration")
    public static let usage = Self(rawValue: "usage")
    public static let internalError = Self(rawValue: "internal")
}

extension SyncError {
    /// The state could not be read or an event not folded.
    package init(_ error: StateError) {
        switch error {
        case .unreadable(let reason):
            self.init(.ioError, reason, hint: "Check the device, then open the store again.")
        case .malformed(let what):
            self.init(
                .storeCorrupt, "\(what) can't be read",
                hint: "Nothing was changed. `syncline verify` says what is damaged.")
        case .newer(let what):
            self.init(
                .storeNewer, "\(what) was written by a newer version", hint: "Open the store with that version.")
        }
    }
}
