// The settings of a writer.

/// How durable a commit is when it returns.
public enum Durability: Sendable {
    /// Survives a power failure.
    case durable
    /// Survives the end of the process, and becomes durable soon, in order. On Apple platforms a barrier is issued
    /// at once; elsewhere a sync follows within 50 ms.
    case ordered
    /// Survives the end of the process. Becomes durable with the next sync, at the latest when a mebibyte is
    /// waiting.
    case buffered
}

/// Whether opening may create a new log.
public enum LogCreation: Sendable {
    /// The log must exist.
    case never
    /// Creates a log if the directory is missing or empty.
    case ifMissing
    /// Creates a log; an existing one is an error. A log whose creation was interrupted before anything was appended
    /// is created again.
    case always
}

/// Settings of a writer.
public struct LogConfiguration: Sendable {
    /// The size at which a segment is sealed and the next one begins.
    public var segmentSize: ByteCount
    /// How far the file is filled with zeros ahead of small commits, so that a sync does not change its length.
    public var zeroAhead: ByteCount
    /// LZ4's acceleration, 1 to 64: 1 compresses best, higher is faster.
    public var acceleration: Int
    /// Whether the writer syncs and updates HEAD by itself when it has been idle.
    public var syncsWhenIdle: Bool
    /// The maximum number of truncated tails kept in quarantine.
    public var quarantineLimit: Int

    /// If false, payloads are stored uncompressed, so that tests cover cases that compression hides.
    package var compresses = true

    /// Creates settings. The defaults suit most logs.
    public init(
        segmentSize: ByteCount = .mebibytes(8), zeroAhead: ByteCount = .kibibytes(256), acceleration: Int = 2,
        syncsWhenIdle: Bool = true, quarantineLimit: Int = 64
    ) {
        self.segmentSize = segmentSize
        self.zeroAhead = zeroAhead
        self.acceleration = acceleration
        self.syncsWhenIdle = syncsWhenIdle
        self.quarantineLimit = quarantineLimit
    }

    package func validate() throws(LogError) {
        guard segmentSize >= .kibibytes(4), segmentSize <= .mebibytes(1024) else {
            throw LogError(.invalidConfiguration, "a segment size of \(segmentSize) is outside 4 KiB … 1 GiB")
        }
        guard zeroAhead <= .mebibytes(16) else {
            throw LogError(.invalidConfiguration, "zeroing \(zeroAhead) ahead is more than 16 MiB")
        }
        guard (1...64).contains(acceleration) else {
            throw LogError(.invalidConfiguration, "an acceleration of \(acceleration) is outside 1 … 64")
        }
        guard quarantineLimit >= 1 else {
            throw LogError(.invalidConfiguration, "quarantine must keep at least one tail")
        }
    }
}
