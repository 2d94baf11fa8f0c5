// Makes the state of a log: the newest checkpoint that can be read, and the events behind it folded in. Nothing is
// written, so it serves readers and the writer alike.

package import SegmentLog
package import SynclineCore

package struct StateLoader: Sendable {
    package let storage: any LogStorage
    /// Whether a checkpoint that turns out to be damaged is removed, so that it is not met again. A reader leaves it, and
    /// settles in memory what a writer makes a run of its next checkpoint.
    private let removesDamaged: Bool
    /// How much a reader folds before it settles it.
    private static let settledAbove = 16 << 20

    package init(_ storage: any LogStorage, removesDamaged: Bool = false) {
        self.storage = storage
        self.removesDamaged = removesDamaged
    }

    /// The state as of an event, or the newest; from a checkpoint, or from as early as the log allows. Of one row alone,
    /// where that is asked for: what it has of other rows is as old as the checkpoint.
    package func load(
        through last: UInt64? = nil, onlyTo row: RowFocus? = nil, usingCheckpoints: Bool = true,
        showing visibility: LogReader.Visibility = .written
    ) throws(SyncError) -> Projector {
        let reader = try inAppWords { () throws(LogError) in try LogReader.open(storage, showing: visibility) }
        let projector = try start(reader, through: last, usingCheckpoints)
        try fold(into: projector, through: last, onlyTo: row, reader)
        return projector
    }

    /// Folds the events after those that a state is made of.
    private func fold(
        into projector: Projector, through last: UInt64?, onlyTo row: RowFocus? = nil, _ reader: LogReader
    ) throws(SyncError) {
        let from = SequenceNumber(rawValue: projector.through + 1)
        var cursor: LogCursor
        do throws(LogError) { cursor = try reader.cursor(from: from) } catch { throw SyncError(error) }
        // What lies behind the last event wanted is not looked at, whole or not.
        while projector.through < last ?? .max, try advance(&cursor) {
            if let last, cursor.firstSequence.rawValue > last { break }
            do throws(StateError) {
                try cursor.forEachRecord { number, record throws(StateError) in
                    if let last, number.rawValue > last { return }
                    try record.withUnsafeBytes { bytes throws(StateError) in
                        if let row {
                            try projector.apply(bytes, number: number.rawValue, onlyTo: row)
                        } else {
                            try projector.apply(bytes, number: number.rawValue)
                        }
                    }
                }
                projector.store.endCommit()
                if !removesDamaged { try projector.store.settle(above: StateLoader.settledAbove) }
            } catch {
                throw SyncError(error)
            }
        }
    }

    /// The rows that differ between two moments, by the events between them if those are few.
    package func differences(from first: UInt64, to last: UInt64) throws(SyncError) -> [RowDifference] {
        let (earlier, later) = (min(first, last), max(first, last))
        let before = try load(through: earlier)
        var found: [RowDifference] = []
        if later - earlier <= StateLoader.fewEvents {
            let reader = try inAppWords { () throws(LogError) in try LogReader.open(storage, showing: .written) }
            before.store.beginChanges()
            try fold(into: before, through: later, reader)
            found = try inAppWords { () throws(StateError) in try StateChanges(before).differences }
        } else {
            let after = try load(through: later)
            try inAppWords { () throws(StateError) in
                let reader = after.reader(of: after.store.snapshot)
                try before.reader(of: before.store.snapshot).differences(to: reader) { found.append($0) }
            }
        }
        return first <= last ? found : found.map(\.reversed)
    }

    /// What so many events changed is kept in memory.
    private static let fewEvents: UInt64 = 20_000

    /// The first state that the log's events can be folded onto: nothing, or the oldest checkpoint that lies before what
    /// is left of it. Rows of a checkpoint stay on disk, so it may be preferred to nothing. One of `untrue` is taken only
    /// if there is no other.
    package func earliest(
        preferringCheckpoint: Bool = false, without untrue: Set<UInt64> = []
    ) throws(SyncError) -> Projector {
        let reader = try inAppWords { () throws(LogError) in try LogReader.open(storage, showing: .written) }
        let isWhole = reader.floor == .first
        if isWhole && !preferringCheckpoint { return try inAppWords { () throws(StateError) in try Projector() } }
        for through in try inAppWords({ () throws(LogError) in try Checkpoint.list(storage) }).reversed()
        where through.next >= reader.floor && !untrue.contains(through.rawValue) {
            let projector = try CheckpointFile.openIfSound(storage, through, reader.identity, removesDamaged: false)
            if let projector { return projector }
        }
        if isWhole { return try inAppWords { () throws(StateError) in try Projector() } }
        if !untrue.isEmpty { return try earliest(preferringCheckpoint: preferringCheckpoint) }
        throw StateLoader.lost(reader.floor)
    }

    private static func lost(_ floor: SequenceNumber) -> SyncError {
        SyncError(
            .init(rawValue: LogError.Code.collected.rawValue),
            "the history before \(floor) was let go of, and no checkpoint of it can be read",
            hint: "Ask for a later moment.")
    }

    private func advance(_ cursor: inout LogCursor) throws(SyncError) -> Bool {
        do throws(LogError) { return try cursor.nextFrame() } catch { throw SyncError(error) }
    }

    /// The state to begin with: a checkpoint that does not go beyond what is wanted, or nothing.
    private func start(
        _ reader: LogReader, through last: UInt64?, _ usingCheckpoints: Bool
    ) throws(SyncError) -> Projector {
        if !usingCheckpoints { return try earliest() }
        let all = try inAppWords { () throws(LogError) in try Checkpoint.list(storage) }
        for through in all where through.rawValue <= last ?? .max && through.next >= reader.floor {
            let projector = try CheckpointFile.openIfSound(
                storage, through, reader.identity, removesDamaged: removesDamaged)
            if let projector { return projector }
        }
        if reader.floor > .first { throw StateLoader.lost(reader.floor) }
        return try inAppWords { () throws(StateError) in try Projector() }
    }
}
