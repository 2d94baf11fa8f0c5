// The log of a store that another process writes, folded as far as it is written.

import SegmentLog
import SynclineCore

/// Folds another process's log. Used by one thread at a time.
final class FollowedLog {
    let projector: Projector
    let identity: LogIdentity
    private let storage: any LogStorage
    private let place: String?
    private var cursor: LogCursor
    /// False after an event could not be read or folded: the state lacks it from then on.
    private var isWhole = true

    /// Loads the newest state.
    init(_ storage: any LogStorage) throws(SyncError) {
        let reader = try storage.openLog()
        self.storage = storage
        identity = reader.identity
        place = storage.place
        projector = try StateLoader(storage).load()
        cursor = try reader.frames(from: projector.through + 1)
    }

    /// Folds the events written since, and returns whether there was anything. After an error, the state is not usable.
    func advance() throws(SyncError) -> Bool {
        let before = projector.through
        isWhole = false
        try StateLoader(storage).fold(into: projector, &cursor)
        isWhole = true
        return projector.through > before
    }

    /// Whether this is still the fold of the log to which the path leads. HEAD says whose that is, or the segments if HEAD is
    /// missing.
    var isCurrent: Bool {
        guard isWhole, storage.place == place else { return false }
        let head = try? LogCatalog.readHead(storage).head
        return (head?.identity ?? (try? LogReader.open(storage))?.identity) == identity
    }
}
