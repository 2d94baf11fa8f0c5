// Lets go of history: whole segments from the old end, never anything else, and only below everything that still needs
// them. HEAD names the new floor durably before the first file goes, so a crash leaves extra files and never a gap.

/// What a collection did.
public struct LogCollection: Hashable, Sendable {
    /// The first record the log still has.
    public var floor: SequenceNumber
    /// How many segments went.
    public var segmentsRemoved: Int
    /// How many bytes they had.
    public var bytesRemoved: ByteCount
}

extension LogWriter {
    /// Removes segments that hold nothing at or after `needed`, nothing above the newest verified checkpoint, and nothing
    /// a living reader claims. What `needed` must be is the user's to know: the oldest record not yet acknowledged,
    /// say, and what retention asks for.
    public func collect(keepingFrom needed: SequenceNumber) throws(LogError) -> LogCollection {
        try use { appender throws(LogError) in try appender.collect(keepingFrom: needed) }
    }
}

extension Appender {
    func collect(keepingFrom needed: SequenceNumber) throws(LogError) -> LogCollection {
        let catalog = try LogCatalog(storage)
        if let damage = catalog.damage.first(where: { !$0.isRepairable }) { throw damage.error }
        let checkpointed = catalog.checkpoints.contains(head.current.checkpoint) ? head.current.checkpoint.next : .first
        let wanted = min(needed, checkpointed)
        let oldFloor = catalog.segments.first?.first ?? .first
        func doomed() throws(LogError) -> ArraySlice<LogCatalog.Segment> {
            let floor = min(wanted, try LogLease.lowest(in: storage) ?? wanted)
            let keeping = catalog.segments.indices.dropFirst().last { catalog.segments[$0].first <= floor } ?? 0
            return catalog.segments[..<keeping]
        }
        let first = try doomed()
        guard !first.isEmpty else {
            return LogCollection(floor: oldFloor, segmentsRemoved: 0, bytesRemoved: .bytes(0))
        }
        let floor = catalog.segments[first.endIndex].first
        try head.write { $0.floor = floor }
        // A reader that claimed its place before the floor rose is seen now; one that comes later sees the floor.
        let going = try doomed()
        do throws(StorageError) {
            for segment in going {
                try storage.remove(segment.name)
                // One after the other: of two removals that are pending a crash may keep either, and leave a gap.
                try storage.syncDirectory("")
            }
        } catch {
            throw LogError(error)
        }
        return LogCollection(
            floor: catalog.segments[going.endIndex].first, segmentsRemoved: going.count,
            bytesRemoved: .bytes(going.reduce(0) { $0 + $1.size }))
    }
}
