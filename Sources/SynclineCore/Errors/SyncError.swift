// The one error an app meets: a stable code, a sentence, and what to do next.

/// An error an app meets: what went wrong, in words for programs and for people, and what to do next.
public struct SyncError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong, for programs. Codes may be added, never renamed.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The stable text.
        public var rawValue: String

        /// A code by its text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }
    }

    /// What went wrong, for programs.
    public var code: Code
    /// A sentence for people.
    public var message: String
    /// What to do next.
    public var hint: String?
    /// Where, in the notation of addresses.
    public var address: String?
    /// The error of the app's own code that led to this one, if one did. It does not count when errors are compared.
    public var cause: (any Error)?

    /// Makes an error.
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
    /// An insert names a row that is there.
    public static let rowExists = Self(rawValue: "row-exists")
    /// A change names a row whose delete is pending.
    public static let rowDeleted = Self(rawValue: "row-deleted")
    /// A model was read before its row changed.
    public static let staleItem = Self(rawValue: "stale-item")
    /// A text is no id.
    public static let invalidID = Self(rawValue: "invalid-id")
    /// An item that is changed has no id.
    public static let missingID = Self(rawValue: "missing-id")
    /// An item is no object, or holds what no row can.
    public static let invalidItem = Self(rawValue: "invalid-item")
    /// A column's name begins with `__`.
    public static let reservedColumn = Self(rawValue: "reserved-column")
    /// A strict store has no such table.
    public static let unknownTable = Self(rawValue: "unknown-table")
    /// A filter or a window makes no sense.
    public static let invalidQuery = Self(rawValue: "invalid-query")
    /// A query id was used for another query.
    public static let queryChanged = Self(rawValue: "query-changed")
    /// The model or the server's protocol has no words for a filter.
    public static let unsupportedPredicate = Self(rawValue: "unsupported-predicate")
    /// Rows have changes that were not pushed.
    public static let pendingChanges = Self(rawValue: "pending-changes")
    /// A push went through, and something is left.
    public static let pushIncomplete = Self(rawValue: "push-incomplete")
    /// The server could not be reached.
    public static let offline = Self(rawValue: "offline")
    /// The server wants another token.
    public static let unauthorized = Self(rawValue: "unauthorized")
    /// The app cancelled it.
    public static let cancelled = Self(rawValue: "cancelled")
    /// The server is broken or busy, or does not speak the protocol.
    public static let serverError = Self(rawValue: "server-error")
    /// There is no such operation, or nothing to undo.
    public static let operationNotFound = Self(rawValue: "operation-not-found")
    /// The server's row is not the one the change was made on.
    public static let conflict = Self(rawValue: "conflict")
    /// The server no longer has the row.
    public static let rowGone = Self(rawValue: "row-gone")
    /// The server refused an operation.
    public static let rejected = Self(rawValue: "rejected")
    /// Both sides changed one column, or one deleted the row.
    public static let mergeConflict = Self(rawValue: "merge-conflict")
    /// There is no store in the directory.
    public static let noStore = Self(rawValue: "no-store")
    /// There is a store in the directory already.
    public static let storeExists = Self(rawValue: "store-exists")
    /// Another process has the store open.
    public static let storeLocked = Self(rawValue: "store-locked")
    /// The store's directory was moved, removed or replaced while the store was open.
    public static let storeReplaced = Self(rawValue: "store-replaced")
    /// The store was closed, or belongs to the process that this one was forked from.
    public static let closed = Self(rawValue: "closed")
    /// The log is damaged where it was whole.
    public static let storeCorrupt = Self(rawValue: "store-corrupt")
    /// A newer version, or a newer schema, wrote the store.
    public static let storeNewer = Self(rawValue: "store-newer")
    /// There is no room on the disk.
    public static let diskFull = Self(rawValue: "disk-full")
    /// The disk failed.
    public static let ioError = Self(rawValue: "io-error")
    /// A setting can't be meant.
    public static let invalidConfiguration = Self(rawValue: "invalid-configuration")
    /// A command line is wrong, or the log was given what it can't take.
    public static let usage = Self(rawValue: "usage")
    /// A mistake of Syncline's own.
    public static let internalError = Self(rawValue: "internal")
}

extension SyncError {
    /// The state could not be read or an event not folded.
    package init(_ error: StateError) {
        switch error {
        case .failed(let error):
            self = error
        case .malformed(let what):
            self.init(
                .storeCorrupt, "\(what) can't be read",
                hint: "Nothing was changed. `syncline verify` says what is damaged.")
        case .untrue:
            self.init(
                .storeCorrupt,
                "a checkpoint holds other entries than the events made; nothing of the history was removed",
                hint:
                    "Close the store and run `syncline repair`: it sets the checkpoint aside, and the state is made again "
                    + "from the log.")
        case .newer(let what):
            self.init(
                .storeNewer, "\(what) was written by a newer version", hint: "Open the store with that version.")
        }
    }
}
