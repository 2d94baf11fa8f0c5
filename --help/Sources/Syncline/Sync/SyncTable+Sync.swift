// Push and pull of one table of models.

public import SynclineCore

extension SyncTable {
    /// Sends the pending operations of this table, and reports on each.
    @concurrent
    public func push(
        policy: ConflictPolicy = .fail, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws(SyncError) -> PushReport {
        var settings = PushSettings()
        settings.tables = [name]
        settings.policy = policy
        return try await untyped.database.push(settings, progress: progress)
    }

    /// Fetches the rows that match a condition: `pull(id: "open") { !$0.complete }`.
    ///
    /// With an id, the pull is incremental: it fetches only what changed since the last pull with this id.
    @discardableResult
    public func pull(
        id queryID: String? = nil, _ condition: (Columns<Model>) -> Filter<Model>
    ) async throws(SyncError) -> PullReport {
        try await pull(id: queryID, where: Filter(condition))
    }

    /// Fetches the rows that match a condition, or all of them. With an id, the pull is incremental.
    @discardableResult
    @concurrent
    public func pull(
        id queryID: String? = nil, where filter: Filter<Model>? = nil, settings: PullSettings = .init(),
        progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws(SyncError) -> PullReport {
        var settings = settings
        if let queryID { settings.queryID = queryID }
        if let filter { settings.filter = try filter.expression }
        return try await untyped.database.pull(name, settings, progress: progress)
    }
}
