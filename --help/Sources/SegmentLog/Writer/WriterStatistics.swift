// Counts of a writer's work since it was opened; they do not depend on the machine.

/// Counts of a writer's work.
public struct WriterStatistics: Hashable, Sendable {
    /// The number of batches appended.
    public var batches: UInt64 = 0
    /// The number of records appended.
    public var records: UInt64 = 0
    /// The number of frames written.
    public var frames: UInt64 = 0
    /// The number of syncs of segment data.
    public var dataSyncs: UInt64 = 0
    /// The number of segments begun.
    public var rolls: UInt64 = 0
    /// Bytes written to segments, including zeros ahead.
    public var bytesWritten: UInt64 = 0

    /// Creates statistics with all counts zero.
    public init() {}
}
