// What a writer did since it was opened, in counts that do not depend on the machine.

/// Counts of a writer's work.
public struct WriterStatistics: Hashable, Sendable {
    /// Batches appended.
    public var batches: UInt64 = 0
    /// Records appended.
    public var records: UInt64 = 0
    /// Frames written.
    public var frames: UInt64 = 0
    /// Syncs of segment data.
    public var dataSyncs: UInt64 = 0
    /// Segments begun.
    public var rolls: UInt64 = 0
    /// Bytes written to segments, zeros ahead included.
    public var bytesWritten: UInt64 = 0

    /// Nothing has happened yet.
    public init() {}
}
