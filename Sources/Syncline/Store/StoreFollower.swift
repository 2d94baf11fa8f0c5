// The state of a store that another process writes: the fold of its log, and over that the changes that wait in the folder of
// tributaries, as the other process would make them now.

import SegmentLog
import SynclineCore

/// Follows a store. Used by one thread at a time (`StoreWriter` holds the lock).
final class StoreFollower {
    let storage: any LogStorage
    private let tributary: TributaryWriter
    private var log: FollowedLog
    /// The files whose changes the state shows over the log, in order.
    private var shown: [TributaryName] = []
    private(set) var projector: Projector
    /// Whether the log's state has changed since.
    private var isStale = true

    init(_ storage: any LogStorage, _ environment: any SyncEnvironment) throws(SyncError) {
        self.storage = storage
        tributary = TributaryWriter(storage, environment)
        log = try StoreFollower.load(storage)
        projector = log.projector
        // A process that may not write can still read.
        try? tributary.prepare(for: log.identity)
        _ = try refresh()
    }

    private static func load(_ storage: any LogStorage) throws(SyncError) -> FollowedLog {
        try HistoryReading.run(storage, claiming: false) { () throws(SyncError) in try FollowedLog(storage) }
    }

    /// Reads new events; returns whether there was anything. After that, `projector` is another one.
    func refresh() throws(SyncError) -> Bool {
        log.projector.store.resume(after: projector.store)
        while true {
            // In this order: a file that was taken in after it was listed is in the log's state, or is gone.
            let listed = try Tributaries.waiting(storage, shown: shown)
            tributary.noteSeen(listed)
            if try advance() { isStale = true }
            let takenIn = try log.projector.reader(of: log.projector.store.snapshot).takenIn
            let waiting = listed.filter { !takenIn.contains($0) }
            guard isStale || waiting != shown else { return false }
            guard let files = try read(waiting) else { continue }
            // This process's own changes from before a migration can't be shown after it, but it must not lose sight of
            // them: it stays at the state before until the app has taken them in.
            let version = log.projector.declaration?.version ?? 0
            if files.contains(where: { tributary.isMine($0.name) && $0.content.schema < version }) { return false }
            projector = try Projector(
                store: log.projector.store.overlaid(), through: log.projector.through, totals: log.projector.totals)
            for file in files where file.content.identity == log.identity { try? add(file.content) }
            (shown, isStale) = (waiting, false)
            return true
        }
    }

    /// Folds new events of the log. If that is not possible, because what was read before was removed or taken back,
    /// loads the state again.
    private func advance() throws(SyncError) -> Bool {
        if log.isCurrent, let isChanged = try? log.advance() { return isChanged }
        let found = try StoreFollower.load(storage)
        // The rows of another store are perhaps those of another user.
        guard found.identity == log.identity else {
            throw .otherStore(storage, hint: StoreFollower.hint)
        }
        log = found
        return true
    }

    /// What to do where the store is gone.
    static let hint = "Follow the store again."

    /// Returns nil if a file is gone: then its changes are in the log.
    private func read(_ names: [TributaryName]) throws(SyncError) -> [(name: TributaryName, content: TributaryFile)]? {
        var files: [(name: TributaryName, content: TributaryFile)] = []
        for name in names {
            do throws(SyncError) {
                guard let file = try TributaryFile(name, in: storage) else { return nil }
                files.append((name, file))
            } catch {
                // The process that would make its changes tells of it.
                if error.code != .storeCorrupt { throw error }
            }
        }
        return files
    }

    /// Adds the changes of a file, all or none, as the process that has the store open would.
    private func add(_ file: TributaryFile) throws(SyncError) {
        let mark = projector.state.mark
        projector.store.beginChanges()
        defer { projector.store.endChanges() }
        do throws(SyncError) {
            for (time, transaction) in try file.transactions(in: projector.declaration, nil) {
                var writer = LocalTransactionWriter(
                    projector, number: projector.through + 1, time: time, transaction.heading)
                // What must wait in the other process is shown here as it was made.
                try writer.takeIn(transaction, waits: false)
                _ = try writer.finish()
            }
        } catch {
            try projector.store.takeBack(to: 0)
            projector.state.takeBack(to: mark)
            throw error
        }
    }

    /// Makes events durable that were folded into `projector`.
    func write(_ events: [[UInt8]]) throws(SyncError) {
        try checkInPlace()
        let name = try tributary.write(
            TributaryFile(
                identity: log.identity, read: log.projector.through,
                schema: projector.declaration?.version ?? 0, events: events))
        // A process that erases a store looks for such files after its mark is in place. So either the file was found then, or the
        // mark is found here.
        try checkInPlace()
        shown.append(name)
    }

    private func checkInPlace() throws(SyncError) {
        if log.isCurrent, try !storage.isBeingErased() { return }
        throw SyncError(
            .storeReplaced, "the store at \(storage.location) was replaced, or is being erased",
            hint: "Refresh, then try again.")
    }
}
