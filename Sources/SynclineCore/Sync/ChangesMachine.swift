// The pull from a server that numbers its changes: page by page behind a cursor that the server made, until it says that there
// is no more. There is no clock in it, and nothing to read twice. Where the server can't go on from a cursor, everything is
// read anew, and what is gone meanwhile is found by an audit.

package struct ChangesMachine: PullReading {
    package let query: PullQuery
    package private(set) var stop: SyncError?
    package private(set) var requests = 0
    package private(set) var received = 0
    package private(set) var total: Int?
    /// Whether rows may have gone of which no change tells: an audit is due when all is read. The cursor remembers it.
    package private(set) var isAuditDue: Bool
    /// Where the query stands after the last page.
    package private(set) var cursor: CursorState?
    private var gate: ListGate
    private let canonicalText: String
    private var since: String
    private var restarts = 0
    private var isFinished = false

    /// How often it begins anew before it stops.
    private static let restartLimit = 8

    package init(_ query: PullQuery, from cursor: CursorState?, retries: Int) throws(SyncError) {
        self.query = query
        gate = ListGate(retries: retries)
        canonicalText = try query.canonicalText
        since = cursor?.change ?? ""
        // What was read by time says nothing of rows that went without a mark.
        isAuditDue = cursor.map { $0.change == nil || $0.isAuditDue } ?? false
    }

    package mutating func start() -> ListAction { ask() }

    package mutating func ask() -> ListAction {
        requests += 1
        var request = ChangesRequest(
            table: query.table, since: since, filter: query.filter, top: query.changesPageSize)
        // Of rows that do not match, not all are told.
        request.counts = total == nil && query.filter == nil
        return .ask(.changes(request))
    }

    package mutating func stored() -> ListAction { isFinished ? .finish : ask() }

    package mutating func fail(_ error: SyncError) -> ListAction {
        stop = error
        return .finish
    }

    package mutating func handle(_ reply: ServerReply) -> ListAction {
        let mayBeBusy = reply.status >= 500 || [401, 408, 429].contains(reply.status)
        // Another server is there now, which has no changes to tell.
        if !mayBeBusy, !reply.capabilities.contains(.changes) { return .turn }
        // It can't tell what came behind the cursor: another database, or tombstones that are gone.
        if [400, 410].contains(reply.status), !since.isEmpty, restarts < Self.restartLimit {
            restarts += 1
            isAuditDue = true
            since = ""
            total = nil
            return ask()
        }
        switch gate.pass(reply) {
        case .answer(.changes(let changes)): return take(changes)
        case .answer(let content): return fail(content.isNoList)
        case .wait(let attempt, let after): return .wait(attempt: attempt, after)
        case .refreshCredentials: return .refreshCredentials
        case .stop(let error): return fail(error)
        }
    }

    private mutating func take(_ changes: ServerChanges) -> ListAction {
        // A server whose cursor stands still would be read for ever.
        guard !changes.hasMore || changes.cursor != since else { return fail(PullMachine.noOrder) }
        if total == nil { total = changes.count.map { received + max($0, changes.rows.count) } }
        received += changes.rows.count
        since = changes.cursor
        isFinished = !changes.hasMore
        guard query.queryID != nil else {
            // Nothing is to be remembered, and what leaves the view while it is read may be here for another reason.
            return .store(changes.rows.filter { !$0.hasLeft }, nil)
        }
        var state = CursorState(position: changes.cursor, query: canonicalText, updated: 0)
        state.isAuditDue = isAuditDue
        cursor = state
        return .store(changes.rows, state)
    }
}

extension CursorState {
    /// The server's cursor, where the query is read by changes; nil where it is read by time.
    package var change: String? { moment == nil && !position.isEmpty ? position : nil }

    /// Of a query that is read by changes: whether rows may have gone of which no change tells.
    package var isAuditDue: Bool {
        get { change != nil && drain == CursorState.auditMark }
        set { drain = newValue ? CursorState.auditMark : nil }
    }

    private static let auditMark = "audit"
}
