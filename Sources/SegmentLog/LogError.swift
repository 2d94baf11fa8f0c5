// The one error the log throws: a stable code, a sentence, the place, and what to do next.

/// Why the log could not do what was asked.
public struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable kebab-case name of the kind of failure. New codes may be added.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The stable text.
        public var rawValue: String
        /// A code by its text.
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// There is no log in the directory.
        public static let noStore = Code(rawValue: "no-store")
        /// There is one already.
        public static let storeExists = Code(rawValue: "store-exists")
        /// Another writer has it open.
        public static let storeLocked = Code(rawValue: "store-locked")
        /// The directory or its lock was moved, removed or replaced: what is at the path is another store, or none.
        public static let storeReplaced = Code(rawValue: "store-replaced")
        /// Acknowledged data is damaged or missing.
        public static let storeCorrupt = Code(rawValue: "store-corrupt")
        /// It was written by a newer version of the format.
        public static let storeNewer = Code(rawValue: "store-newer")
        /// The disk is full; nothing of the batch was kept.
        public static let diskFull = Code(rawValue: "disk-full")
        /// The system refused a read or another call.
        public static let ioError = Code(rawValue: "io-error")
        /// A write or sync failed and could not be made good; the writer takes nothing more until reopened.
        public static let storageFailed = Code(rawValue: "storage-failed")
        /// The writer was closed, or belongs to another process.
        public static let closed = Code(rawValue: "closed")
        /// The records asked for were collected: the log begins later.
        public static let collected = Code(rawValue: "collected")
        /// What a reader was shown before it was synced was refused and taken back.
        public static let takenBack = Code(rawValue: "taken-back")
        /// A record or batch is larger than the format allows, or a setting is out of its range.
        public static let invalidArgument = Code(rawValue: "invalid-argument")
    }

    /// What went wrong, for programs.
    public var code: Code
    /// What happened, in a sentence.
    public var message: String
    /// The file within the log's directory, where one is concerned.
    public var file: String?
    /// The byte concerned.
    public var position: LogPosition?
    /// The records concerned.
    public var records: SequenceRange?
    /// What to do next.
    public var hint: String?
    /// The system's error number behind it, if any.
    public var systemError: Int32?

    /// Makes an error.
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
    /// The files at the path are not those that were opened.
    static func replaced(_ storage: any LogStorage) -> LogError {
        LogError(
            .storeReplaced, "\(storage.location) or its LOCK was moved, removed or replaced while it was open",
            hint: "Nothing was written to what is there now. Close this writer, then open the store again.")
    }

    /// Whether there is no such file.
    package var isNotFound: Bool { systemError == StorageError.notFoundNumber }

    /// Whether a full disk is the cause.
    package var isDiskFull: Bool {
        code == .diskFull || systemError.map { StorageError.Kind(number: $0) == .diskFull } ?? false
    }

    /// Whether the system refused a call: the file may be whole.
    package var isRefusal: Bool { systemError != nil }

    /// The log's words for a refusal by the system.
    package init(_ error: StorageError) {
        let hint: String? =
            switch error.kind {
            case .notFound: nil
            case .permission: "Check the owner and mode of the log's directory and files."
            case .diskFull: "Free some space, then try again; what was acknowledged is safe."
            case .readOnly: "The file system is mounted read-only; remount it or copy the log elsewhere."
            case .notADirectory, .exists: nil
            case .inputOutput, .other: "The device or file system reported a failure; check it before going on."
            }
        let code: Code = error.kind == .diskFull ? .diskFull : .ioError
        self.init(
            code, "\(error.operation) failed: \(error.reason)", file: error.name, hint: hint,
            systemError: error.number)
        guard let offset = error.offset else { return }
        if let (ordinal, _) = FileName.parseSegment(error.name) {
            position = LogPosition(segment: ordinal, offset: offset)
        } else {
            message += " at byte \(offset)"
        }
    }
}
