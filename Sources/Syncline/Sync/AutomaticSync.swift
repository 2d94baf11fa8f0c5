// Automatic sync: starts rounds when the state machine says so, and reports the status.

public import Foundation
public import SynclineCore
import SynclineGround

/// Settings of automatic sync.
public struct AutomaticSyncSettings: Sendable {
    /// The settings of each round.
    public var sync: SyncSettings
    /// The delay between a change and a sync; nil to sync only at intervals.
    public var delay: Duration?
    /// The time from the end of a round to the next; nil for no interval.
    public var interval: Duration?
    /// Whether to listen to the server's change events, if it has them, so that changes arrive at once.
    public var listens: Bool

    /// Creates settings for a push, and incremental pulls of the given tables.
    public init(
        tables: [String] = [], delay: Duration? = .milliseconds(500), interval: Duration? = .seconds(60),
        listens: Bool = true
    ) {
        self.init(sync: SyncSettings(tables: tables), delay: delay, interval: interval, listens: listens)
    }

    /// Creates settings for custom rounds.
    public init(
        sync: SyncSettings, delay: Duration? = .milliseconds(500), interval: Duration? = .seconds(60),
        listens: Bool = true
    ) {
        self.sync = sync
        self.delay = delay
        self.interval = interval
        self.listens = listens
    }
}

/// The status of automatic sync.
public struct SyncStatus: Hashable, Sendable {
    /// What automatic sync is doing.
    public enum Phase: Hashable, Sendable {
        /// Waiting for a change or the next interval.
        case idle
        /// Sending pending operations.
        case pushing
        /// Fetching a table.
        case pulling(table: String)
        /// There is no network. The next attempt is at the given time.
        case offline(until: Date)
        /// A round failed. The next attempt is at the given time.
        case waiting(until: Date, SyncError)
        /// Stopped for good.
        case stopped
    }

    /// What automatic sync is doing.
    public var phase: Phase
    /// The number of changes not yet pushed.
    public var pending: Int
    /// The number of operations that await a decision by the app: conflicts, and operations the server refused.
    public var conflicts: Int
    /// The time of the last complete round.
    public var lastRound: Date?
}

/// Automatic sync of a store, until it is stopped or the store is closed. The store keeps a reference: see
/// ``SyncDatabase/automaticSync``.
public final class AutomaticSync: Sendable {
    private struct State {
        var status: SyncStatus
        var watchers: [Int: AsyncStream<SyncStatus>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state: Mutex<State>
    let settings: AutomaticSyncSettings
    let callers = WaitingCallers()
    private let inputs: AsyncStream<AutomaticLoop.Input>.Continuation
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let ended: @Sendable (AutomaticSync) -> Void
    private let report: @Sendable (SyncStatus) -> Void
    #if canImport(Network)
        private let network: NetworkWatch
    #endif

    fileprivate init(
        _ database: SyncDatabase, _ settings: AutomaticSyncSettings,
        ended: @escaping @Sendable (AutomaticSync) -> Void
    ) {
        self.ended = ended
        self.settings = settings
        let conflicts = ConflictCount()
        let (stream, inputs) = AsyncStream.makeStream(of: AutomaticLoop.Input.self)
        self.inputs = inputs
        report = { [configuration = database.configuration] in configuration.report($0) }
        #if canImport(Network)
            network = NetworkWatch { inputs.yield(.signal(.reconnected)) }
        #endif
        let status = SyncStatus(
            phase: .idle, pending: Int(clamping: database.totals.pending), conflicts: conflicts.count(database))
        state = Mutex(State(status: status))
        // The loop does not retain its owner.
        let tell: @Sendable (SyncStatus) -> Void = { [weak self] status in self?.tell(status) }
        let started = Task { [callers] in
            var loop = AutomaticLoop(database, settings, inputs, conflicts, callers, tell)
            await loop.run(stream)
        }
        task.withLock { $0 = started }
        inputs.yield(.signal(.requested))
    }

    /// The current status.
    public var status: SyncStatus { state.withLock { $0.status } }

    /// Returns a stream of the current status and each change of it. Only the latest status is buffered.
    public func statuses() -> AsyncStream<SyncStatus> {
        let (stream, continuation) = AsyncStream.makeStream(of: SyncStatus.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            continuation.yield(state.status)
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = continuation
            return state.nextWatcher
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.watchers.removeValue(forKey: number) }
        }
        return stream
    }

    /// Starts a round now, without waiting for the delay or interval.
    public func syncNow() { inputs.yield(.signal(.requested)) }

    /// Reports that the network is available again. On Apple platforms automatic sync notices it by itself.
    public func networkIsBack() { inputs.yield(.signal(.reconnected)) }

    /// Stops automatic sync, including a running round. No data is lost.
    @concurrent
    public func stop() async {
        #if canImport(Network)
            network.end()
        #endif
        let task = task.withLock { $0 }
        task?.cancel()
        inputs.finish()
        await task?.value
        callers.end()
        let watchers = state.withLock { state in
            state.status.phase = .stopped
            defer { state.watchers = [:] }
            for watcher in state.watchers.values { watcher.yield(state.status) }
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
        ended(self)
    }

    private func tell(_ status: SyncStatus) {
        let isNewPhase = state.withLock { state in
            guard state.status != status else { return false }
            defer { state.status = status }
            for watcher in state.watchers.values { watcher.yield(status) }
            return state.status.phase != status.phase
        }
        if isNewPhase { report(status) }
    }
}

extension AutomaticSync: BackgroundSync {}

extension SyncDatabase {
    /// Starts automatic sync: after changes, at intervals, and when the network returns. It runs until it is stopped
    /// or the store is closed, even if the result is not kept.
    ///
    /// A store has at most one: a second call throws `invalid-configuration` until the first was stopped. Conflicts
    /// are merged unless the settings say otherwise.
    @discardableResult
    public func startAutomaticSync(_ settings: AutomaticSyncSettings = .init()) throws(SyncError) -> AutomaticSync {
        try automatic.withLock { slot throws(SyncError) in
            try slot.checkOpen()
            guard case .free = slot else {
                throw SyncError(
                    .invalidConfiguration, "automatic sync is already running",
                    hint: "Use `automaticSync`, or stop it before you start it again.")
            }
            let sync = AutomaticSync(self, settings) { [weak self] sync in
                self?.automatic.withLock { $0.leave(sync) }
            }
            slot = .taken(sync)
            return sync
        }
    }

    /// The running automatic sync, or nil.
    public var automaticSync: AutomaticSync? {
        automatic.withLock { if case .taken(let sync) = $0 { sync as? AutomaticSync } else { nil } }
    }
}

/// Counts the operations that await a decision; counts again only if something has changed since the last time.
private final class ConflictCount: Sendable {
    private let known = Mutex<(event: UInt64, count: Int)?>(nil)

    func count(_ database: SyncDatabase) -> Int {
        let current = database.writer.current
        if let known = known.withLock({ $0 }), known.event == current.through { return known.count }
        let count = (try? current.reader.conflicts().count) ?? 0
        known.withLock { $0 = (current.through, count) }
        return count
    }
}

/// The loop of automatic sync: runs the actions of the state machines, and feeds their results back.
private struct AutomaticLoop {
    enum Input: Sendable {
        case signal(AutomaticMachine.Signal)
        /// The server announced changes.
        case told(ServerNews.Announcement)
        /// The server's event stream has ended, if there was one.
        case silent
        /// The wait is over without an event from the server.
        case rested
    }

    private let database: SyncDatabase
    private let settings: AutomaticSyncSettings
    private let inputs: AsyncStream<Input>.Continuation
    private let conflicts: ConflictCount
    private let callers: WaitingCallers
    private let tell: @Sendable (SyncStatus) -> Void
    private let environment: any SyncEnvironment
    private var machine: AutomaticMachine
    private var news = ServerNews()
    private var lastRound: Int64?
    /// Whether the present round pulls every table. Callers that wait are told only of such rounds.
    private var isWhole = true
    private var alarm: Task<Void, Never>?
    private var running: Task<Void, Never>?
    private var listening: Task<Void, Never>?

    init(
        _ database: SyncDatabase, _ settings: AutomaticSyncSettings, _ inputs: AsyncStream<Input>.Continuation,
        _ conflicts: ConflictCount, _ callers: WaitingCallers, _ tell: @escaping @Sendable (SyncStatus) -> Void
    ) {
        self.conflicts = conflicts
        self.callers = callers
        self.database = database
        self.settings = settings
        self.inputs = inputs
        self.tell = tell
        environment = database.configuration.environment
        machine = AutomaticMachine(
            delay: settings.delay?.milliseconds, interval: settings.interval?.milliseconds)
    }

    mutating func run(_ stream: AsyncStream<Input>) async {
        let changes = database.writer.observers.signals(of: .changes)
        let forwarding = Task { [inputs] in
            for await _ in changes { inputs.yield(.signal(.changed)) }
        }
        for await input in stream {
            if let signal = signal(of: input) { take(signal) }
            if Task.isCancelled { break }
        }
        let tasks = [forwarding, alarm, running, listening].compactMap(\.self)
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Returns the signal for the machine, if the event causes one.
    private mutating func signal(of input: Input) -> AutomaticMachine.Signal? {
        switch input {
        case .signal(let signal): return signal
        case .told(let announcement):
            // A running round may already be fetching it; this is checked when the round ends.
            let isRunning = machine.phase == .running
            let isKnown = !isRunning && isKnown(announcement)
            news.told(announcement, isKnown: isKnown)
            return isRunning || isKnown ? nil : .told
        case .silent:
            if let attempt = news.streamEnded() { listening = later(backoff(attempt), .rested) }
            return nil
        case .rested:
            news.rested()
            return .told
        }
    }

    private mutating func take(_ signal: AutomaticMachine.Signal) {
        let now = environment.milliseconds()
        if case .ended(let reason) = signal {
            if reason == nil { lastRound = now }
            // Before the next round begins, and so that a caller that asks for one finds this one over.
            if isWhole { callers.endRound(reason, database) }
        }
        switch machine.handle(signal, now: now, backoff: backoff) {
        case nil: break
        case .run?: begin(nil)
        case .fetch?: begin(news.waiting)
        case .alarm(let moment)?:
            alarm?.cancel()
            alarm = moment.map { later(max(0, $0 - now), .signal(.alarm)) }
        }
        if case .ended(nil) = signal {
            if let waiting = news.waiting, !isKnown(waiting) { inputs.yield(.signal(.told)) }
            if settings.listens, news.listen() { listening = Task { [self] in await listen() } }
        }
        show()
    }

    /// Begins a round of what was announced; nil for a whole one.
    private mutating func begin(_ announced: ServerNews.Announcement?) {
        alarm?.cancel()
        news.roundBegan()
        isWhole = announced?.tables == nil
        running = Task { [self] in inputs.yield(.signal(.ended(await round(announced)))) }
    }

    private func later(_ milliseconds: Int64, _ input: Input) -> Task<Void, Never> {
        Task { [environment, inputs] in
            guard (try? await environment.wait(for: .milliseconds(milliseconds))) != nil else { return }
            inputs.yield(input)
        }
    }

    private func backoff(_ attempt: Int) -> Int64 {
        Backoff.milliseconds(attempt: attempt, nil, now: environment.milliseconds(), chance: environment.chance())
    }

    /// Listens to the server's event stream.
    private func listen() async {
        if let channel = try? await database.channel(), channel.capabilities.contains(.events) {
            let tables = settings.sync.pulls?.map(\.table) ?? []
            await channel.listen(to: Set(tables).sorted()) { [inputs] news in inputs.yield(.told(news)) }
        }
        inputs.yield(.silent)
    }

    /// Returns whether all tables of an announcement have been read through its cursor.
    private func isKnown(_ announcement: ServerNews.Announcement) -> Bool {
        guard let pulls = settings.sync.pulls else { return false }
        return pulls.allSatisfy { pull in
            if !announcement.names(pull.table) { return true }
            guard let queryID = pull.settings.queryID else { return false }
            let known = try? database.reader.cursor(pull.table, queryID)
            return known?.position == announcement.cursor
        }
    }

    private func show() {
        switch machine.phase {
        case .running: break
        case .idle: show(.idle)
        case .waiting(let until, let error):
            let until = Date(milliseconds: until)
            show(error.code == .offline ? .offline(until: until) : .waiting(until: until, error))
        }
    }

    private func show(_ phase: SyncStatus.Phase) {
        tell(
            SyncStatus(
                phase: phase, pending: Int(clamping: database.totals.pending), conflicts: conflicts.count(database),
                lastRound: lastRound.map { Date(milliseconds: $0) }))
    }

    /// Runs a sync; returns the error that stopped it, or nil.
    private func round(_ announced: ServerNews.Announcement?) async -> SyncError? {
        do throws(SyncError) {
            var sync = settings.sync
            if let announced, !isWhole {
                sync.pulls = try sync.pulls(of: database).filter { announced.names($0.table) }
            }
            return try await database.sync(sync) { step in
                if isWhole { callers.take(step, database) }
                switch step {
                case .push: show(.pushing)
                case .pull(let table): show(.pulling(table: table))
                case .pushed, .pulls, .pulled: break
                }
            }.stop
        } catch {
            return error
        }
    }
}
