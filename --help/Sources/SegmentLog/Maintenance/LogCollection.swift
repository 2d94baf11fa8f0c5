// Removes history: only whole segments, oldest first, that nothing needs any more. HEAD records the new floor
// durably before the first file is removed, so a crash leaves extra files and never a gap.

/// The result of a collection.
public struct LogCollection: Hashable, Sendable {
    /// The first record the log still has.
    public var floor: SequenceNumber
    /// The number of segments removed.
    public var segmentsRemoved: Int
    /// The number of bytes removed.
    public var bytesRemoved: ByteCount
}

extension LogWriter {
    /// Removes segments that hold only records before `needed`, are covered by the newest verified checkpoint, and
    /// are not leased by a live reader. The caller decides what `needed` is, for example the oldest record not yet
    /// acknowledged.
    public func collect(keepingFrom needed: SequenceNumber) throws(LogError) -> LogCollection {
        try use { appender throws(LogError) in try appender.collect(keepingFrom: needed) }
    }
}

extension Appender {
    func collect(keepingFrom needed: SequenceNumber) throws(LogError) -> LogCollection {
        let catalog = try LogCatalog(storage)
        if let damage = catalog.damage.first(where: { !$0.isRepairable }) { throw damage.error }
        let checkpointed = catalog.checkpoints.contains(head.current.checkpoint) ? head.current.checkpoint.next : .first
let needed = Breakage.collectionIgnoresNeed.isActive ? SequenceNumber(rawValue: .max) : needed
let wanted = Breakage.collectionIgnoresCheckpoint.isActive ? needed : min(needed, checkpointed)
        let oldFloor = catalog.segments.first?.first ?? .first
        func collectable() throws(LogError) -> ArraySlice<LogCatalog.Segment> {
            let floor = min(wanted, try LogLease.lowest(in: storage) ?? wanted)
let reach = Breakage.collectionOffByOne.isActive ? floor.next : floor
let keeping = catalog.segments.indices.dropFirst().last { catalog.segments[$0].first <= reach } ?? 0
            return catalog.segments[..<keeping]
        }
        let first = try collectable()
        guard !first.isEmpty else {
            return LogCollection(floor: oldFloor, segmentsRemoved: 0, bytesRemoved: .bytes(0))
        }
        let floor = catalog.segments[first.endIndex].first
if !Breakage.floorNotRaisedFirst.isActive { try head.write { $0.floor = floor } }
        // A lease taken before the floor rose is seen now; a later one sees the new floor.
let going = Breakage.leaseNotRechecked.isActive ? first : try collectable()
        try callStorage { () throws(StorageError) in
for segment in Breakage.collectionNewestFirst.isActive ? Array(going.reversed()) : Array(going) {
                try storage.remove(segment.name)
                // One at a time: with two pending removals, a crash could undo only one and leave a gap.
                try storage.syncDirectory("")
            }
        }
        return LogCollection(
            floor: catalog.segments[going.endIndex].first, segmentsRemoved: going.count,
            bytesRemoved: .bytes(going.reduce(0) { $0 + $1.size }))
    }
}
