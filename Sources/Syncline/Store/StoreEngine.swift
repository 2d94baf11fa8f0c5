// The writing part of a store: the log, and the projector that folds what is written. It is used by one thread at a
// time (`StoreWriter` holds the lock). Changes are folded at once and become visible when the log has stored them.

import SegmentLog
package import SynclineCore
import SynclineGround

package final class StoreEngine {
    /// Where events go.
    private enum Target {
        case log(LogWriter)
        /// To the process that has the store open for writing.
        case follower(StoreFollower)
        /// Nowhere, for this reason: the store was closed or suspended.
        case nowhere(SyncError)
    }

    private var target: Target
    package private(set) var projector: Projector
    let environment: any SyncEnvironment
    /// The schema version of this process; 0 if it declares none.
    private let schemaVersion: UInt32
    /// The store's location; nil if it can't be determined.
    private let place: String?
    /// The log that this process writes; nil if it follows another process.
    private let identity: LogIdentity?
    /// Events of the current commit, in order.
    private var staged: [[UInt8]] = []
    /// Whether this process has recorded its opening in the log.
    private var hasRecordedOpening: Bool
    /// The last event of the last commit, and the digest of the state after it.
    private var committed: UInt64
    private var digestBytes: [UInt8]
    /// How often another process had written when this one resumed.
    private(set) var interruptions = 0

    init(
        _ log: LogWriter, _ projector: Projector, _ environment: any SyncEnvironment, schemaVersion: UInt32,
        hasRecordedOpening: Bool
    ) throws(SyncError) {
        self.hasRecordedOpening = hasRecordedOpening
        target = .log(log)
        self.projector = projector
        self.environment = environment
        self.schemaVersion = schemaVersion
        place = StorePlace.mark(log.storage)
        identity = log.identity
        committed = projector.through
        digestBytes = projector.store.digest.sealNote
    }

    /// An engine that shows a store that another process writes, and gives that process its changes.
    init(_ follower: StoreFollower, _ environment: any SyncEnvironment) {
        hasRecordedOpening = true
        target = .follower(follower)
        projector = follower.projector
        self.environment = environment
        schemaVersion = 0
        place = nil
        identity = nil
        committed = projector.through
        digestBytes = []
    }

    var reader: StateReader { projector.reader(of: projector.store.snapshot) }

    /// The number of the next event.
    private var nextNumber: UInt64 {
        let last = if case .log(let log) = target { log.lastSequence.rawValue } else { committed }
        return last + 1 + UInt64(staged.count)
    }

    // MARK: Operations of a commit

    /// Runs a transaction, and writes its changes as one event.
    func local<Value>(
        _ heading: TransactionHeading, at time: Int64? = nil, _ body: (SyncTransaction) throws(SyncError) -> Value
    ) throws(SyncError) -> (value: Value, event: UInt64?) {
        recordOpening()
        let number = nextNumber
        let transaction = SyncTransaction(
            self,
            LocalTransactionWriter(
                projector, number: number, time: time ?? environment.milliseconds(), heading, notesSeen: isFollower))
        // An app that keeps it must not change the state later, also after an error.
        defer { transaction.close() }
        let value = try body(transaction)
        guard let event = try transaction.writer.finish() else { return (value, nil) }
        staged.append(event)
        return (value, number)
    }

    /// Writes an event and folds it.
    @discardableResult
    func record(_ body: Event.Body) throws(SyncError) -> UInt64 {
        try checkOwner()
        if !body.isForBranches { try reader.checkNotBranch() }
        if case .opened = body { hasRecordedOpening = true } else { recordOpening() }
        let number = nextNumber
        let event = Event(time: environment.milliseconds(), body)
        try projector.apply(event, number: number)
        staged.append(event.bytes)
        return number
    }

    /// Folds a page and writes the new part of it.
    func record(page: PulledPage) throws(SyncError) -> PageEffect {
        try checkOwner()
        try reader.checkNotBranch()
        recordOpening()
        let number = nextNumber
        let (news, effect) = try projector.pages.applyNews(page, number: number)
        guard let news else { return effect }
        staged.append(Event(time: environment.milliseconds(), .page(news)).bytes)
        return effect
    }

    /// Records the opening: the first event of a process identifies it.
    private func recordOpening() {
        guard !hasRecordedOpening else { return }
        hasRecordedOpening = true
        var device = ""
        if case .string(let id)? = try? reader.setting(SettingName.device) { device = id }
        if let place, case .string(let known)? = try? reader.setting(SettingName.place), known != place {
            // It is a copy, so it needs a device name of its own; the original keeps the old one.
            device = environment.newID()
        }
        let opening = Opening(
            device: device, engineVersion: synclineVersion, projectorVersion: Projector.version,
            schemaVersion: schemaVersion, place: place)
        let event = Event(time: environment.milliseconds(), .opened(opening))
        if (try? projector.apply(event, number: nextNumber)) != nil { staged.append(event.bytes) }
    }

    // MARK: Commits

    /// Runs a group of requests and makes their changes durable together. Each request succeeds or has no effect.
    /// - Parameter notingRows: Whether to note which rows changed, for observers.
    func commit(_ group: [StoreRequest], notingRows: Bool) -> StoreCommit? {
        // What a request would find in the state is not so any more.
        if case .nowhere(let reason) = target {
            for request in group { request.complete(reason) }
            return nil
        }
        projector.store.beginChanges()
        let before = mark()
        var durability = Durability.buffered
        var done: [StoreRequest] = []
        for request in group {
            guard run(request) else {
                request.complete(nil)
                continue
            }
            done.append(request)
            durability = durability.stronger(request.durability)
        }
        defer {
            projector.store.endChanges()
            staged.removeAll(keepingCapacity: true)
        }
        if !staged.isEmpty {
            do throws(SyncError) {
                try append(durability)
            } catch {
                takeBack(to: before)
                for request in done { request.complete(error) }
                return nil
            }
        }
        committed = projector.through
        if done.isEmpty { return nil }
        return StoreCommit(
            reader: projector.reader(of: projector.store.endCommit()), through: projector.through,
            totals: projector.totals, declaration: projector.declaration, requests: done,
            changedRows: notingRows ? try? projector.store.changedRows() : nil)
    }

    /// Runs one request. A request that is refused, or makes no event, has no effect.
    private func run(_ request: StoreRequest) -> Bool {
        let mark = mark()
        let isDone = request.run(self)
        let hasOnlyRecordedOpening = staged.count == mark.staged + 1 && hasRecordedOpening != mark.hasRecordedOpening
        if !isDone || hasOnlyRecordedOpening { takeBack(to: mark) }
        return isDone
    }

    private func append(_ durability: Durability) throws(SyncError) {
        switch target {
        case .log(let log): try append(to: log, durability)
        case .follower(let follower): try follower.write(staged)
        case .nowhere(let reason): throw reason
        }
    }

    private func append(to log: LogWriter, _ durability: Durability) throws(SyncError) {
        var batch = RecordBatch()
        for event in staged { batch.append(event) }
        try log.add(batch, durability, after: LogNote(through: SequenceNumber(rawValue: committed), bytes: digestBytes))
        digestBytes = projector.store.digest.sealNote
    }

    /// The state's position before a request.
    private struct Mark {
        var changes: Int
        var staged: Int
        var projector: FoldState.Mark
        var hasRecordedOpening: Bool
    }

    private func mark() -> Mark {
        Mark(
            changes: projector.store.changeCount, staged: staged.count, projector: projector.state.mark,
            hasRecordedOpening: hasRecordedOpening)
    }

    private func takeBack(to mark: Mark) {
        do throws(SyncError) {
            try projector.store.takeBack(to: mark.changes)
        } catch {
            preconditionFailure("what was just written is in memory: \(error)")
        }
        projector.state.takeBack(to: mark.projector)
        staged.removeSubrange(mark.staged...)
        hasRecordedOpening = mark.hasRecordedOpening
    }
}

// MARK: Other processes

extension StoreEngine {
    /// The log, if this process writes it.
    var log: LogWriter {
        get throws(SyncError) {
            switch target {
            case .log(let log): return log
            case .nowhere(let reason): throw reason
            case .follower(let follower):
                throw SyncError(
                    .follower, "another process writes the store at \(follower.storage.location)",
                    hint: "This store was opened with `follow`, so it can only read and change rows.")
            }
        }
    }

    var isFollower: Bool { if case .follower = target { true } else { false } }

    var isSuspended: Bool { if case .nowhere(let reason) = target { reason.code == .suspended } else { false } }

    private func checkOwner() throws(SyncError) {
        if isFollower { _ = try log }
    }

    /// Reads what other processes wrote into a store that is followed; returns whether there was anything.
    func refresh() throws(SyncError) -> Bool {
        guard case .follower(let follower) = target, try follower.refresh() else { return false }
        projector = follower.projector
        committed = projector.through
        return true
    }

    /// Throws if another process has written since `interruptions` had this value.
    func checkUninterrupted(since count: Int) throws(SyncError) {
        if interruptions == count { return }
        throw SyncError(
            .suspended, "the store was suspended, and another process changed it meanwhile",
            hint: "Push or pull again: it continues from what is stored.")
    }

    /// Closes the log. From now on, nothing can be written, for this reason.
    func close(_ reason: SyncError) throws(SyncError) {
        let old = target
        if case .nowhere(let known) = old, known.code == .closed { throw known }
        target = .nowhere(reason)
        if case .log(let log) = old { try log.end() }
    }

    /// Continues with a log that was opened again, and its state. Throws if it is another one.
    func resume(_ log: LogWriter) throws(SyncError) {
        guard log.identity == identity else {
            try? log.close()
            throw .otherStore(log.storage, hint: StoreEngine.hint)
        }
        // Another process may have replaced the files of the runs that are in memory.
        let projector = try StateLoader(log.storage, removesDamaged: true).load()
        // After others have written, this process is named again, and what it was doing is out of date.
        if projector.through != committed {
            hasRecordedOpening = false
            interruptions += 1
        }
        target = .log(log)
        self.projector = projector
        committed = projector.through
        digestBytes = projector.store.digest.sealNote
    }

    /// What to do where the store is gone.
    static let hint = "Close this one, then open the store again."
}

/// What becomes visible to readers after a commit.
struct StoreCommit {
    var reader: StateReader
    var through: UInt64
    var totals: ChangeCounts
    var declaration: Declaration?
    var requests: [StoreRequest]
    /// The keys of the rows that it changed; nil if they are not known.
    var changedRows: Set<[UInt8]>?

    /// Whether it changes rows of some tables, or of any.
    func changesRows(of tables: [[UInt8]]?) -> Bool {
        guard let changedRows else { return true }
        guard let tables else { return !changedRows.isEmpty }
        return changedRows.contains { tables.contains(RowKey.table(in: $0)) }
    }
}

/// A request to the writer.
struct StoreRequest {
    var durability: Durability
    /// Runs the request; returns false if it was refused.
    var run: (StoreEngine) -> Bool
    /// Completes the request: with the error that kept it from being stored, or nil.
    var complete: (SyncError?) -> Void
}

extension Durability {
    func stronger(_ other: Durability) -> Durability {
        switch (self, other) {
        case (.durable, _), (_, .durable): .durable
        case (.ordered, _), (_, .ordered): .ordered
        default: .buffered
        }
    }
}

extension StateReader {
    /// Throws if the store is a branch, which holds nothing but changes of the app.
    func checkNotBranch() throws(SyncError) {
        guard try branchPoint != nil else { return }
        throw SyncError(
            .invalidConfiguration, "this is a branch of a store, and a branch holds only changes of rows",
            hint: Hint.branch)
    }
}
