// Reads everything from the server again, for a store that was rescued or may be inconsistent.

public import SynclineCore

/// The result of a resync.
public struct ResyncReport: Sendable {
    /// The report of each pull, in order. The list ends early if the remaining pulls could not succeed.
    public var pulls: [(table: String, queryID: String?, report: PullReport)] = []

    /// The reason of the first pull that stopped; nil if everything was read.
    public var reason: SyncError? { pulls.lazy.compactMap(\.report.reason).first }

    /// Parses the filter of a query as its cursor stores it.
    fileprivate static func filter(_ query: String) throws(SyncError) -> FilterExpression? {
        if query.isEmpty { return nil }
        guard let filter = try? FilterExpression(parsing: query) else {
            throw SyncError.malformed("the query of a cursor")
        }
        return filter
    }
}

extension SyncDatabase {
    /// Pulls every query of the tables again from the beginning, and removes rows that the server no longer has.
    /// Pending operations and conflicts are kept. A table without a query id is read completely. If the resync
    /// stops, the next pull of each query continues it.
    @concurrent
    public func resync(
        _ tables: [String]? = nil, retries: Int = 3,
        progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws(SyncError) -> ResyncReport {
        for table in tables ?? [] { try checkSynced(table) }
        var report = ResyncReport()
        for (table, queryID, filter) in try await beginAgain(tables) {
            var settings = PullSettings()
            settings.queryID = queryID
            settings.filter = filter
            settings.reconciles = true
            settings.pushesFirst = false
            settings.retries = retries
            let pulled = try await pull(table, settings, progress: progress)
            report.pulls.append((table, queryID, pulled))
            if let reason = pulled.reason, reason.stopsEveryPull { break }
        }
        return report
    }

    /// Resets every query of the tables durably, and returns what to pull.
    private func beginAgain(
        _ tables: [String]?
    ) async throws(SyncError) -> [(table: String, queryID: String?, filter: FilterExpression?)] {
        try await perform(.durable) { engine throws(SyncError) in
            let (cursors, known) = (try engine.reader.cursors(), try engine.reader.tablesOfServer())
            var pulls: [(table: String, queryID: String?, filter: FilterExpression?)] = []
            for cursor in cursors where tables?.contains(cursor.table) ?? true {
                let query = cursor.state.query
                let beginning = CursorState.beginning(of: query, now: engine.environment.milliseconds())
                try engine.record(
                    .page(PulledPage(table: cursor.table, queryID: cursor.queryID, rows: [], cursor: beginning)))
                pulls.append((cursor.table, cursor.queryID, try ResyncReport.filter(query)))
            }
            for table in tables ?? known where !pulls.contains(where: { $0.table == table }) {
                pulls.append((table, nil, nil))
            }
            return pulls
        }
    }
}

extension StateReader {
    /// Returns the tables that have rows from the server.
    fileprivate func tablesOfServer() throws(SyncError) -> [String] {
        var found: [String] = []
        for table in try syncedTables() {
            var isTold = false
            try forEachEntry(of: table) { _, entry throws(SyncError) in isTold = isTold || entry.base != nil }
            if isTold { found.append(table) }
        }
        return found
    }
}
