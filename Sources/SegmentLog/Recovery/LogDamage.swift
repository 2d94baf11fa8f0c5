// Damage as a report: readers return what is intact, and a list of damage; only a writer refuses to continue.

/// Something in the log that differs from what was written.
public struct LogDamage: Hashable, Sendable, CustomStringConvertible {
    /// What can be done about it.
    public enum Remedy: Sendable {
        /// A torn write at the end: the next writer truncates it and keeps a copy. It was never acknowledged, if HEAD can be
        /// read.
        case cutTail
        /// Derived data (HEAD, an index, a checkpoint, a leftover): it is rebuilt or set aside without any loss.
        case rebuild
        /// Acknowledged records are damaged or missing: heal them from elsewhere, or salvage what is intact.
        case salvage
        /// A file beside the log with changes that were never in it: they are lost, and what follows can be used again
        /// when the file is set aside.
        case setAside
        /// It was written by a newer version of this library, which can read it.
        case upgrade
    }

    /// The file.
    public var file: String
    /// The position in the log; nil if the file has no such positions.
    public var position: LogPosition?
    /// The number of damaged bytes, as far as known.
    public var length: ByteCount
    /// The lost records, as far as known.
    public var records: SequenceRange?
    /// What is wrong, as part of a sentence.
    public var reason: String
    /// What can be done.
    public var remedy: Remedy

    /// Creates a description of damage.
    public init(
        file: String, position: LogPosition? = nil, length: ByteCount = .bytes(0), records: SequenceRange? = nil,
        reason: String, remedy: Remedy
    ) {
        self.file = file
        self.position = position
        self.length = length
        self.records = records
        self.reason = reason
        self.remedy = remedy
    }

    /// Whether `repair` can repair it without losing an acknowledged record.
    public var isRepairable: Bool { remedy == .cutTail || remedy == .rebuild }

    public var description: String {
        var text = file
        if let position { text += " at \(position)" }
        text += ": \(reason)"
        if let records { text += " (records \(records))" }
        return text
    }

    /// The error of a writer that refuses to open the log because of it.
    package var error: LogError {
        LogError(
            remedy == .upgrade ? .storeNewer : .storeCorrupt, reason, file: file, position: position, records: records,
            hint: remedy == .upgrade
                ? "Open it with the version that wrote it, or a newer one."
                : LogError.damageHint
        )
    }
}
