// The one error type of the library: a stable code, a message, and a hint.

/// An error: a code for programs, a message for people, and a hint about what to do next.
public struct SyncError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error, for programs. Codes may be added, but are never renamed.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The stable string.
        public var rawValue: String

        /// Creates a code from its string.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }
    }

    /// The kind of error, for programs.
    public var code: Code
    /// The message for people.
    public var message: String
    /// What to do next.
    public var hint: String?
    /// The address concerned, such as a row or an event.
    public var address: String?
    /// The underlying error, if another error caused this one. Ignored when errors are compared.
    public var cause: (any Error)?

    /// Creates an error.
    public init(
        _ code: Code, _ message: String, hint: String? = nil, address: String? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.address = address
        self.cause = cause
    }

    public static func == (left: SyncError, right: SyncError) -> Bool {
        (left.code, left.message, left.hint, left.address) == (right.code, right.message, right.hint, right.address)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(hint)
        hasher.combine(address)
    }

    public var description: String {
        "\(code): \(message)" + (address.map { " (\($0))" } ?? "") + (hint.map { ". \($0)" } ?? "")
    }
}

extension SyncError.Code {
    /// An insert names a row that already exists.
    public static let rowExists = Self(rawValue: "row-exists")
    /// A change names a row whose delete is pending.
    public static let rowDeleted = Self(rawValue: "row-deleted")
    /// There is no row to change.
    public static let rowAbsent = Self(rawValue: "row-absent")
    /// The row changed after the model was read.
    public static let staleItem = Self(rawValue: "stale-item")
    /// A string is not a valid id.
    public static let invalidID = Self(rawValue: "invalid-id")
    /// An item to be changed has no id.
    public static let missingID = Self(rawValue: "missing-id")
    /// An item is not an object, or has a value that a row can't store.
    public static let invalidItem = Self(rawValue: "invalid-item")
    /// A column's name begins with `__`.
    public static let reservedColumn = Self(rawValue: "reserved-column")
    /// The store is strict and does not have the table.
    public static let unknownTable = Self(rawValue: "unknown-table")
    /// A filter or a window is not valid.
    public static let invalidQuery = Self(rawValue: "invalid-query")
    /// A query id was used with a different query before.
    public static let queryChanged = Self(rawValue: "query-changed")
    /// A filter can't be expressed with the model or in the server's protocol.
    public static let unsupportedPredicate = Self(rawValue: "unsupported-predicate")
    /// Some rows have changes that were not pushed.
    public static let pendingChanges = Self(rawValue: "pending-changes")
    /// The push finished, but some operations remain.
    public static let pushIncomplete = Self(rawValue: "push-incomplete")
    /// The server could not be reached.
    public static let offline = Self(rawValue: "offline")
    /// The server requires another token.
    public static let unauthorized = Self(rawValue: "unauthorized")
    /// The store has rows or changes of another user than the token's, or the token names none.
    public static let otherUser = Self(rawValue: "other-user")
    /// The push or pull was cancelled.
    public static let cancelled = Self(rawValue: "cancelled")
    /// The server is failing or busy, or does not speak the protocol.
    public static let serverError = Self(rawValue: "server-error")
    /// There is no such operation, or nothing to undo.
    public static let operationNotFound = Self(rawValue: "operation-not-found")
    /// The server's row is not the one that the change was based on.
    public static let conflict = Self(rawValue: "conflict")
    /// The server no longer has the row.
    public static let rowGone = Self(rawValue: "row-gone")
    /// The user lost the right to the row.
    public static let rightLost = Self(rawValue: "right-lost")
    /// The row of an operation is held.
    public static let held = Self(rawValue: "held")
    /// The server refused an operation.
    public static let rejected = Self(rawValue: "rejected")
    /// Both sides changed the same column, or one side deleted the row.
    public static let mergeConflict = Self(rawValue: "merge-conflict")
    /// Rows that a branch changed have changed in its store since it began.
    public static let branchConflict = Self(rawValue: "branch-conflict")
    /// There is no store in the directory.
    public static let noStore = Self(rawValue: "no-store")
    /// There is already a store in the directory.
    public static let storeExists = Self(rawValue: "store-exists")
    /// Another process has the store open.
    public static let storeLocked = Self(rawValue: "store-locked")
    /// The store's directory was moved, removed or replaced while the store was open.
    public static let storeReplaced = Self(rawValue: "store-replaced")
    /// The store was closed, or belongs to the process that this one was forked from.
    public static let closed = Self(rawValue: "closed")
    /// The store was suspended and not resumed yet.
    public static let suspended = Self(rawValue: "suspended")
    /// The store was opened with `follow`, and only the process that has it open for writing can do this.
    public static let follower = Self(rawValue: "follower")
    /// Acknowledged data in the log is damaged.
    public static let storeCorrupt = Self(rawValue: "store-corrupt")
    /// A newer version, or a newer schema, wrote the store.
    public static let storeNewer = Self(rawValue: "store-newer")
    /// A moment or an event is before the history that the store keeps.
    public static let collected = Self(rawValue: "collected")
    /// The disk is full.
    public static let diskFull = Self(rawValue: "disk-full")
    /// The disk failed.
    public static let ioError = Self(rawValue: "io-error")
    /// A setting is not valid.
    public static let invalidConfiguration = Self(rawValue: "invalid-configuration")
    /// A bug in Syncline.
    public static let internalError = Self(rawValue: "internal")
}

extension SyncError {
    /// Bytes of the state or of an event are not valid.
    package static func malformed(_ what: String) -> SyncError {
        SyncError(.storeCorrupt, what + unreadable, hint: Hint.damage)
    }

    private static let unreadable = " can't be read"

    /// The bytes that are not valid, in words; nil for another error.
    package var malformedPart: String? {
        guard code == .storeCorrupt, message.hasSuffix(SyncError.unreadable) else { return nil }
        return String(message.dropLast(SyncError.unreadable.count))
    }

    /// An event was written by a newer version.
    package static func newer(_ what: String) -> SyncError {
        SyncError(
            .storeNewer, "\(what) was written by a newer version", hint: "Open the store with that version.")
    }

    /// The entries in the runs are not the ones that were folded.
    package static var untrue: SyncError {
        SyncError(
            .storeCorrupt, "a checkpoint does not match the events of the log; no history was removed",
            hint: Hint.untrueCheckpoint)
    }
}
