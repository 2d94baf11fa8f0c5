// Syncs a store by itself, as long as it is wanted: starts rounds when the machine says so, and tells how it stands.

import SegmentLog
import Synchronization
public import SynclineCore

/// What a store does by itself.
public struct AutomaticSyncSettings: Sendable {
    /// What a round does.
    public var sync: SyncSettings
    /// How long after a change it syncs, in milliseconds; nil to leave changes to the interval.
    public var delay: Int64? = 500
    /// How long after a round the next begins, in milliseconds; nil for none.
    public var interval: Int64? = 60_000
    /// Whether a server that can tell of changes is listened to, so that they come when they are made.
    public var listens = true

    /// Pushes, and incremental pulls of some tables.
    public init(tables: [String] = []) {
        sync = SyncSettings(tables: tables)
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
    /// Operations that wait for a decision of the app's: those in conflict, and those that the server refused.
    public var conflicts: Int
    /// When a round was last complete, in milliseconds since 1970.
    public var lastRound: Int64?
}

/// A store that syncs by itself until it is stopped or the store is closed. The store keeps it:
/// ``SyncDatabase/automaticSync`` finds it again.
public final class AutomaticSync: Sendable {
    private struct State {
        var status: SyncStatus
        var watchers: [Int: AsyncStream<SyncStatus>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state: Mutex<State>
    private let happenings: AsyncStream<AutomaticLoop.Happening>.Continuation
    private let task: Task<Void, Never>
    private let ended: @Sendable (AutomaticSync) -> Void

    fileprivate init(
        _ database: SyncDatabase, _ settings: AutomaticSyncSettings,
        ended: @escaping @Sendable (AutomaticSync) -> Void
    ) {
        self.ended = ended
        let conflicts = ConflictCount()
        let (stream, happenings) = AsyncStream.makeStream(of: AutomaticLoop.Happening.self)
        self.happenings = happenings
        let status = SyncStatus(
            phase: .idle, pending: database.totals.pending, conflicts: conflicts.count(database))
        state = Mutex(State(status: status))
        let box = WeakBox()
        task = Task {
            var loop = AutomaticLoop(database, settings, happenings, conflicts) { status in box.value?.tell(status) }
            await loop.run(stream)
        }
        box.value = self
        happenings.yield(.signal(.requested))
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
    public func syncNow() { happenings.yield(.signal(.requested)) }

    /// Says that there is a network again.
    public func networkIsBack() { happenings.yield(.signal(.reconnected)) }

    /// Ends what is running and stays still. Nothing is lost.
    public func stop() async {
        task.cancel()
        happenings.finish()
        await task.value
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

/// The place for the one automatic sync that a store may have.
enum AutomaticSlot: Sendable {
    case free
    case taken(AutomaticSync)
    /// The store was closed.
    case closed

    /// Closes the store to it; returns the one that is to be stopped.
    mutating func close() -> AutomaticSync? {
        defer { self = .closed }
        if case .taken(let sync) = self { return sync }
        return nil
    }

    mutating func leave(_ sync: AutomaticSync) {
        if case .taken(let current) = self, current === sync { self = .free }
    }

    func checkOpen() throws(SyncError) {
        if case .closed = self { throw SyncError(LogError(.closed, "the store was closed")) }
    }
}

extension SyncDatabase {
    /// Lets the store sync by itself: after changes, at intervals, and when it is told that there is a network. It does so
    /// until it is stopped or the store is closed, even if the result is not kept.
    ///
    /// A store has one at most: a second one is refused with `invalid-configuration` until the first was stopped. Conflicts
    /// are merged unless the settings say otherwise.
    @discardableResult
    public func startAutomaticSync(_ settings: AutomaticSyncSettings = .init()) throws(SyncError) -> AutomaticSync {
        try automatic.withLock { slot throws(SyncError) in
            try slot.checkOpen()
            guard case .free = slot else {
                throw SyncError(
                    .invalidConfiguration, "the store syncs by itself already",
                    hint: "Use `automaticSync`, or stop it before another is started.")
            }
            let sync = AutomaticSync(self, settings) { [weak self] sync in
                self?.automatic.withLock { $0.leave(sync) }
            }
            slot = .taken(sync)
            return sync
        }
    }

    /// The automatic sync that runs; nil if none does.
    public var automaticSync: AutomaticSync? {
        automatic.withLock { if case .taken(let sync) = $0 { sync } else { nil } }
    }
}

/// Counts the operations that wait for a decision; counts again only if something happened since the last time.
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

/// The loop behind it: it starts what the machines decide, and tells them what came of it.
private struct AutomaticLoop {
    enum Happening: Sendable {
        case signal(AutomaticMachine.Signal)
        /// The server told where its order of changes stands.
        case told(String)
        /// The server's stream of events has ended, if there was one.
        case silent
        /// Nobody listened for as long as was wanted.
        case rested
    }

    private let database: SyncDatabase
    private let settings: AutomaticSyncSettings
    private let happenings: AsyncStream<Happening>.Continuation
    private let conflicts: ConflictCount
    private let tell: @Sendable (SyncStatus) -> Void
    private let surroundings: any Surroundings
    private var machine: AutomaticMachine
    private var news = ServerNews()
    private var lastRound: Int64?
    private var alarm: Task<Void, Never>?
    private var running: Task<Void, Never>?
    private var listening: Task<Void, Never>?

    init(
        _ database: SyncDatabase, _ settings: AutomaticSyncSettings, _ happenings: AsyncStream<Happening>.Continuation,
        _ conflicts: ConflictCount, _ tell: @escaping @Sendable (SyncStatus) -> Void
    ) {
        self.conflicts = conflicts
        self.database = database
        self.settings = settings
        self.happenings = happenings
        self.tell = tell
        surroundings = database.configuration.surroundings
        machine = AutomaticMachine(delay: settings.delay, interval: settings.interval)
    }

    mutating func run(_ stream: AsyncStream<Happening>) async {
        let changes = database.writer.observers.changes()
        let forwarding = Task { [happenings] in
            for await _ in changes { happenings.yield(.signal(.changed)) }
        }
        for await happening in stream {
            if let signal = signal(of: happening) { take(signal) }
            if Task.isCancelled { break }
        }
        let tasks = [forwarding, alarm, running, listening].compactMap(\.self)
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// What the machine is to know of it, if anything.
    private mutating func signal(of happening: Happening) -> AutomaticMachine.Signal? {
        switch happening {
        case .signal(let signal): return signal
        case .told(let cursor):
            news.told(cursor)
            // A round that runs may be bringing it; that is looked at when it ends.
            return machine.phase == .running || isKnown(cursor) ? nil : .told
        case .silent:
            if let attempt = news.fellSilent() { listening = later(backoff(attempt), .rested) }
            return nil
        case .rested:
            news.rested()
            return .told
        }
    }

    private mutating func take(_ signal: AutomaticMachine.Signal) {
        let now = surroundings.now()
        switch machine.handle(signal, now: now, backoff: backoff) {
        case nil: break
        case .run?:
            alarm?.cancel()
            news.roundBegan()
            running = Task { [self] in happenings.yield(.signal(.ended(await round()))) }
        case .alarm(let moment)?:
            alarm?.cancel()
            alarm = moment.map { later(max(0, $0 - now), .signal(.alarm)) }
        }
        if case .ended(nil) = signal {
            lastRound = now
            if let cursor = news.toldMeanwhile, !isKnown(cursor) { happenings.yield(.signal(.told)) }
            if settings.listens, news.listen() { listening = Task { [self] in await listen() } }
        }
        show()
    }

    private func later(_ milliseconds: Int64, _ happening: Happening) -> Task<Void, Never> {
        Task { [surroundings, happenings] in
            guard (try? await surroundings.wait(milliseconds: milliseconds)) != nil else { return }
            happenings.yield(happening)
        }
    }

    private func backoff(_ attempt: Int) -> Int64 {
        Backoff.milliseconds(attempt: attempt, nil, now: surroundings.now(), chance: surroundings.chance())
    }

    /// Hears the server out.
    private func listen() async {
        if let channel = try? await database.channel().0, channel.capabilities.contains(.events) {
            await channel.listen { [happenings] cursor in happenings.yield(.told(cursor)) }
        }
        happenings.yield(.silent)
    }

    /// Whether all tables were read as far as a cursor of the server's.
    private func isKnown(_ cursor: String) -> Bool {
        guard let pulls = settings.sync.pulls else { return false }
        return pulls.allSatisfy { pull in
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
        tell(
            SyncStatus(
                phase: phase, pending: database.totals.pending, conflicts: conflicts.count(database),
                lastRound: lastRound))
    }

    /// A sync; what stopped it.
    private func round() async -> SyncError? {
        do throws(SyncError) {
            return try await database.sync(settings.sync) { step in
                switch step {
                case .push: show(.pushing)
                case .pull(let table): show(.pulling(table: table))
                }
            }.reason
        } catch {
            return error
        }
    }
}
