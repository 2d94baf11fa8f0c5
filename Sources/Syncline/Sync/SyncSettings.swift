// A sync is a push followed by a pull of each table. Automatic sync runs one in each round.

public import SynclineCore

/// Settings of a sync.
public struct SyncSettings: Sendable {
    /// The settings of the push. By default conflicts are merged: edits of different columns are combined, as in a
    /// pull.
    public var push: PushSettings
    /// The tables to pull, in this order, with their settings; nil for all tables the store has when the sync
    /// begins.
    public var pulls: [(table: String, settings: PullSettings)]?

    /// Creates settings for incremental pulls of the given tables, or of all tables the store has.
    public init(tables: [String]? = nil, push: PushSettings = PushSettings(policy: .merge)) {
        self.push = push
        pulls = tables.map { $0.map(SyncSettings.pull) }
    }

    private static func pull(_ table: String) -> (table: String, settings: PullSettings) {
        (table, PullSettings(queryID: "sync"))
    }

    /// Returns the pulls to run, once the store's tables are known.
    func pulls(of database: SyncDatabase) throws(SyncError) -> [(table: String, settings: PullSettings)] {
        if let pulls { return pulls }
        return try database.read { reader throws(SyncError) in try reader.syncedTables() }.map { table in
            var pull = SyncSettings.pull(table)
            pull.settings.retries = push.retries
            return pull
        }
    }
}

extension SyncDatabase {
    /// Pushes pending operations, then pulls each table incrementally; all tables the store has if none are named.
    @concurrent
    public func sync(
        _ tables: [String]? = nil, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws(SyncError) -> SyncReport {
        try await sync(SyncSettings(tables: tables), progress: progress)
    }

    /// Pushes pending operations, then pulls each table.
    @concurrent
    public func sync(
        _ settings: SyncSettings, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws(SyncError) -> SyncReport {
        try await sync(settings, progress: progress) { _ in }
    }

    /// Runs a sync; `note` is called with each step.
    func sync(
        _ settings: SyncSettings, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in },
        note: (SyncStep) -> Void
    ) async throws(SyncError) -> SyncReport {
        for pull in settings.pulls ?? [] { try checkSynced(pull.table) }
        note(.push)
        var report = SyncReport(push: try await push(settings.push, progress: progress))
        note(.pushed(report.stop))
        if case .stopped(let reason) = report.push.outcome {
            if reason.code == .serverError { try await askWhetherServerWorks() }
            return report
        }
        // Changes that the app makes in the meantime are pushed before the pull of their table, with the same
        // settings.
        var pushing = settings.push
        pushing.tables = nil
        let pulls = try settings.pulls(of: self)
        note(.pulls(pulls.map(\.table)))
        for pull in pulls {
            note(.pull(table: pull.table))
            let pulled = try await self.pull(pull.table, pull.settings, pushing: pushing, progress: progress)
            report.pulls.append((pull.table, pulled))
            note(.pulled(table: pull.table, isComplete: pulled.reason == nil))
            if let reason = pulled.reason, reason.stopsEveryPull { break }
        }
        return report
    }
}

extension SyncError {
    /// Whether a pull of any other table would stop for the same reason.
    var stopsEveryPull: Bool { [.offline, .unauthorized, .otherUser, .cancelled].contains(code) }
}
