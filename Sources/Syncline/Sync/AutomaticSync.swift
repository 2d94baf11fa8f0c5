// Syncs a store by itself, as long as it is wanted: starts rounds when the machine says so, and tells how it stands.

import Synchronization
public import SynclineCore

/// What a store does by itself.
public struct AutomaticSyncSettings: Sendable {
    /// The tables to pull, in this order, and how.
    public var pulls: [(table: String, settings: PullSettings)] = []
    /// How it pushes.
    public var push = PushSettings()
    /// How long after a change it syncs, in milliseconds; nil to leave changes to the interval.
    public var delay: Int64? = 500
    /// How long after a round the next begins, in milliseconds; nil for none.
    public var interval: Int64? = 60_000
    /// Whether a server that can tell of changes is listened to, so that they come when they are made. On Apple platforms, where
    /// requests go through `URLSession`, nobody listens yet, and changes come with the interval.
    public var listens = true

    /// Incremental pulls of some tables.
    public init(tables: [String] = []) {
        pulls = tables.map { table in
            var settings = PullSettings()
            settings.queryID = "sync"
            return (table, settings)
        }
    }
}

/// How a store that syncs by itself stands.
public struct SyncStatus: Hashable, Sendable {
    /// What it is doing.
    public enum Phase: Hashable, Sendable {
        /// It waits for a change or the interval.
        case idle
        /// It sends what is pending.
        case pushing
        /// It fetches a table.
        case pulling(table: String)
        /// There is no network; it tries again at the moment given, in milliseconds since 1970.
        case offline(until: Int64)
        /// A round failed; it tries again at the moment given.
        case waiting(until: Int64, SyncError)
        /// It was stopped, and does nothing any more.
        case stopped
    }

    /// What it is doing.
    public var phase: Phase
    /// Changes that were not pushed.
    public var pending: UInt64
    /// When a round was last complete, in milliseconds since 1970.
    public var lastRound: Int64?
}

/// A store that syncs by itself until it is stopped.
public final class AutomaticSync: Sendable {
    private struct State {
        var status: SyncStatus
        var watchers: [Int: AsyncStream<SyncStatus>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state: Mutex<State>
    private let signals: AsyncStream<AutomaticMachine.Signal>.Continuation
    private let task: Task<Void, Never>

    fileprivate init(_ database: SyncDatabase, _ settings: AutomaticSyncSettings) {
        let (stream, signals) = AsyncStream.makeStream(of: AutomaticMachine.Signal.self)
        self.signals = signals
        state = Mutex(State(status: SyncStatus(phase: .idle, pending: database.totals.pending)))
        let box = WeakBox()
        task = Task {
            var loop = AutomaticLoop(database, settings, signals) { status in box.value?.tell(status) }
            await loop.run(stream)
        }
        box.value = self
        signals.yield(.requested)
    }

    /// How it stands.
    public var status: SyncStatus { state.withLock { $0.status } }

    /// How it stands, now and after each change; a slow reader misses what is over.
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

    /// Starts a round now, whatever was waited for.
    public func syncNow() { signals.yield(.requested) }

    /// Says that there is a network again.
    public func networkIsBack() { signals.yield(.reconnected) }

    /// Ends what is running and stays still. Nothing is lost.
    public func stop() async {
        task.cancel()
        signals.finish()
        await task.value
        let watchers = state.withLock { state in
            state.status.phase = .stopped
            defer { state.watchers = [:] }
            for watcher in state.watchers.values { watcher.yield(state.status) }
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    private func tell(_ status: SyncStatus) {
        state.withLock { state in
            guard state.status != status else { return }
            state.status = status
            for watcher in state.watchers.values { watcher.yield(status) }
        }
    }

    /// Lets the loop tell its owner without keeping it.
    private final class WeakBox: Sendable {
        private let held = Mutex<Weak>(Weak())

        private struct Weak {
            weak var value: AutomaticSync?
        }

        var value: AutomaticSync? {
            get { held.withLock { $0.value } }
            set { held.withLock { $0.value = newValue } }
        }
    }
}

extension SyncDatabase {
    /// Lets the store sync by itself: after changes, at intervals, and when it is told that there is a network. Off until
    /// it is called; the store is to be stopped before it is closed.
    public func startAutomaticSync(_ settings: AutomaticSyncSettings = .init()) -> AutomaticSync {
        AutomaticSync(self, settings)
    }
}

/// The loop behind it.
private struct AutomaticLoop {
    private let database: SyncDatabase
    private let settings: AutomaticSyncSettings
    private let signals: AsyncStream<AutomaticMachine.Signal>.Continuation
    private let tell: @Sendable (SyncStatus) -> Void
    private var machine: AutomaticMachine
    private var lastRound: Int64?

    init(
        _ database: SyncDatabase, _ settings: AutomaticSyncSettings,
        _ signals: AsyncStream<AutomaticMachine.Signal>.Continuation, _ tell: @escaping @Sendable (SyncStatus) -> Void
    ) {
        self.database = database
        self.settings = settings
        self.signals = signals
        self.tell = tell
        machine = AutomaticMachine(delay: settings.delay, interval: settings.interval)
    }

    mutating func run(_ stream: AsyncStream<AutomaticMachine.Signal>) async {
        let surroundings = database.configuration.surroundings
        let changes = database.writer.observers.changes()
        let forwarding = Task { [signals] in
            for await _ in changes { signals.yield(.changed) }
        }
        var alarm: Task<Void, Never>?
        var round: Task<Void, Never>?
        var listening: Task<Void, Never>?
        let news = ServerNews()
        var knownAtStart: String?
        for await signal in stream {
            let now = surroundings.now()
            // A round that runs may be bringing it; that is looked at when it ends.
            if signal == .told, machine.phase == .running || isKnown(news.latest) { continue }
            if case .ended(nil) = signal { lastRound = now }
            let chance = surroundings.chance()
            let action = machine.handle(signal, now: now) { failures in
                Backoff.milliseconds(attempt: failures, nil, now: now, chance: chance)
            }
            switch action {
            case nil: break
            case .run?:
                alarm?.cancel()
                knownAtStart = news.latest
                round = Task { [self] in signals.yield(.ended(await self.round())) }
            case .alarm(let moment)?:
                alarm?.cancel()
                alarm = moment.map { moment in
                    Task { [signals] in
                        guard (try? await surroundings.wait(milliseconds: max(0, moment - now))) != nil else { return }
                        signals.yield(.alarm)
                    }
                }
            }
            if case .ended(nil) = signal {
                let latest = news.latest
                if latest != knownAtStart, !isKnown(latest) { signals.yield(.told) }
                if settings.listens, news.begin() { listening = Task { [self] in await listen(news, surroundings) } }
            }
            show()
            if Task.isCancelled { break }
        }
        forwarding.cancel()
        alarm?.cancel()
        listening?.cancel()
        round?.cancel()
        await listening?.value
        await round?.value
    }

    // MARK: The server's news

    /// Hears the server out. When it falls silent, a round finds out whether it is there.
    private func listen(_ news: ServerNews, _ surroundings: any Surroundings) async {
        if let channel = try? await database.channel().0, channel.capabilities.contains(.events) {
            await channel.listen { [signals] cursor in
                news.tell(cursor)
                signals.yield(.told)
            }
            // Only a stream that was one is missed.
            if let attempt = news.silence(),
                (try? await surroundings.wait(
                    milliseconds: Backoff.milliseconds(
                        attempt: attempt, nil, now: surroundings.now(), chance: surroundings.chance()))) != nil
            {
                news.end()
                signals.yield(.requested)
            }
        }
        news.end()
    }

    /// Whether all tables were read as far as a cursor of the server's.
    private func isKnown(_ cursor: String?) -> Bool {
        guard let cursor else { return true }
        return settings.pulls.allSatisfy { pull in
            guard let queryID = pull.settings.queryID else { return false }
            let known = try? database.reader.cursor(pull.table, queryID)
            return known?.position == cursor
        }
    }

    private func show() {
        switch machine.phase {
        case .running: break
        case .idle: show(.idle)
        case .waiting(let until, let error):
            show(error.code == .offline ? .offline(until: until) : .waiting(until: until, error))
        }
    }

    private func show(_ phase: SyncStatus.Phase) {
        tell(SyncStatus(phase: phase, pending: database.totals.pending, lastRound: lastRound))
    }

    /// A push and the pulls; what stopped them.
    private func round() async -> SyncError? {
        do throws(SyncError) {
            show(.pushing)
            let pushed = try await database.push(settings.push)
            if case .stopped(let error) = pushed.outcome { return error }
            for pull in settings.pulls {
                show(.pulling(table: pull.table))
                if let reason = try await database.pull(pull.table, pull.settings).reason { return reason }
            }
            return nil
        } catch {
            return error
        }
    }
}

/// What a server told on its stream of events.
private final class ServerNews: Sendable {
    private struct State {
        var latest: String?
        var isListening = false
        var heard = 0
        /// How many streams in a row told nothing but where they began.
        var attempts = 0
    }

    private let state = Mutex(State())

    /// Where the order of changes stands on the server, as it told last.
    var latest: String? { state.withLock { $0.latest } }

    /// Whether to listen from now on: nobody does.
    func begin() -> Bool {
        state.withLock { state in
            if state.isListening { return false }
            (state.isListening, state.heard) = (true, 0)
            return true
        }
    }

    func tell(_ cursor: String) {
        state.withLock { state in
            state.latest = cursor
            state.heard += 1
        }
    }

    /// The stream has ended: how many in a row told nothing new. Nil if it told nothing at all.
    func silence() -> Int? {
        state.withLock { state in
            state.attempts = state.heard > 1 ? 1 : state.attempts + 1
            return state.heard > 0 ? state.attempts : nil
        }
    }

    func end() { state.withLock { $0.isListening = false } }
}
