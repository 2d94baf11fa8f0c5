// Push, pull, and deciding conflicts.

import SegmentLog
public import SynclineCore
import SynclineGround
import SynclineWire

/// Settings of a pull.
public struct PullSettings: Sendable {
    /// Makes the pull incremental: only rows that changed since the last pull with this id.
    public var queryID: String?
    /// Which rows to pull; nil for all.
    public var filter: FilterExpression?
    /// The sort order, for pulls without a query id.
    public var order: [RowQuery.Key]
    /// The maximum number of rows; nil for all.
    public var top: Int?
    /// The number of rows to skip.
    public var skip: Int
    /// The number of rows requested per page; nil for the protocol's default, or 1000 if the server has a changes
    /// feed.
    public var pageSize: Int?
    /// How far before its cursor an incremental pull starts, for servers that commit late.
    public var overlap: Duration
    /// Whether to remove local rows that the pull no longer finds: rows that were hard-deleted or left the filter.
    public var reconciles: Bool
    /// Whether pending operations are pushed first.
    public var pushesFirst: Bool
    /// How often a request is retried if the server is busy or failing.
    public var retries: Int

    /// Creates settings. Omitted ones have their defaults.
    public init(
        queryID: String? = nil, filter: FilterExpression? = nil, order: [RowQuery.Key] = [], top: Int? = nil,
        skip: Int = 0, pageSize: Int? = nil, overlap: Duration = .zero, reconciles: Bool = false,
        pushesFirst: Bool = true, retries: Int = 3
    ) {
        self.queryID = queryID
        self.filter = filter
        self.order = order
        self.top = top
        self.skip = skip
        self.pageSize = pageSize
        self.overlap = overlap
        self.reconciles = reconciles
        self.pushesFirst = pushesFirst
        self.retries = retries
    }
}

extension SyncDatabase {
    /// Sends the operations that were pending when it began, and reports on each.
    @concurrent
    public func push(
        _ settings: PushSettings = .init(), progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws(SyncError) -> PushReport {
        for table in settings.tables ?? [] { try checkSynced(table) }
        let channel = try await channel()
        guard await syncLock.lock() else { return PushReport(.stopped(SyncError(of: .cancelled)), []) }
        defer { syncLock.unlock() }
        return try await pushNow(settings, channel, progress)
    }

    private func pushNow(
        _ settings: PushSettings, _ channel: ServerChannel, _ progress: @escaping @Sendable (SyncProgress) -> Void
    ) async throws(SyncError) -> PushReport {
        let interruptions = writer.interruptions
        try await dropVoids(settings.tables)
        let plan = try await pending().filter { settings.tables?.contains($0.table) ?? true }
        var settings = settings
        settings.takesBatches = channel.capabilities.contains(.batch)
        let driver = PushDriver(database: self, channel: channel, interruptions: interruptions, progress: progress)
        let report = try await driver.run(plan, settings)
        await takeInAgain()
        self.report(report)
        return report
    }

    /// Returns what a push would send, without sending it. Does not predict a rebase by a conflict policy.
    @concurrent
    public func pushPreview(_ settings: PushSettings = .init()) async throws(SyncError) -> PushPreview {
        for table in settings.tables ?? [] { try checkSynced(table) }
        return try PushPreview(try reader, tables: settings.tables, rowsOnTheirWay: rowsOnTheirWay)
    }

    /// Removes operations without any remaining effect from the outbox.
    private func dropVoids(_ tables: Set<String>?) async throws(SyncError) {
        let voids = try read { reader throws(SyncError) in
            var voids: [(row: RowKey, key: [UInt8])] = []
            for void in try PushPlan(reader).voids {
                let row = try RowKey(malformed: void.rowKey)
                if tables?.contains(row.table) ?? true { voids.append((row, void.rowKey)) }
            }
            return voids
        }
        if voids.isEmpty { return }
        try await perform(.durable) { engine throws(SyncError) in
            var dropped: [SentOperation] = []
            for (row, key) in voids {
                let entry = try engine.reader.entry(key: key)
                guard let pending = entry?.pending, pending.operation == nil, pending.frozen == nil else { continue }
                dropped.append(
                    SentOperation(
                        table: row.table, id: entry?.spelling ?? row.id, operationID: nil, position: pending.first,
                        through: pending.last))
            }
            if !dropped.isEmpty { try engine.record(.sent(dropped)) }
        }
    }

    /// Fetches changed rows from the server into a table.
    @concurrent
    public func pull(
        _ table: String, _ settings: PullSettings = .init(),
        progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws(SyncError) -> PullReport {
        var pushing = PushSettings()
        pushing.retries = settings.retries
        return try await pull(table, settings, pushing: pushing, progress: progress)
    }

    /// Pulls a table; `pushing` has the settings for pushing pending operations first.
    func pull(
        _ table: String, _ settings: PullSettings, pushing: PushSettings,
        progress: @escaping @Sendable (SyncProgress) -> Void
    ) async throws(SyncError) -> PullReport {
        try checkSynced(table)
        let channel = try await channel()
        var query = PullQuery(table: table)
        query.queryID = settings.queryID
        query.filter = settings.filter
        query.order = settings.order
        query.top = settings.top
        query.skip = settings.skip
        query.pageSize = settings.pageSize ?? (channel.server == .zumo2 ? 50 : 100)
        query.changesPageSize = settings.pageSize ?? query.changesPageSize
        query.overlap = settings.overlap.milliseconds
        let types = try read { reader throws(SyncError) in try reader.types(of: table) }
        try query.prepare(for: channel.server, types)
        var driver = PullDriver(
            database: self, channel: channel, retries: settings.retries, reconciles: settings.reconciles,
            progress: progress)
        _ = try driver.cursor(query)
        var report = PullReport()
        report.reason = SyncError(of: .cancelled)
        guard await syncLock.lock() else { return report }
        defer { syncLock.unlock() }
        do throws(SyncError) {
            try await admit(try await channel.currentToken())
        } catch {
            report.reason = error
            return report
        }
        if settings.pushesFirst, try await pending().contains(where: { $0.table == table && $0.isToBeSent }) {
            let pushed = try await pushNow(pushing, channel, progress)
            if case .stopped(let error) = pushed.outcome {
                report.reason = error
                return report
            }
        }
        driver.interruptions = writer.interruptions
        report = try await driver.run(query)
        self.report(report, table)
        return report
    }

    // MARK: Decisions

    /// Returns the operations that await a decision, in plan order.
    @concurrent
    public func conflicts() async throws(SyncError) -> [Conflict] {
        try read { reader throws(SyncError) in try reader.conflicts() }
    }

    /// Returns the rows that the server sent and that can't be read, by table and id. Each is listed until it comes
    /// readable or deleted, or its table is purged; one without an id, until a pull of the whole table does not receive it.
    @concurrent
    public func unreadableRows() async throws(SyncError) -> [UnreadableRow] {
        try read { reader throws(SyncError) in try reader.unreadableRows() }
    }

    /// Decides a conflict or a parked operation.
    @concurrent
    public func resolve(table: String, id: String, _ decision: ConflictDecision) async throws(SyncError) {
        try await resolve(table: table, id: id, decision, shown: nil)
    }

    /// Decides what was shown as an issue, if it is still so.
    func resolve(
        table: String, id: String, _ decision: ConflictDecision, shown issue: SyncIssue?
    ) async throws(SyncError) {
        try await perform { engine throws(SyncError) in
            try engine.projector.check(table: table)
            if let issue { try engine.reader.check(issue) }
            let types = engine.projector.state.types[table]
            var decision = decision
            if case .row(let row, let kind) = decision {
                try engine.projector.check(columnsOf: row, in: table)
                let seen = try engine.reader.row(table, id)?.columns
                decision = .row(try types.stored(row, over: seen, "\(table)/\(id)"), as: kind)
            }
            let entry = try engine.reader.entry(table, id)
            guard let entry, let frozen = entry.pending?.frozen,
                let conflict = Conflict(table: table, id: entry.spelling ?? id, frozen, types)
            else {
                throw SyncError(
                    .operationNotFound, "no operation on \(table)/\(id) waits for a decision",
                    hint: "`conflicts` lists those that wait.")
            }
            guard let resolution = try conflict.resolution(decision, hasBase: entry.base != nil) else { return }
            try engine.record(.resolved(resolution))
        }
        await takeInAgain()
        // What remains of it must be sent.
        writer.observers.notifyOfDecision()
    }

    // MARK: The server

    /// Where the requests and responses are recorded, since the store was opened.
    package var recording: TrafficRecording? { configuration.recording }

    /// The server's capabilities, according to its latest response to this process.
    package var knownOfServer: ServerCapabilities {
        link.withLock { $0?.capabilities ?? configuration.knownOfServer }
    }

    /// Returns the connection to the server.
    func channel() async throws(SyncError) -> ServerChannel {
        try automatic.withLock { slot throws(SyncError) in try slot.checkOpen() }
        // Only the process that writes the log talks to the server, so that it can record the answers.
        _ = try writer.log
        try reader.checkNotBranch()
        let speaks = try read { reader throws(SyncError) in try reader.serverProtocol }
        if let known = link.withLock({ $0 }), known.server == speaks { return known }
        let limits = try await networkLimits()
        var transport: any HTTPTransport
        if let given = configuration.transport {
            transport = given
        } else {
            var url = configuration.backend
            if url == nil, case .string(let stored)? = try await setting("backend") { url = stored }
            guard let url else {
                throw SyncError(
                    .invalidConfiguration, "the store has no backend",
                    hint: Hint.backend)
            }
            transport = try makeTransport(baseURL: url, limits: limits.transport)
        }
        if let report = configuration.diagnostics { transport = ReportingTransport(inner: transport, report: report) }
        if let recording = configuration.recording { transport = recording.transport(over: transport) }
        let channel = ServerChannel(
            transport, speaks, configuration.credentials, limits: limits, names: NameTranslation(declaration),
            capabilities: configuration.knownOfServer
        ) { [weak self] token throws(SyncError) in try await self?.admit(token) }
        link.withLock { $0 = channel }
        return channel
    }

    /// Returns the app's limits, or else the store's setting, or else the defaults.
    private func networkLimits() async throws(SyncError) -> NetworkLimits {
        if let given = configuration.limits { return given }
        guard let stored = try await setting("limits"), !stored.isNull else { return NetworkLimits() }
        return try NetworkLimits(stored)
    }

    /// Waits before a retry; returns false if the task was cancelled.
    func wait(attempt: Int, _ after: ServerReply.RetryAfter?, _ limits: NetworkLimits) async -> Bool {
        let environment = configuration.environment
        let milliseconds = Backoff.milliseconds(
            attempt: attempt, after, limit: limits.longestWait.milliseconds, now: environment.milliseconds(),
            chance: environment.chance())
        do {
            if milliseconds > 0 { try await environment.wait(for: .milliseconds(milliseconds)) }
            return !Task.isCancelled
        } catch {
            return false
        }
    }
}

extension PlannedOperation {
    /// Whether a push would send it.
    var isToBeSent: Bool { state == .pending || state == .inFlight }
}
