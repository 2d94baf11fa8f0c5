// Damage is a report: readers return what is whole and a list of these; only a writer refuses to go on.

/// Something in the log that is not as it was written.
public struct LogDamage: Hashable, Sendable, CustomStringConvertible {
    /// What can be done about it.
    public enum Remedy: Sendable {
        /// A torn write that was never acknowledged: the next writer cuts it off, keeping a copy.
        case cutTail
        /// Derived data (HEAD, an index, a checkpoint, a leftover): it is rebuilt or set aside, nothing is lost.
        case rebuild
        /// Acknowledged records are damaged or missing: heal them from elsewhere, or salvage what is whole.
        case salvage
        /// Nothing is wrong with it but its age: a newer version of this library reads it.
        case upgrade
    }

    /// The file.
    public var file: String
    /// Where in the log; nil where the file has no such place.
    public var position: LogPosition?
    /// How many bytes are concerned, as far as that is known.
    public var length: ByteCount
    /// The records that are lost to it, as far as that is known.
    public var records: SequenceRange?
    /// What is wrong, as part of a sentence.
    public var reason: String
    /// What can be done.
    public var remedy: Remedy

    /// Describes damage.
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

    /// Whether `repair` can mend it without losing an acknowledged record.
    public var isRepairable: Bool { remedy == .cutTail || remedy == .rebuild }

    public var description: String {
        var text = file
        if let position { text += " at \(position)" }
        text += ": \(reason)"
        if let records { text += " (records \(records))" }
        return text
    }

    /// The error of a writer that will not go on because of it.
    package var error: LogError {
        LogError(
            remedy == .upgrade ? .storeNewer : .storeCorrupt, reason, file: file, position: position, records: records,
            hint: remedy == .upgrade
                ? "Open it with the version that wrote it, or a newer one."
                : "Nothing was changed. `syncline verify` lists the damage; salvage copies every whole record into a new log."
        )
    }
}
