// Makes the state of a log: the newest checkpoint that can be read, and the events behind it folded in. Nothing is
// written, so it serves readers and the writer alike.

package import SegmentLog
package import SynclineCore

package struct StateLoader: Sendable {
    package let storage: any LogStorage
    /// Whether a checkpoint that turns out to be damaged is removed, so that it is not met again. A reader leaves it.
    private let removesDamaged: Bool

    package init(_ storage: any LogStorage, removesDamaged: Bool = false) {
        self.storage = storage
        self.removesDamaged = removesDamaged
    }

    /// The state as of an event, or the newest; from a checkpoint, or from as early as the log allows.
    package func load(
        through last: UInt64? = nil, usingCheckpoints: Bool = true,
        showing visibility: LogReader.Visibility = .written
    ) throws(SyncError) -> Projector {
        let reader = try inAppWords { () throws(LogError) in try LogReader.open(storage, showing: visibility) }
        let projector = try start(reader, through: last, usingCheckpoints)
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
                        try projector.apply(bytes, number: number.rawValue)
                    }
                }
            } catch {
                throw SyncError(error)
            }
            projector.store.endCommit()
        }
        return projector
    }

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
