// Runs the actions of the pull machine: sends requests, stores each page with its cursor in one event, and counts
// rows. Each page is written before the next one is requested; everything is durable when the pull ends.

import SegmentLog
import SynclineCore
import SynclineGround

struct PullDriver {
    let database: SyncDatabase
    let channel: ServerChannel
    let retries: Int
    let reconciles: Bool
    /// The interruptions of the store when the pull began.
    var interruptions = 0
    let progress: @Sendable (SyncProgress) -> Void

    func run(_ query: PullQuery) async throws(SyncError) -> PullReport {
        let report: PullReport
        do throws(SyncError) {
            report = try await read(query)
        } catch {
            // The pages before the one that could not be stored are kept.
            try? await database.writer.flush()
            throw error
        }
        if report.reason == nil { try await database.noteThatServerWorks() }
        // One sync for all pages. Pages lost to a power failure are requested again, because their cursors are lost
        // with them.
        try await database.writer.flush()
        return report
    }

    private func read(_ query: PullQuery) async throws(SyncError) -> PullReport {
        let cursor = try cursor(query)
        var report = PullReport()
        if query.mayGoByChanges, cursor?.change != nil || channel.capabilities.contains(.changes) {
            if try await readChanges(query, from: cursor, &report) { return report }
            // A different server, without a changes feed: nothing known about the old one applies.
            if try await readByTime(query, from: nil, reconciles: reconciles || cursor != nil, &report) {
                return report
            }
        } else {
            if try await readByTime(query, from: cursor, reconciles: reconciles, &report) { return report }
            if try await readChanges(query, from: cursor, &report) { return report }
        }
        report.reason = SyncError(
            .serverError, "the server advertised the changes feed, then stopped; the pull was abandoned",
            hint: "Pull again. If it happens again, servers of different versions share one address.")
        return report
    }

    /// Returns false if the server turned out to have a changes feed; then nothing was read.
    private func readByTime(
        _ query: PullQuery, from cursor: CursorState?, reconciles: Bool, _ report: inout PullReport
    ) async throws(SyncError) -> Bool {
        var machine = try PullMachine(query, from: cursor, retries: retries)
        var unseen: Set<ExactString> = []
        guard try await read(&machine, query, &report, &unseen) else { return false }
        if reconciles, report.reason == nil { try await reconcile(query, clearing: nil, &report) }
        return true
    }

    /// Returns false if the server turned out to have no changes feed; then nothing was read.
    private func readChanges(
        _ query: PullQuery, from cursor: CursorState?, _ report: inout PullReport
    ) async throws(SyncError) -> Bool {
        var machine = try ChangesMachine(query, from: cursor, retries: retries)
        var unseen = cursor == nil && query.queryID != nil ? try ownRows(query) : []
        guard try await read(&machine, query, &report, &unseen) else { return false }
        guard report.reason == nil else { return true }
        let stored = unseen.isEmpty ? machine.cursor : machine.cursor?.auditDue
        if reconciles || machine.isAuditDue {
            try await reconcile(query, clearing: stored, &report)
        } else if !unseen.isEmpty {
            try await remove([], asking: unseen.map(\.text).sorted(), query, clearing: stored, &report)
        }
        return true
    }

    /// The rows of own writes before the first pull of a query. It does not name those that are gone since.
    private func ownRows(_ query: PullQuery) throws(SyncError) -> Set<ExactString> {
        let rows = try database.read { reader throws(SyncError) in try Audit(reader, query, found: []).gone }
        return Set(rows.map { ExactString($0) })
    }

    /// Reads all pages; returns false if the server must be read in the other way.
    private func read(
        _ machine: inout some PullReading, _ query: PullQuery, _ report: inout PullReport,
        _ unseen: inout Set<ExactString>
    ) async throws(SyncError) -> Bool {
        var action = await converse(&machine, machine.start(), query)
        var nameless: Set<UInt64> = []
        while case .store(let rows, let cursor) = action {
            nameless.formUnion(rows.compactMap { $0.id.isEmpty ? $0.fault?.digest : nil })
            let lookedUp = try await lookUp(rows, query, &report)
            if report.reason != nil { break }
            if !unseen.isEmpty { unseen.subtract(rows.map { ExactString($0.id) }) }
            // If the process ends now, the next pull looks for the rows that were not seen.
            let place = unseen.isEmpty ? cursor : cursor?.auditDue
            try await store(rows, lookedUp: lookedUp, query, place, isAudit: false, &report)
            progress(.pulling(table: query.table, received: machine.received, total: machine.total))
            action = await converse(&machine, machine.stored(), query)
        }
        report.requests += machine.requests
        report.received = machine.received
        report.reason = report.reason ?? machine.stop
        if case .turn = action { return false }
        if machine.readsAll, report.reason == nil { try await forget(besides: nameless, query, &report) }
        return true
    }

    /// Takes rows without an id from the list of those that can't be read, unless they are among the ones given.
    private func forget(
        besides received: Set<UInt64>, _ query: PullQuery, _ report: inout PullReport
    ) async throws(SyncError) {
        let listed = try database.read { reader throws(SyncError) in try reader.namelessRows(of: query.table) }
        let vanished = listed.filter { !received.contains($0) }
        if !vanished.isEmpty { try await store([], vanished: vanished, query, nil, isAudit: true, &report) }
    }

    /// Fetches the server's current rows for rows that left the view but can't be removed locally.
    private func lookUp(
        _ rows: [ServerRow], _ query: PullQuery, _ report: inout PullReport
    ) async throws(SyncError) -> [ExactString: ServerRow] {
        guard rows.contains(where: \.hasLeft) else { return [:] }
        let unclear = try database.read { reader throws(SyncError) in
            try LeftRows(reader, query, rows).unclear
        }
        var machine = LookUpMachine(query.table, unclear, retries: retries)
        _ = await converse(&machine, machine.ask(), query)
        report.requests += machine.requests
        report.reason = machine.stop
        return machine.rows
    }

    /// Sends what a machine requests from the server until it returns another action.
    private func converse(
        _ machine: inout some ListReading, _ first: ListAction, _ query: PullQuery
    ) async -> ListAction {
        var action = first
        while true {
            switch action {
            case .ask(let request):
                if let refusal = channel.limits.refusal(ofRequest: machine.requests, table: query.table) {
                    action = machine.fail(refusal)
                    continue
                }
                do throws(NetworkFailure) {
                    action = machine.handle(try await channel.send(request))
                } catch {
                    action = machine.fail(SyncError(of: error))
                }
            case .wait(let attempt, let after):
                let isOver = await database.wait(attempt: attempt, after, channel.limits)
                action = isOver ? machine.ask() : machine.fail(SyncError(of: .cancelled))
            case .refreshCredentials:
                let failure = await channel.renewCredentials()
                action = failure.map { machine.fail($0) } ?? machine.ask()
            case .store, .turn, .finish: return action
            }
        }
    }

    /// Returns the query's cursor; throws if the id stands for a different query.
    func cursor(_ query: PullQuery) throws(SyncError) -> CursorState? {
        guard let queryID = query.queryID else { return nil }
        let known = try database.read { reader throws(SyncError) in try reader.cursor(query.table, queryID) }
        if let known, known.query != (try query.canonicalText) {
            throw SyncError(
                .queryChanged, "the query id \"\(queryID)\" is used for another query of \(query.table)",
                hint: "Use another query id, or reset the cursor to start from the beginning.")
        }
        return known
    }

    /// Stores the new rows of the page, and the cursor, in one event. Rows already known add nothing to it.
    private func store(
        _ rows: [ServerRow], lookedUp: [ExactString: ServerRow] = [:], vanished: [UInt64] = [], _ query: PullQuery,
        _ cursor: CursorState?, isAudit: Bool, _ report: inout PullReport
    ) async throws(SyncError) {
        let unreadable = rows.compactMap { UnreadableRow($0, table: query.table) }
        let readable = unreadable.isEmpty ? rows : rows.filter { $0.fault == nil }
        let effect = try await database.perform(.buffered) { engine throws(SyncError) in
            try engine.checkUninterrupted(since: interruptions)
            // Decided on the state that the page is folded into.
            let rows = try LeftRows(engine.reader, query, readable, lookedUp: lookedUp).rows
            var moved = cursor
            if let queryID = query.queryID, let cursor {
                var known = try engine.reader.cursor(query.table, queryID)
                known?.updated = 0
                if known == cursor { moved = nil }
            }
            moved?.updated = engine.environment.milliseconds()
            var page = PulledPage(
                table: query.table, queryID: query.queryID, rows: rows, cursor: moved, isAudit: isAudit)
            (page.unreadable, page.vanished) = (unreadable, vanished)
            return try engine.record(page: page)
        }
        report.unreadable += unreadable.count
        report.changed += effect.changed
        report.deleted += effect.deleted
        report.conflicts += effect.conflicts
    }

    /// Finds rows that disappeared without a tombstone.
    private func reconcile(
        _ query: PullQuery, clearing cursor: CursorState?, _ report: inout PullReport
    ) async throws(SyncError) {
        var machine = AuditMachine(query, retries: retries)
        _ = await converse(&machine, machine.ask(), query)
        report.requests += machine.requests
        report.reason = machine.stop
        guard machine.stop == nil else { return }
        let (found, hasOthers) = (machine.ids, machine.hasOthers)
        if !hasOthers, query.filter == nil { try await forget(besides: [], query, &report) }
        let audit = try database.read { reader throws(SyncError) in
            try Audit(reader, query, found: found, hasOthers: hasOthers)
        }
        try await remove(audit.gone, asking: audit.claimed, query, clearing: cursor, &report)
    }

    /// Removes rows, and of others those that the server does not have; the cursor then covers them too.
    private func remove(
        _ gone: [String], asking unclear: [String], _ query: PullQuery, clearing cursor: CursorState?,
        _ report: inout PullReport
    ) async throws(SyncError) {
        var presence = PresenceMachine(query.table, unclear, retries: retries)
        _ = await converse(&presence, presence.ask(), query)
        report.requests += presence.requests
        report.reason = presence.stop
        guard presence.stop == nil else { return }
        let gone = gone + presence.gone
        for part in stride(from: 0, to: gone.count, by: 1000) {
            let rows = gone[part..<min(part + 1000, gone.count)].map { ServerRow.gone($0) }
            try await store(rows, query, nil, isAudit: true, &report)
        }
        guard var cursor, case .changes(let position, isAuditDue: true) = cursor.place else { return }
        cursor.place = .changes(position)
        try await store([], query, cursor, isAudit: true, &report)
    }
}
