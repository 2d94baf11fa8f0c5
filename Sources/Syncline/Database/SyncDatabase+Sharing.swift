// One store and several processes: one has it open for writing, others follow it. The followers' changes wait in a folder
// until the writing process adds them to its log, each change once. That process can also suspend the store for a while.

public import SegmentLog
public import SynclineCore
import SynclineGround

extension SyncDatabase {
    /// Opens the store in a directory beside another process that has it open for writing, as an app's widget or extension
    /// does.
    ///
    /// The tables, their queries and live queries are as in the other process, and follow its changes. Rows can be changed:
    /// a change is durable when the call returns, is visible here at once, and is merged into the store by the other process,
    /// once and in the order in which this one made them. Reading and changing rows takes no lock and waits for no other process. Nothing
    /// else can be changed here: pushes, pulls, settings and similar calls throw `follower`.
    ///
    /// The store must exist. Its recorded schema applies, and that of the configuration does not.
    @concurrent
    public static func follow(
        at path: String, _ configuration: SyncConfiguration = .init()
    ) async throws(SyncError) -> SyncDatabase {
        try await follow(POSIXStorage(directory: path), configuration)
    }

    /// Opens the store in a storage beside a process that has it open for writing. Only directories of the file system are
    /// watched: with another storage, call ``refresh()``.
    @concurrent
    public static func follow(
        _ storage: any LogStorage, _ configuration: SyncConfiguration = .init()
    ) async throws(SyncError) -> SyncDatabase {
        let follower = try StoreFollower(storage, configuration.environment)
        let database = SyncDatabase(StoreEngine(follower, configuration.environment), storage, configuration)
        configuration.report(.info, .store, "follows \(storage.location) from event \(database.lastEvent)")
        database.startWatching(["", FileName.tributaries])
        return database
    }

    /// Reads what other processes wrote. After that, a store opened with `follow` shows the newest changes of all
    /// processes. In the process that has the store open for writing, the others' changes are merged into it. If another store is
    /// in its place, such a store throws `store-replaced` from now on, and its live queries end.
    @concurrent
    public func refresh() async throws(SyncError) {
        if writer.isFollower {
            try writer.refresh()
        } else {
            try await takeIn()
        }
    }

    /// Makes everything durable and releases the store, so that this process holds no lock: a system may end a process that
    /// holds one while it is suspended, and another process may open the store for writing.
    ///
    /// Until ``resume()``, reads and live queries show the state at suspension, and changes, pushes and pulls throw
    /// `suspended`.
    @concurrent
    public func suspend() async throws(SyncError) {
        try writer.suspend()
        configuration.report(.info, .store, "suspended \(storage.location)")
    }

    /// Continues after ``suspend()``, with everything that other processes wrote meanwhile. Throws `store-locked` if one of them
    /// still has the store open for writing, and `store-replaced` if the store was removed or another one is in its place.
    /// Does nothing if the store was not suspended.
    @concurrent
    public func resume() async throws(SyncError) {
        try writer.resume { () throws(SyncError) in
            do throws(SyncError) {
                return try storage.openWriter(creating: .never, configuration.log)
            } catch {
                // The directory was open all the time, so another one may be at the path.
                throw error.code == .noStore ? .otherStore(storage, hint: StoreEngine.hint) : error
            }
        }
        await takeInAndReport()
        do throws(SyncError) {
            if let schema = configuration.schema { try await open(with: schema) }
        } catch {
            try? writer.suspend()
            throw error
        }
        if case .taken(let sync) = automatic.withLock({ $0 }) { sync.syncNow() }
    }

    /// Watches for changes of other processes if the store is shared.
    func beginSharing() async throws(SyncError) {
        guard configuration.isShared else { return }
        try storage.makeFolder(FileName.tributaries)
        startWatching([FileName.tributaries])
        await takeInAndReport()
    }
}

// MARK: Taking in

extension SyncDatabase {
    /// How many files become one commit.
    private static let filesPerCommit = 64

    /// Makes the changes of other processes here. A file whose changes are refused stays, and those of the same process after
    /// it; the others are taken in before the error is thrown.
    private func takeIn() async throws(SyncError) {
        guard await takingIn.lock() else { throw SyncError(of: .cancelled) }
        defer { takingIn.unlock() }
        var limit = SyncDatabase.filesPerCommit
        var refused: [UInt64: SyncError] = [:]
        var failure: SyncError?
        var left: [TributaryName] = []
        while true {
            let done = try read { reader throws(SyncError) in try reader.takenIn }
            let listed = try Tributaries.waiting(storage)
            left = listed.filter { !done.contains($0) }
            let waiting = left.filter { refused[$0.process] == nil }.prefix(limit)
            // The store forgets which files it has taken in only after they are gone for good.
            if !waiting.isEmpty || listed.contains(where: done.contains) {
                // A backup that was put in place of the store may have files of these names that its log lacks.
                try await checkWritable()
                try Tributaries.remove(done, of: storage)
            }
            guard let first = waiting.first else { break }
            do throws(SyncError) {
                try await takeIn(Array(waiting))
            } catch {
                // One at a time, to find the one that is refused.
                if waiting.count == 1 {
                    refused[first.process] = error
                    failure = failure ?? error
                }
                limit = 1
            }
        }
        let issues = waitingIssues(left, refused)
        note { $0.waiting = issues }
        if let failure { throw failure }
    }

    /// Describes the commits that stay, of which the first one of each process was refused.
    private func waitingIssues(_ left: [TributaryName], _ refused: [UInt64: SyncError]) -> [SyncIssue] {
        var reasons = refused
        return left.compactMap { name in
            guard let reason = reasons.updateValue(.afterWaiting, forKey: name.process) else { return nil }
            let file = try? TributaryFile(name, in: storage)
            let change = (try? file?.transactions())?.first?.1.changes.first
            return SyncIssue(
                waiting: name.text, change.map { ($0.table, $0.id, $0.columns) }, reason.message)
        }
    }

    /// Makes the changes that waited for an operation which may have ended now.
    func takeInAgain() async {
        if facts.withLock({ !$0.waiting.isEmpty }) { await takeInAndReport() }
    }

    /// Makes the changes of some files in one commit, which also notes that they are made.
    private func takeIn(_ names: [TributaryName]) async throws(SyncError) {
        let (storage, schema) = (storage, configuration.schema)
        try await perform(.durable) { engine throws(SyncError) in
            let identity = try engine.log.identity
            for name in names {
                // A file of a store that was erased has nothing to do with this one.
                guard let file = try TributaryFile(name, in: storage), file.identity == identity else { continue }
                do throws(SyncError) {
                    for (time, transaction) in try file.transactions(in: engine.projector.declaration, schema) {
                        try engine.takeIn(transaction, at: time)
                    }
                } catch {
                    var error = error
                    error.address = name.path
                    throw error
                }
            }
            try engine.record(
                .configured(name: SettingName.takenIn, value: .string(names.map(\.text).joined(separator: " "))))
        }
    }

    func takeInAndReport() async {
        do throws(SyncError) {
            try await refresh()
        } catch {
            // A store that is suspended is refreshed when it is resumed.
            if [.suspended, .closed, .cancelled].contains(error.code) { return }
            if error.code == .storeReplaced { stopWatching() }
            configuration.report(.warning, .store, "changes of other processes were not taken in: \(error)")
        }
    }
}

extension SyncError {
    fileprivate static let afterWaiting = SyncError(.pendingChanges, "an earlier change of its process waits")
}

extension StoreEngine {
    fileprivate func takeIn(_ transaction: LocalTransaction, at time: Int64) throws(SyncError) {
        _ = try local(transaction.heading, at: time) { here throws(SyncError) in
            try here.writer.takeIn(transaction)
        }
    }
}

// MARK: Watching

extension SyncDatabase {
    fileprivate func startWatching(_ folders: [String]) {
        guard let directory = storage as? POSIXStorage else { return }
        let started = StoreWatch(directory.location, folders, configuration.environment) { [weak self] in
            await self?.takeInAndReport()
        }
        watch.withLock { $0 = started }
    }

    func stopWatching() {
        watch.withLock { watch in
            defer { watch = nil }
            return watch
        }?.stop()
    }
}
