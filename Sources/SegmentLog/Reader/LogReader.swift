// Reads a log without its lock, beside a writer in this process or another. What it shows is whole transactions, in
// order, each verified; by default only what survives power loss.

/// A way to read a log.
public struct LogReader: Sendable {
    /// What a reader shows.
    public enum Visibility: Sendable {
        /// Only records known to survive power loss.
        case durable
        /// Every whole transaction in the files, acknowledged or not.
        case written
    }

    /// Where the log is: the very directory that was opened, whatever its path leads to later.
    public let storage: any LogStorage
    /// Which log it is.
    public let identity: LogIdentity
    /// How far it reads.
    public let visibility: Visibility
    /// The first record the log still had when it was opened.
    public let floor: SequenceNumber
    /// The first record of the segment that was the newest then.
    package let newestSegment: SequenceNumber

    /// Opens the log in a directory of the file system.
    public static func open(at path: String, showing visibility: Visibility = .durable) throws(LogError) -> LogReader {
        try open(POSIXStorage(directory: path), showing: visibility)
    }

    /// Opens the log in a storage. Nothing is written, ever.
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

    /// A cursor that begins with a record, or waits for it if it was not written yet.
    public func cursor(from sequence: SequenceNumber) throws(LogError) -> LogCursor {
        try LogCursor.open(self, startingAt: .record(max(sequence, .first)))
    }

    /// A cursor over everything the log still has.
    public func cursor() throws(LogError) -> LogCursor {
        try LogCursor.open(self, startingAt: .beginning)
    }

    /// A cursor that begins with the first record written at or after a moment of the writer's clock.
    public func cursor(since time: WallTime) throws(LogError) -> LogCursor {
        try LogCursor.open(self, startingAt: .time(time))
    }
}
