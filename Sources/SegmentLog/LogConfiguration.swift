// What a writer can be told.

/// How far a commit reaches before it returns.
public enum Durability: Sendable {
    /// Survives power loss.
    case durable
    /// Survives the process; becomes durable soon, in order. On Apple platforms a barrier is issued at once, elsewhere
    /// a sync follows within 50 ms.
    case ordered
    /// Survives the process. Becomes durable with the next sync, at the latest when a mebibyte waits.
    case buffered
}

/// Whether opening may make a new log.
public enum LogCreation: Sendable {
    /// There must be one.
    case never
    /// Made if the directory is missing or empty.
    case ifMissing
    /// Made; one that is there already is an error. What a creation left that did not get to its end, with nothing
    /// appended since, is made again.
    case always
}

/// Settings of a writer.
public struct LogConfiguration: Sendable {
    /// The length at which a segment is sealed and the next begun.
    public var segmentSize = ByteCount.mebibytes(8)
    /// How far the file is filled with zeros ahead of small commits, so that a sync need not change its length.
    public var zeroAhead = ByteCount.kibibytes(256)
    /// LZ4's speed setting, 1 to 64: 1 compresses best, larger is faster.
    public var acceleration = 2
    /// Whether a new segment takes the newest records of the one before as a dictionary for its small frames.
    public var usesDictionary = true
    /// Whether the writer syncs and updates HEAD by itself when it has been idle.
    public var syncsWhenIdle = true
    /// How many cut-off tails are kept in quarantine.
    public var quarantineLimit = 64

    /// Off, payloads are stored as they are, so that tests meet what compression hides.
    package var compresses = true

    /// The settings that suit most logs.
    public init() {}

    package func validate() throws(LogError) {
        guard segmentSize >= .kibibytes(4), segmentSize <= .mebibytes(1024) else {
            throw LogError(.invalidArgument, "a segment size of \(segmentSize) is outside 4 KiB … 1 GiB")
        }
        guard zeroAhead <= .mebibytes(16) else {
            throw LogError(.invalidArgument, "zeroing \(zeroAhead) ahead is more than 16 MiB")
        }
        guard (1...64).contains(acceleration) else {
            throw LogError(.invalidArgument, "an acceleration of \(acceleration) is outside 1 … 64")
        }
        guard quarantineLimit >= 1 else {
            throw LogError(.invalidArgument, "quarantine must keep at least one tail")
        }
    }
}
