// The log's only error type: a stable code, a message, the location, and a hint.

/// Why the log could not do what was requested.
public struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable kebab-case name of the kind of failure. New codes may be added.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The stable string.
        public var rawValue: String
        /// Creates a code from its string.
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// There is no log in the directory.
        public static let noStore = Code(rawValue: "no-store")
        /// There is already a log in the directory.
        public static let storeExists = Code(rawValue: "store-exists")
        /// Another writer has it open.
        public static let storeLocked = Code(rawValue: "store-locked")
        /// The directory or its lock was moved, removed or replaced: another store is at the path, or none.
        public static let storeReplaced = Code(rawValue: "store-replaced")
        /// Acknowledged data is damaged or missing.
        public static let storeCorrupt = Code(rawValue: "store-corrupt")
        /// The log was written by a newer version of the format.
        public static let storeNewer = Code(rawValue: "store-newer")
        /// The disk is full; no part of the batch was stored.
        public static let diskFull = Code(rawValue: "disk-full")
        /// The system rejected a read or another call.
        public static let ioError = Code(rawValue: "io-error")
        /// A write or sync failed and could not be recovered from. The writer accepts nothing more until the log is
        /// opened again.
        public static let storageFailed = Code(rawValue: "storage-failed")
        /// The writer was closed, or belongs to another process.
        public static let closed = Code(rawValue: "closed")
        /// The requested records were removed: the log begins later.
        public static let collected = Code(rawValue: "collected")
        /// A record that a reader was shown before its sync was taken back.
        public static let takenBack = Code(rawValue: "taken-back")
        /// A record or batch is larger than the format allows, or a setting is out of range.
        public static let invalidArgument = Code(rawValue: "invalid-argument")
        /// A setting of the log is outside its bounds.
        public static let invalidConfiguration = Code(rawValue: "invalid-configuration")
    }

    /// The kind of failure, for programs.
    public var code: Code
    /// What happened, in a sentence.
    public var message: String
    /// The file, relative to the log's directory, if one is concerned.
    public var file: String?
    /// The position concerned, if any.
    public var position: LogPosition?
    /// The records concerned, if any.
    public var records: SequenceRange?
    /// What to do next.
    public var hint: String?
    /// The underlying system error number, if any.
    public var systemError: Int32?

    /// Creates an error.
    public init(
        _ code: Code, _ message: String, file: String? = nil, position: LogPosition? = nil,
        records: SequenceRange? = nil, hint: String? = nil, systemError: Int32? = nil
    ) {
        self.code = code
        self.message = message
        self.file = file
        self.position = position
        self.records = records
        self.hint = hint
        self.systemError = systemError
    }

    public var description: String {
        var text = "\(code): \(message)"
        if let file { text += " (\(file))" }
        if let position { text += " at \(position)" }
        if let records { text += ", records \(records)" }
        if let hint { text += ". \(hint)" }
        return text
    }
}

extension LogError {
    /// Returns the error for files at the path that are not the ones that were opened.
    static func replaced(_ storage: any LogStorage) -> LogError {
        LogError(
            .storeReplaced, "\(storage.location) or its LOCK was moved, removed or replaced while it was open",
            hint: "Nothing was written to what is there now. Close this writer, then open the store again.")
    }

    /// Hints that the tool replaces by its commands.
    package static let absenceHint = "Create a log, or check the path."
    package static let damageHint =
        "Nothing was changed. `LogVerification` lists the damage; `LogSalvage` makes a new log of all that can be read."

    /// Whether the file does not exist.
    package var isNotFound: Bool { systemError.map(StorageError.Kind.init(number:)) == .notFound }

    /// Whether a full disk is the cause.
    package var isDiskFull: Bool { code == .diskFull || systemError.map(StorageError.Kind.init(number:)) == .diskFull }

    /// Whether the system rejected a call. The file itself may be intact.
    package var isRefusal: Bool { systemError != nil }

    /// Converts a storage error.
    package init(_ error: StorageError) {
        let hint: String? =
            switch error.kind {
            case .notFound: nil
            case .permission: "Check the owner and mode of the log's directory and files."
            case .diskFull: "Free some space, then try again; what was acknowledged is safe."
            case .readOnly: "The file system is mounted read-only; remount it or copy the log elsewhere."
            case .notADirectory, .exists: nil
            case .inputOutput, .other: "The device or file system reported a failure; check it before you continue."
            }
        let code: Code = error.kind == .diskFull ? .diskFull : .ioError
        self.init(
            code, error.sentence, file: error.name, hint: hint, systemError: error.number)
        guard let offset = error.offset else { return }
        if let (ordinal, _) = FileName.parseSegment(error.name) {
            position = LogPosition(segment: ordinal, offset: offset)
        } else {
            message += " at byte \(offset)"
        }
    }
}

/// Makes calls to a storage and turns their errors into the log's.
package func callStorage<Value>(_ body: () throws(StorageError) -> Value) throws(LogError) -> Value {
    do throws(StorageError) { return try body() } catch { throw LogError(error) }
}
