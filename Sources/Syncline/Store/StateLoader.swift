// Loads the state of a log: the newest readable checkpoint with the later events folded in. Writes nothing, so
// readers and the writer both use it.

package import SegmentLog
package import SynclineCore

package struct StateLoader: Sendable {
    package let storage: any LogStorage
    /// Whether to remove a damaged checkpoint so that it is not tried again. The writer does; a reader does not, and
    /// compacts in memory what a writer would write as a run of its next checkpoint.
    private let removesDamaged: Bool
    /// How much a reader folds before it compacts it in memory.
    private static let settledAbove = 2 << 20

    package init(_ storage: any LogStorage, removesDamaged: Bool = false) {
        self.storage = storage
        self.removesDamaged = removesDamaged
    }

    /// Loads the state as of an event, or the newest, from a checkpoint or from the earliest event the log allows.
    /// With one row requested, only that row is up to date; other rows are as old as the checkpoint.
    package func load(
        through last: UInt64? = nil, onlyTo row: RowFocus? = nil, usingCheckpoints: Bool = true
    ) throws(SyncError) -> Projector {
        let reader = try storage.openLog()
        let projector = try start(reader, through: last, usingCheckpoints)
        try fold(into: projector, through: last, onlyTo: row, reader)
        return projector
    }

    /// Updates a loaded state to the newest event.
    package func update(_ projector: Projector) throws(SyncError) {
        let reader = try storage.openLog()
        try fold(into: projector, through: nil, reader)
    }

    /// Folds the events after those that a state includes.
    private func fold(
        into projector: Projector, through last: UInt64?, onlyTo row: RowFocus? = nil, _ reader: LogReader
    ) throws(SyncError) {
        var cursor = try reader.frames(from: projector.through + 1)
        try fold(into: projector, through: last, onlyTo: row, &cursor)
    }

    /// Folds the events that a cursor has not passed yet.
    func fold(
        into projector: Projector, through last: UInt64? = nil, onlyTo row: RowFocus? = nil, _ cursor: inout LogCursor
    ) throws(SyncError) {
        // Does not look beyond the last event wanted, so damage there does no harm.
        while projector.through < last ?? .max, try cursor.advance() {
            if let last, cursor.firstSequence.rawValue > last { break }
            try cursor.forEachRecord { number, record throws(SyncError) in
                if let last, number.rawValue > last { return }
                try record.withUnsafeBytes { bytes throws(SyncError) in
                    if let row {
                        try projector.apply(bytes, number: number.rawValue, onlyTo: row)
                    } else {
                        try projector.apply(bytes, number: number.rawValue)
                    }
                }
            }
            projector.store.endCommit()
            if !removesDamaged { try projector.store.settle(above: StateLoader.settledAbove) }
        }
    }

    /// Returns the rows that differ between two events. Uses only the events between them if those are few.
    package func differences(from first: UInt64, to last: UInt64) throws(SyncError) -> [RowDifference] {
        let (earlier, later) = (min(first, last), max(first, last))
        let before = try load(through: earlier)
        var found: [RowDifference] = []
        if later - earlier <= StateLoader.fewEvents {
            let reader = try storage.openLog()
            before.store.beginChanges()
            try fold(into: before, through: later, reader)
            found = try StateChanges(before).differences
        } else {
            let after = try load(through: later)
            let reader = after.reader(of: after.store.snapshot)
            try before.reader(of: before.store.snapshot).differences(to: reader) { found.append($0) }
        }
        return first <= last ? found : found.map(\.reversed)
    }

    /// Up to this many events are kept in memory with what they changed.
    private static let fewEvents: UInt64 = 20_000

    /// Returns the earliest state that the log's events can be folded onto: the empty state, or the oldest
    /// checkpoint at or before the first retained event. Rows of a checkpoint stay on disk, so it may be preferred
    /// to the empty state. Checkpoints in `untrue` are used only if there is no other.
    package func earliest(
        preferringCheckpoint: Bool = false, without untrue: Set<UInt64> = []
    ) throws(SyncError) -> Projector {
        let reader = try storage.openLog()
        let isWhole = reader.floor == .first
        if isWhole && !preferringCheckpoint { return try Projector() }
        for through in try storage.checkpoints().reversed()
        where through.next >= reader.floor && !untrue.contains(through.rawValue) {
            let projector = try CheckpointFile.openIfSound(storage, through, reader.identity, removesDamaged: false)
            if let projector { return projector }
        }
        if isWhole { return try Projector() }
        if !untrue.isEmpty { return try earliest(preferringCheckpoint: preferringCheckpoint) }
        throw StateLoader.lost(reader.floor)
    }

    private static func lost(_ floor: SequenceNumber) -> SyncError {
        SyncError(
            .collected, "the history before \(floor) was removed, and no checkpoint of it can be read",
            hint: "Choose a later moment.")
    }

    /// Returns the starting state: a checkpoint that is not newer than the wanted one, or the empty state.
    private func start(
        _ reader: LogReader, through last: UInt64?, _ usingCheckpoints: Bool
    ) throws(SyncError) -> Projector {
        if !usingCheckpoints { return try earliest() }
        let all = try storage.checkpoints()
        for through in all where through.rawValue <= last ?? .max && through.next >= reader.floor {
            let projector = try CheckpointFile.openIfSound(
                storage, through, reader.identity, removesDamaged: removesDamaged)
            if let projector { return projector }
        }
        if reader.floor > .first { throw StateLoader.lost(reader.floor) }
        return try Projector()
    }
}
