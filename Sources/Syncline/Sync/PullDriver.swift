// Does what the pull machine says: asks, stores each page with its cursor in one event, and counts what it brought.

import SegmentLog
import SynclineCore

struct PullDriver {
    let database: SyncDatabase
    let channel: ServerChannel
    let progress: @Sendable (SyncProgress) -> Void

    func run(_ query: PullQuery, retries: Int, reconciles: Bool) async throws(SyncError) -> PullReport {
        var machine = try PullMachine(query, from: cursor(query), retries: retries)
        var report = PullReport()
        var action = await converse(&machine, machine.start())
        while case .store(let rows, let cursor) = action {
            try await store(rows.map(\.pulled), query, cursor, isAudit: false, &report)
            progress(.pulling(table: query.table, received: machine.received, total: machine.total))
            action = await converse(&machine, machine.stored())
        }
        report.requests = machine.requests
        report.received = machine.received
        report.reason = machine.stop
        if reconciles, machine.stop == nil { try await reconcile(query, retries: retries, &report) }
        return report
    }

    /// Does what a machine wants of the server until it wants something else.
    private func converse(_ machine: inout some ListReading, _ first: ListAction) async -> ListAction {
        var action = first
        while true {
            switch action {
            case .ask(let request):
                do throws(NetworkFailure) {
                    action = machine.handle(try await channel.send(.list(request)))
                } catch {
                    action = machine.fail(PushMachine.error(of: error))
                }
            case .wait(let attempt, let after):
                let isOver = await database.wait(attempt: attempt, after)
                action = isOver ? machine.ask() : machine.fail(PushMachine.error(of: .cancelled))
            case .refreshCredentials:
                action = await channel.renewToken() ? machine.ask() : machine.fail(PushMachine.unauthorized(nil))
            case .store, .finish: return action
            }
        }
    }

    /// Where the query stands; throws if it is another than the one its id stands for.
    func cursor(_ query: PullQuery) throws(SyncError) -> CursorState? {
        guard let queryID = query.queryID else { return nil }
        let known = try inAppWords { () throws(StateError) in try database.reader.cursor(query.table, queryID) }
        if let known, known.query != (try query.canonicalText) {
            throw SyncError(
                .queryChanged, "the query id \"\(queryID)\" stands for another query of \(query.table)",
                hint: "Use another query id, or reset the cursor to start anew.")
        }
        return known
    }

    /// One event: what is new in the page, and the cursor. Rows that are known cost nothing.
    private func store(
        _ rows: [PulledRow], _ query: PullQuery, _ cursor: CursorState?, isAudit: Bool, _ report: inout PullReport
    ) async throws(SyncError) {
        let effect = try await database.perform(.durable) { engine throws(SyncError) in
            var moved = cursor
            if let queryID = query.queryID, let cursor {
                var known = try inAppWords { () throws(StateError) in
                    try engine.reader.cursor(query.table, queryID)
                }
                known?.updated = 0
                if known == cursor { moved = nil }
            }
            moved?.updated = engine.surroundings.now()
            return try engine.record(
                page: PulledPage(
                    table: query.table, queryID: query.queryID, rows: rows, cursor: moved, isAudit: isAudit))
        }
        report.changed += effect.changed
        report.deleted += effect.deleted
        report.conflicts += effect.conflicts
    }

    private func reconcile(_ query: PullQuery, retries: Int, _ report: inout PullReport) async throws(SyncError) {
        var machine = AuditMachine(query, retries: retries)
        _ = await converse(&machine, machine.ask())
        report.requests += machine.requests
        report.reason = machine.stop
        guard machine.stop == nil else { return }
        let found = machine.ids
        let gone = try inAppWords { () throws(StateError) in
            try Audit(database.reader, query, found: found).gone
        }
        for part in stride(from: 0, to: gone.count, by: 1000) {
            let rows = gone[part..<min(part + 1000, gone.count)].map { PulledRow(id: $0, row: nil) }
            try await store(rows, query, nil, isAudit: true, &report)
        }
    }
}
