// Reads everything again from the server: for a store that was rescued, or whose rows are doubted.

public import SynclineCore

/// How a resync went.
public struct ResyncReport: Sendable {
    /// How each pull went, in order. It ends early if no other pull could succeed.
    public var pulls: [(table: String, queryID: String?, report: PullReport)] = []

    /// The first reason for which a pull stopped; nil if everything was read.
    public var reason: SyncError? { pulls.lazy.compactMap(\.report.reason).first }

    /// The filter of a query as its cursor keeps it.
    fileprivate static func filter(_ query: String) throws(SyncError) -> Expression? {
        if query.isEmpty { return nil }
        guard let filter = try? Expression(parsing: query) else {
            throw SyncError(StateError.malformed("the query of a cursor"))
        }
        return filter
    }
}

extension SyncDatabase {
    /// Reads again what every query of the tables brings, and removes rows that are no longer there. What is pending stays,
    /// and conflicts do. A table without a query id is read whole. If it stops, the next pull of each query continues it.
    public func resync(
        _ tables: [String]? = nil, retries: Int = 3,
        progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws(SyncError) -> ResyncReport {
        for table in tables ?? [] { try checkDeclared(table) }
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

    /// Puts every query of the tables at its beginning, durably, and names what is to be pulled.
    private func beginAgain(
        _ tables: [String]?
    ) async throws(SyncError) -> [(table: String, queryID: String?, filter: Expression?)] {
        try await perform(.durable) { engine throws(SyncError) in
            let (cursors, known) = try inAppWords { () throws(StateError) in
                (try engine.reader.cursors(), try engine.reader.tablesOfServer())
            }
            var pulls: [(table: String, queryID: String?, filter: Expression?)] = []
            for cursor in cursors where tables?.contains(cursor.table) ?? true {
                let query = cursor.state.query
                let beginning = CursorState.beginning(of: query, now: engine.surroundings.now())
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
    /// The tables with rows that a server told of.
    fileprivate func tablesOfServer() throws(StateError) -> [String] {
        var found: [String] = []
        for table in try tables() {
            var isTold = false
            try forEachEntry(of: table) { _, entry throws(StateError) in isTold = isTold || entry.base != nil }
            if isTold { found.append(table) }
        }
        return found
    }
}
