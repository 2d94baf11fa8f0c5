// Reads a log without its lock, while a writer in this process or another may be writing. It shows whole, verified
// transactions in order; by default only those that survive a power failure.

/// A reader of a log.
public struct LogReader: Sendable {
    /// Which records a reader shows.
    public enum Visibility: Sendable {
        /// Only records known to survive a power failure.
        case durable
        /// Every complete transaction in the files, acknowledged or not.
        case written
    }

    /// The log's location: the directory that was opened, wherever its path leads later.
    public let storage: any LogStorage
    /// The identity of the log.
    public let identity: LogIdentity
    /// Which records it shows.
    public let visibility: Visibility
    /// The first record of the log when it was opened.
    public let floor: SequenceNumber
    /// The first record of the segment that was the newest when the log was opened.
    package let newestSegment: SequenceNumber

    /// Opens the log in a directory of the file system.
    public static func open(at path: String, showing visibility: Visibility = .durable) throws(LogError) -> LogReader {
        try open(POSIXStorage(directory: path), showing: visibility)
    }

    /// Opens the log in a storage. Never writes anything.
    public static func open(
        _ storage: any LogStorage, showing visibility: Visibility = .durable
    ) throws(LogError) -> LogReader {
        let storage = try storage.holding()
        let catalog = try LogCatalog(storage)
        if let newer = catalog.damage.first(where: { $0.remedy == .upgrade }) { throw newer.error }
        return LogReader(
            storage: storage, identity: catalog.identity, visibility: visibility,
            floor: catalog.segments.first?.first ?? .first, newestSegment: catalog.segments.last?.first ?? .first)
    }

    /// Returns a cursor that begins with a record, or waits for it if it was not written yet.
    public func cursor(from sequence: SequenceNumber) throws(LogError) -> LogCursor {
        try LogCursor.open(self, startingAt: .record(max(sequence, .first)))
    }

    /// Returns a cursor over all records of the log.
    public func cursor() throws(LogError) -> LogCursor {
        try LogCursor.open(self, startingAt: .beginning)
    }

    /// Returns a cursor that begins with the first record written at or after a time of the writer's clock.
    public func cursor(since time: WallTime) throws(LogError) -> LogCursor {
        try LogCursor.open(self, startingAt: .time(time))
    }
}
