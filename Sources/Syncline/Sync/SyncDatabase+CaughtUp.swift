// Waits until automatic sync has sent what the caller changed and fetched what the server had.

public import SynclineCore
import SynclineGround

extension SyncDatabase {
    /// Returns when automatic sync has sent every change that was made before the call, and has pulled what the server
    /// had at the time of the call. A round begins at once; nothing is polled.
    ///
    /// In detail, it returns when both of these hold:
    /// * No change that an event through ``lastEvent`` at the call made is in the outbox: the server confirmed it, or it
    ///   was undone, dropped or replaced by a decision. Changes made later are not waited for, except if they share an
    ///   operation with one of these.
    /// * Each pull of the tables that began after the call is complete. Without tables, these are all that automatic sync
    ///   pulls; with an empty list, none.
    ///
    /// It waits while there is no network. It throws
    /// * `push-incomplete` if a push that began after the call left one of the changes: it is in conflict, refused or
    ///   held, or the push's settings leave its table out. The error has the row's address; ``issues()`` says more.
    /// * the error that stopped a round that began after the call, such as `unauthorized`. Automatic sync tries again;
    ///   the caller may, too.
    /// * `invalid-configuration` if automatic sync is not running, is stopped meanwhile, or does not pull one of the
    ///   tables.
    /// * `closed` if the store is closed meanwhile, and `cancelled` if the task is cancelled. Automatic sync is not
    ///   affected by that.
    @concurrent
    public func caughtUp(including tables: [String]? = nil) async throws(SyncError) {
        try automatic.withLock { slot throws(SyncError) in try slot.checkOpen() }
        _ = try writer.log
        for table in tables ?? [] { try checkSynced(table) }
        guard let sync = automaticSync else { throw .notSyncing("automatic sync is not running") }
        if let pulled = sync.settings.sync.pulls?.map(\.table).exact {
            if let other = tables?.first(where: { !pulled.contains(ExactString($0)) }) { throw .notPulled(other) }
        }
        switch await sync.callers.wait(self, tables, begin: sync.syncNow) {
        case .known(.caughtUp): return
        case .known(.left(let event)): throw try left(through: event)
        case .known(.notPulled(let table)): throw .notPulled(table)
        case .known(.stopped(let reason)): throw reason
        case .cancelled: throw SyncError(of: .cancelled)
        case .over:
            try automatic.withLock { slot throws(SyncError) in try slot.checkOpen() }
            throw .notSyncing("automatic sync was stopped")
        }
    }

    /// Says which change was left by a push.
    private func left(through event: EventNumber) throws(SyncError) -> SyncError {
        var left: PlannedOperation?
        try PushPlan.forEachOperation(try reader) { operation in
            if operation.events.lowerBound <= event { left = operation }
            return left == nil
        }
        let address = left.map { "\($0.table)/\($0.id)" }
        let row = address ?? "a row"
        let sentence =
            switch left?.state {
            case .conflict?, .parked?: "the change of \(row) awaits a decision"
            case .held?: "\(row) is held"
            case .pending?, .inFlight?, nil: "the change of \(row) was not sent"
            }
        return SyncError(
            .pushIncomplete, sentence, hint: "`issues` says what can be done about it.", address: address)
    }
}

extension SyncError {
    fileprivate static func notSyncing(_ sentence: String) -> SyncError {
        SyncError(
            .invalidConfiguration, sentence,
            hint: "Start it with `startAutomaticSync`, or use `sync`, which returns when it is done.")
    }

    fileprivate static func notPulled(_ table: String) -> SyncError {
        SyncError(
            .invalidConfiguration, "automatic sync does not pull \(table)",
            hint: "Name the table in the settings of `startAutomaticSync`.")
    }
}

/// The callers that wait for automatic sync.
final class WaitingCallers: Sendable {
    /// Why a caller waits no longer.
    enum End: Sendable {
        case known(CatchUp.Outcome)
        case cancelled
        /// Automatic sync was stopped.
        case over
    }

    private struct State: Sendable {
        var machine = CatchUp()
        var waiting: [Int: CheckedContinuation<End, Never>] = [:]
        var calls = 0
        var isOver = false
    }

    private let state = Mutex(State())

    /// Returns when the caller need not wait any longer.
    /// - Parameter begin: Begins a round.
    func wait(_ database: SyncDatabase, _ tables: [String]?, begin: () -> Void) async -> End {
        let current = database.writer.current
        let outbox = OutboxEdge(current)
        let call = state.withLock { state in
            state.calls += 1
            return state.calls
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known: End? = state.withLock { state in
                    if state.isOver { return .over }
                    if Task.isCancelled { return .cancelled }
                    guard state.machine.add(call, through: current.through, tables: tables, outbox) else {
                        return .known(.caughtUp)
                    }
                    state.waiting[call] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) } else { begin() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.machine.remove(call)
                return state.waiting.removeValue(forKey: call)
            }
            continuation?.resume(returning: .cancelled)
        }
    }

    func take(_ step: SyncStep, _ database: SyncDatabase) {
        let outbox = OutboxEdge(database.writer.current)
        resume { $0.take(step, outbox) }
    }

    func endRound(_ reason: SyncError?, _ database: SyncDatabase) {
        let outbox = OutboxEdge(database.writer.current)
        resume { $0.endRound(reason, outbox) }
    }

    private func resume(_ outcomes: (inout CatchUp) -> [(caller: Int, outcome: CatchUp.Outcome)]) {
        let done = state.withLock { state in
            outcomes(&state.machine).compactMap { caller, outcome in
                state.waiting.removeValue(forKey: caller).map { ($0, outcome) }
            }
        }
        for (continuation, outcome) in done { continuation.resume(returning: .known(outcome)) }
    }

    /// How many wait.
    var count: Int { state.withLock { $0.waiting.count } }

    /// Automatic sync was stopped.
    func end() {
        let all = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in all { continuation.resume(returning: .over) }
    }
}

extension OutboxEdge {
    fileprivate init(_ current: StoreWriter.Published) {
        // If the state can't be read, nothing is known to be confirmed.
        let oldest = Result { () throws(SyncError) in try current.reader.oldestPending }
        switch oldest {
        case .success(let oldest): self.init(through: current.through, oldest: oldest)
        case .failure: self.init(through: 0, oldest: 0)
        }
    }
}
