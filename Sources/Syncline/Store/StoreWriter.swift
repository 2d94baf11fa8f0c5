// Lets any number of tasks write to a store. Requests that arrive while a commit is being made durable form the next
// commit and share its sync. One lock is held across I/O on purpose: it represents ownership of the log. Readers
// never take it.

import Dispatch
import SegmentLog
import SynclineCore
import SynclineGround

final class StoreWriter: Sendable {
    private let engine: Mutex<StoreEngine>
    private let inbox = Mutex(GroupCommit<StoreRequest>())
    private let published: Mutex<Published>
    private let queue = DispatchQueue(label: "Syncline.StoreWriter")
    private let checkpoints = DispatchQueue(label: "Syncline.Checkpoints")
    let observers = ObserverList()

    /// The state that readers see.
    struct Published: Sendable {
        /// Why there is nothing to read, once the store was closed.
        fileprivate(set) var state: Result<StateReader, SyncError>
        var through: UInt64
        var totals: ChangeCounts
        var declaration: Declaration?

        var reader: StateReader {
            get throws(SyncError) { try state.get() }
        }
    }

    private let scheduler: Mutex<CheckpointScheduler>
    /// How much memory the blocks of checkpoints may use that are kept after they were read.
    private let cacheSize: Int
    /// Told why a checkpoint could not be written.
    private let checkpointFailed: @Sendable (SyncError) -> Void

    init(
        _ engine: sending StoreEngine, memoryLimit: Int, cacheSize: Int,
        checkpointFailed: @escaping @Sendable (SyncError) -> Void
    ) {
        scheduler = Mutex(CheckpointScheduler(memoryLimit: memoryLimit))
        self.cacheSize = cacheSize
        self.checkpointFailed = checkpointFailed
        let projector = engine.projector
        projector.store.layers.cache.resize(to: cacheSize)
        published = Mutex(
            Published(
                state: .success(projector.reader(of: projector.store.endCommit())), through: projector.through,
                totals: projector.totals, declaration: projector.declaration))
        self.engine = Mutex(engine)
    }

    var current: Published { published.withLock { $0 } }

    /// The log; throws if this process does not write it, or not at the moment.
    var log: LogWriter {
        get throws(SyncError) {
            try engine.withLock { engine in Result { () throws(SyncError) in try engine.log } }.get()
        }
    }

    // MARK: Writing

    /// Runs `body` in a commit of its own or with others, and returns when it is stored with the requested
    /// durability. Never runs on the caller's actor. If no other write is running, a thread of the pool does the
    /// commit itself: at most one of them waits for the disk, which is much faster than waking another thread.
    @concurrent
    func perform<Value: Sendable>(
        _ durability: Durability, _ body: @escaping @Sendable (StoreEngine) throws -> Value
    ) async throws -> Value {
        let done = engine.withLockIfAvailable { engine -> Result<Value, any Error>? in
            guard inbox.withLock({ $0.waiting.isEmpty }) else { return nil }
            var result: Result<Value, any Error>?
            commit([StoreWriter.request(durability, body) { result = $0 }], engine)
            return result
        }
        if case let result?? = done { return try result.get() }
        return try await withCheckedThrowingContinuation { continuation in
            let mustDrain = inbox.withLock {
                $0.join(StoreWriter.request(durability, body) { continuation.resume(with: $0) })
            }
            if mustDrain { queue.async { self.drain() } }
        }
    }

    /// Runs `body` in a commit of its own, on the calling thread.
    func performNow<Value: Sendable>(
        _ durability: Durability, _ body: @escaping @Sendable (StoreEngine) throws -> Value
    ) throws(SyncError) -> Value {
        let result = engine.withLock { engine -> Result<Value, any Error>? in
            var result: Result<Value, any Error>?
            commit([StoreWriter.request(durability, body) { result = $0 }], engine)
            return result
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): throw error as? SyncError ?? SyncError(.internalError, "\(error)")
        case nil: throw SyncError(.internalError, "a commit ended without an answer")
        }
    }

    /// Makes everything written so far durable. Never runs on the caller's actor.
    @concurrent
    func flush() async throws(SyncError) {
        try log.makeDurable()
    }

    private static func request<Value>(
        _ durability: Durability, _ body: @escaping (StoreEngine) throws -> Value,
        _ complete: @escaping (Result<Value, any Error>) -> Void
    ) -> StoreRequest {
        var result: Result<Value, any Error>?
        return StoreRequest(durability: durability) { engine in
            let outcome = Result { try body(engine) }
            result = outcome
            if case .success = outcome { return true }
            return false
        } complete: { error in
            if let error { return complete(.failure(error)) }
            guard let result else { preconditionFailure("a request is completed after it ran") }
            complete(result)
        }
    }

    private func drain() {
        engine.withLock { engine in
            while true {
                let group = inbox.withLock { $0.takeOrEnd() }
                if group.isEmpty { return }
                commit(group, engine)
            }
        }
    }

    private func commit(_ group: [StoreRequest], _ engine: StoreEngine) {
        guard let commit = engine.commit(group, notingRows: observers.followsRows) else { return }
        publish(commit)
        for request in commit.requests { request.complete(nil) }
        makeRoom(engine)
    }

    /// Shows the state of a commit to readers and observers.
    private func publish(_ commit: StoreCommit) {
        observers.tell(commit) {
            published.withLock {
                $0 = Published(
                    state: .success(commit.reader), through: commit.through, totals: commit.totals,
                    declaration: commit.declaration)
            }
        }
    }

    // MARK: Other processes

    var isFollower: Bool { engine.withLock { $0.isFollower } }

    /// How often another process had written when this one resumed.
    var interruptions: Int { engine.withLock { $0.interruptions } }

    /// Reads what other processes wrote into a store that is followed. If another store is there, nothing can be read any
    /// more, and what was read is forgotten.
    func refresh() throws(SyncError) {
        do throws(SyncError) {
            try change { engine throws(SyncError) in try engine.refresh() }
        } catch {
            if error.code == .storeReplaced {
                try? close(error)
                end(error)
                observers.erase()
            }
            throw error
        }
    }

    /// Closes the log and releases its lock. Reads still work; writing is refused.
    func suspend() throws(SyncError) {
        let reason = SyncError(.suspended, "the store is suspended", hint: "Call `resume()` first.")
        try close(reason)
    }

    /// Opens the log again and loads what others wrote meanwhile.
    func resume(_ open: @Sendable () throws(SyncError) -> LogWriter) throws(SyncError) {
        try change { engine throws(SyncError) in
            guard engine.isSuspended else { return false }
            try engine.resume(try open())
            scheduler.withLock { $0.reset() }
            return true
        }
    }

    /// Runs `body` and, if it returns true, shows the state that it put in place of the one before.
    private func change(_ body: @Sendable (StoreEngine) throws(SyncError) -> Bool) throws(SyncError) {
        let result = engine.withLock { engine in
            Result { () throws(SyncError) in
                _ = try current.reader
                guard try body(engine) else { return }
                let projector = engine.projector
                projector.store.layers.cache.resize(to: cacheSize)
                let reader = projector.reader(of: projector.store.endCommit())
                publish(
                    StoreCommit(
                        reader: reader, through: projector.through,
                        totals: projector.totals, declaration: projector.declaration, requests: []))
            }
        }
        try result.get()
    }

    /// Closes the log, after the checkpoint that is being written.
    private func close(_ reason: SyncError) throws(SyncError) {
        while true {
            checkpoints.sync { if scheduler.withLock({ $0.isWriting }) { make() } }
            let isDone = engine.withLock { engine -> Result<Bool, SyncError> in
                install(engine)
                // A commit has begun another one.
                if scheduler.withLock({ $0.isWriting }) { return .success(false) }
                return Result { () throws(SyncError) in
                    try engine.close(reason)
                    return true
                }
            }
            if try isDone.get() { return }
        }
    }

    // MARK: Checkpoints

    private func step(_ engine: StoreEngine, hasWaited: Bool) -> CheckpointScheduler.Step {
        let projector = engine.projector
        let size = projector.store.layers.memorySize
        return scheduler.withLock {
            $0.step(
                size: size, isCovered: projector.store.layers.lastCovered >= projector.through, hasWaited: hasWaited)
        }
    }

    /// Sets the newest changes aside once they use much memory, and writes them as a run in the background.
    private func makeRoom(_ engine: StoreEngine) {
        guard let log = try? engine.log else { return }
        var hasWaited = false
        while true {
            switch step(engine, hasWaited: hasWaited) {
            case .nothing: return
            case .begin:
                begin(engine, log)
                return checkpoints.async { self.make() }
            case .install(let runs): install(runs, engine)
            case .retry: checkpoints.async { self.make() }
            case .wait:
                checkpoints.sync {}
                hasWaited = true
            }
        }
    }

    private func begin(_ engine: StoreEngine, _ log: LogWriter, isWhole: Bool = false) {
        let projector = engine.projector
        let retention = (try? engine.reader.retention) ?? .everything
        projector.store.rotate()
        publishLayers(engine)
        scheduler.withLock {
            $0.begin(
                CheckpointJob(
                    log: log, isWhole: isWhole, layers: projector.store.layers, through: projector.through,
                    totals: projector.totals, digest: projector.store.digest, retention: retention))
        }
    }

    private func make() {
        guard let job = scheduler.withLock({ $0.job }) else { return }
        let result = Result { () throws(SyncError) in try job.run() }
        scheduler.withLock { $0.end(result) }
        switch result {
        // If a commit is running, it installs the run at its end.
        case .success: _ = engine.withLockIfAvailable { install($0) }
        case .failure(let error): checkpointFailed(error)
        }
    }

    /// Replaces the input of a finished run by the run.
    private func install(_ engine: StoreEngine) {
        if let runs = scheduler.withLock({ $0.takeRuns() }) { install(runs, engine) }
    }

    private func install(_ runs: [Run], _ engine: StoreEngine) {
        engine.projector.store.install(runs)
        publishLayers(engine)
    }

    private func publishLayers(_ engine: StoreEngine) {
        let snapshot = engine.projector.store.endCommit()
        published.withLock { $0.state = .success(engine.projector.reader(of: snapshot)) }
    }

    /// Writes a checkpoint of the current state; with `isWhole`, in a single file.
    func checkpoint(isWhole: Bool = false) throws(SyncError) {
        let wanted = current.through
        while true {
            checkpoints.sync { make() }
            let (isDone, failure) = engine.withLock { engine -> (Bool, SyncError?) in
                let log: LogWriter
                do throws(SyncError) { log = try engine.log } catch { return (false, error) }
                install(engine)
                let layers = engine.projector.store.layers
                let isFit = !isWhole || layers.runs.count <= 1
                if layers.lastCovered >= wanted, isFit { return (true, nil) }
                if !layers.isFullSet { begin(engine, log, isWhole: isWhole) }
                return (false, scheduler.withLock { $0.failure })
            }
            if isDone { return }
            if let failure { throw failure }
        }
    }

    /// Makes everything durable, writes a checkpoint if opening would otherwise be slow, and closes the log. From then on
    /// there is nothing to read.
    func close() throws(SyncError) {
        if engine.withLock({ $0.projector.store.layers.memorySize }) > CheckpointScheduler.worthClosing {
            try? checkpoint()
        }
        let reason = SyncError(.closed, "the store was closed", hint: "Open it again.")
        defer { end(reason) }
        try close(reason)
    }

    /// Ends all reads.
    private func end(_ reason: SyncError) {
        published.withLock { $0.state = .failure(reason) }
        observers.finish()
    }
}

extension StateLayers {
    /// The last event that a checkpoint covers.
    fileprivate var lastCovered: UInt64 { runs.first?.file ?? 0 }
}
