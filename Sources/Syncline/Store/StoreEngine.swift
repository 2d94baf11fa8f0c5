// The writer's half of a store: the log, and the projector that folds what is written. It is used by one thread at a time
// (`StoreWriter` holds the lock). What is decided is folded at once and becomes visible when the log has it.

package import SegmentLog
package import SynclineCore

package final class StoreEngine {
    package let log: LogWriter
    package let projector: Projector
    let surroundings: any Surroundings
    /// The version of the schema this process has; 0 if it says none.
    private let schemaVersion: UInt32
    /// Where the store is; nil if that can't be told.
    private let place: String?
    /// Events made by the commit in hand, in order.
    private var staged: [[UInt8]] = []
    /// Tables whose rows the request in hand changed.
    private var touched: [String] = []
    /// Whether this process has said in the log that it writes.
    private var hasSaidOpened: Bool
    /// The last event of the last commit, and the digest of the state behind it.
    private var committed: UInt64
    private var digestBytes: [UInt8]

    init(
        _ log: LogWriter, _ projector: Projector, _ surroundings: any Surroundings, schemaVersion: UInt32,
        hasSaidOpened: Bool
    ) throws(SyncError) {
        self.hasSaidOpened = hasSaidOpened
        self.log = log
        self.projector = projector
        self.surroundings = surroundings
        self.schemaVersion = schemaVersion
        place = StorePlace.mark(log.storage)
        committed = projector.through
        digestBytes = StoreEngine.noteBytes(projector.store.digest)
    }

    var reader: StateReader { projector.reader(of: projector.store.snapshot) }

    /// The number the next event will have.
    private var nextNumber: UInt64 { log.lastSequence.rawValue + 1 + UInt64(staged.count) }

    // MARK: What a commit may do

    /// Makes one event of local changes.
    func local<Value>(
        isGrouped: Bool, _ body: (inout LocalTransactionWriter) throws(SyncError) -> Value
    ) throws(SyncError) -> (value: Value, event: UInt64?) {
        sayOpened()
        let number = nextNumber
        var writer = LocalTransactionWriter(
            projector, number: number, time: surroundings.now(), isGrouped: isGrouped)
        let value = try body(&writer)
        guard let event = try writer.finish() else { return (value, nil) }
        staged.append(event)
        return (value, number)
    }

    /// Writes an event and folds it.
    @discardableResult
    func record(_ body: Event.Body) throws(SyncError) -> UInt64 {
        if case .opened = body { hasSaidOpened = true } else { sayOpened() }
        let number = nextNumber
        let event = Event(time: surroundings.now(), body)
        try inAppWords { () throws(StateError) in try projector.apply(event, number: number) }
        staged.append(event.bytes)
        return number
    }

    /// Folds a page and writes what is new in it.
    func record(page: PulledPage) throws(SyncError) -> PageEffect {
        sayOpened()
        let number = nextNumber
        let (news, effect) = try inAppWords { () throws(StateError) in try projector.applyNews(page, number: number) }
        guard let news else { return effect }
        staged.append(Event(time: surroundings.now(), .page(news)).bytes)
        if !news.rows.isEmpty { touch(page.table) }
        return effect
    }

    func touch(_ table: String) {
        if touched.last != table, !touched.contains(table) { touched.append(table) }
    }

    /// The first event of a process says who it is.
    private func sayOpened() {
        guard !hasSaidOpened else { return }
        hasSaidOpened = true
        var device = ""
        if case .string(let id)? = try? reader.setting(SettingName.device) { device = id }
        if let place, case .string(let known)? = try? reader.setting(SettingName.place), known != place {
            // It is a copy: the original keeps the name they share.
            device = surroundings.newID()
        }
        let opening = Opening(
            device: device, engineVersion: engineVersion, projectorVersion: Projector.version,
            schemaVersion: schemaVersion, place: place)
        let event = Event(time: surroundings.now(), .opened(opening))
        if (try? projector.apply(event, number: nextNumber)) != nil { staged.append(event.bytes) }
    }

    // MARK: Commits

    /// Runs a group of requests and makes what they did durable together. Each succeeds or leaves no trace.
    func commit(_ group: [StoreRequest]) -> StoreCommit? {
        projector.store.beginChanges()
        let before = mark()
        var durability = Durability.buffered
        var done: [StoreRequest] = []
        var states: [StoreCommit.State] = []
        for request in group {
            guard run(request) else {
                request.complete(nil)
                continue
            }
            done.append(request)
            durability = durability.stronger(request.durability)
            states.append(
                .init(reader: projector.reader(of: projector.store.endCommit()), touched: touched))
            touched.removeAll(keepingCapacity: true)
        }
        defer {
            projector.store.endChanges()
            staged.removeAll(keepingCapacity: true)
        }
        if !staged.isEmpty {
            do throws(LogError) {
                try append(durability)
            } catch {
                takeBack(to: before)
                for request in done { request.complete(SyncError(error)) }
                return nil
            }
        }
        committed = projector.through
        return StoreCommit(
            states: states, through: projector.through, totals: projector.totals,
            declaration: projector.declaration, requests: done)
    }

    /// Runs one request; one that is refused, or makes no event, leaves nothing behind.
    private func run(_ request: StoreRequest) -> Bool {
        let mark = mark()
        let isDone = request.run(self)
        let hasOnlySaidOpened = staged.count == mark.staged + 1 && hasSaidOpened != mark.hasSaidOpened
        if !isDone || hasOnlySaidOpened { takeBack(to: mark) }
        return isDone
    }

    private func append(_ durability: Durability) throws(LogError) {
        var batch = RecordBatch()
        for event in staged { batch.append(event) }
        try log.setNote(LogNote(through: SequenceNumber(rawValue: committed), bytes: digestBytes))
        try log.append(batch, durability: durability)
        digestBytes = StoreEngine.noteBytes(projector.store.digest)
    }

    private static func noteBytes(_ digest: Digest) -> [UInt8] { SealNote(digest: digest).bytes }

    /// Where the state stood before a request.
    private struct Mark {
        var changes: Int
        var staged: Int
        var projector: Projector.Mark
        var hasSaidOpened: Bool
    }

    private func mark() -> Mark {
        Mark(
            changes: projector.store.changeCount, staged: staged.count, projector: projector.mark,
            hasSaidOpened: hasSaidOpened)
    }

    private func takeBack(to mark: Mark) {
        do throws(StateError) {
            try projector.store.takeBack(to: mark.changes)
        } catch {
            preconditionFailure("what was just written is in memory: \(error)")
        }
        projector.takeBack(to: mark.projector)
        staged.removeSubrange(mark.staged...)
        touched.removeAll(keepingCapacity: true)
        hasSaidOpened = mark.hasSaidOpened
    }
}

/// The version of this library.
package let engineVersion = "0.1.0"

/// What readers see once a commit is done.
struct StoreCommit {
    /// The state behind one of its requests, and the tables that changed with it.
    struct State {
        var reader: StateReader
        var touched: [String]
    }

    var states: [State]
    var through: UInt64
    var totals: Totals
    var declaration: Declaration?
    var requests: [StoreRequest]
}

/// Something to be done by the writer.
struct StoreRequest {
    var durability: Durability
    /// Does it; false if it was refused.
    var run: (StoreEngine) -> Bool
    /// Tells whoever waits: with the error that kept it from being stored, or none.
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
