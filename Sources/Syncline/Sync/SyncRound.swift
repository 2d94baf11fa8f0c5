// A push, then a pull of each table: what an app does when it wants to be up to date, and what automatic sync does in each
// of its rounds.

public import SynclineCore

/// What a sync does.
public struct SyncSettings: Sendable {
    /// How it pushes. Conflicts are merged: edits of different columns meet without a question, as they do in a pull.
    public var push = PushSettings()
    /// The tables to pull, in this order, and how; nil for all that the store knows when the sync begins.
    public var pulls: [(table: String, settings: PullSettings)]?

    /// Incremental pulls of some tables, or of all that the store knows.
    public init(tables: [String]? = nil) {
        push.policy = .merge
        pulls = tables.map { $0.map(SyncSettings.pull) }
    }

    private static func pull(_ table: String) -> (table: String, settings: PullSettings) {
        var settings = PullSettings()
        settings.queryID = "sync"
        return (table, settings)
    }

    /// The pulls, once it is known which tables the store has.
    func pulls(of database: SyncDatabase) async throws(SyncError) -> [(table: String, settings: PullSettings)] {
        if let pulls { return pulls }
        return try await database.tables().map { table in
            var pull = SyncSettings.pull(table)
            pull.settings.retries = push.retries
            return pull
        }
    }
}

/// How a sync went.
public struct SyncReport: Sendable {
    /// How the push went.
    public var push: PushReport
    /// How each pull went, in order. It ends early if the push stopped, or if no other pull could succeed.
    public var pulls: [(table: String, report: PullReport)] = []

    /// Why it stopped, or the first pull that did; nil if everything went through. Operations that wait for a decision are
    /// in the push's report.
    public var reason: SyncError? {
        if case .stopped(let error) = push.outcome { return error }
        return pulls.lazy.compactMap(\.report.reason).first
    }
}

/// What a sync begins with next.
enum SyncStep: Hashable, Sendable {
    case push
    case pull(table: String)
}

extension SyncDatabase {
    /// Pushes what is pending, then pulls each table incrementally; all tables that the store knows if none are named.
    public func sync(
        _ tables: [String]? = nil, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws(SyncError) -> SyncReport {
        try await sync(SyncSettings(tables: tables), progress: progress)
    }

    /// Pushes what is pending, then pulls each table.
    public func sync(
        _ settings: SyncSettings, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws(SyncError) -> SyncReport {
        try await sync(settings, progress: progress) { _ in }
    }

    /// The same; `begins` is told of each step.
    func sync(
        _ settings: SyncSettings, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in },
        begins: (SyncStep) -> Void
    ) async throws(SyncError) -> SyncReport {
        begins(.push)
        var report = SyncReport(push: try await push(settings.push, progress: progress))
        if case .stopped(let reason) = report.push.outcome {
            if reason.code == .serverError { try await askWhetherServerWorks() }
            return report
        }
        // What the app changes meanwhile is pushed before the pull of its table, and by the same rules.
        var pushing = settings.push
        pushing.tables = nil
        for pull in try await settings.pulls(of: self) {
            begins(.pull(table: pull.table))
            let pulled = try await self.pull(pull.table, pull.settings, pushing: pushing, progress: progress)
            report.pulls.append((pull.table, pulled))
            if let reason = pulled.reason, reason.stopsEveryPull { break }
        }
        return report
    }
}

extension SyncError {
    /// Whether the pull of another table would stop for the same reason.
    var stopsEveryPull: Bool { [.offline, .unauthorized, .cancelled].contains(code) }
}
