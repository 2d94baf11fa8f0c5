// The pull from a server that numbers its changes: page by page after the server's cursor, until there are no more.
// It uses no clock and reads nothing twice. If the server can't continue from a cursor, everything is read again,
// and an audit finds the rows that are gone.

package struct ChangesMachine: PullReading {
    package let query: PullQuery
    package var gate: ListGate
    package private(set) var received = 0
    package private(set) var total: Int?
    package private(set) var readsAll: Bool
    /// Whether rows may have disappeared without a change: an audit follows when everything is read. The cursor
    /// keeps this.
    package private(set) var isAuditDue: Bool
    /// The query's cursor after the last page.
    package private(set) var cursor: CursorState?
    private let canonicalText: String
    private var since: String
    private var size: PageSize
    private var restarts = 0
    /// Why the next change can't be received, even alone. Then only its id, its version and its times are requested.
    private var outlineReason: String?
    private var isFinished = false

    /// How often it starts again before it stops.
    private static let restartLimit = 8

    package init(_ query: PullQuery, from cursor: CursorState?, retries: Int) throws(SyncError) {
        self.query = query
        gate = ListGate(retries: retries)
        size = PageSize(query.changesPageSize)
        canonicalText = try query.canonicalText
        since = cursor?.change ?? ""
        readsAll = query.asked == nil && since.isEmpty
        // A pull by time does not notice rows that disappeared without a tombstone.
        isAuditDue = cursor.map { $0.change == nil || $0.isAuditDue } ?? false
    }

    package mutating func start() -> ListAction { ask() }

    package mutating func ask() -> ListAction {
        var request = ChangesRequest(
            table: query.table, since: since, filter: query.asked, top: size.rows)
        // With a filter, not all non-matching rows are reported.
        request.counts = total == nil && query.asked == nil
        if outlineReason != nil { request.select = ServerRow.outlineColumns }
        return gate.ask(.changes(request))
    }

    package mutating func stored() -> ListAction { isFinished ? .finish : ask() }

    package mutating func handle(_ reply: ServerReply) -> ListAction {
        let mayBeBusy = reply.status >= 500 || [401, 408, 429].contains(reply.status)
        // It is a different server now, without a changes feed.
        if !mayBeBusy, !reply.capabilities.contains(.changes) { return .turn }
        // The server can't continue from the cursor: it has another database, or tombstones were purged.
        if [400, 410].contains(reply.status), !since.isEmpty, restarts < Self.restartLimit {
            restarts += 1
            isAuditDue = true
            readsAll = query.asked == nil
            since = ""
            total = nil
            return ask()
        }
        if let action = gate.pass(reply) { return action }
        if reply.isTooLarge { return narrow(reply) }
        guard case .changes(var changes) = reply.content else { return fail(reply.content.isNoList) }
        if let outlineReason {
            changes.rows = changes.rows.map { $0.outline(outlineReason) }
            self.outlineReason = nil
        } else {
            size.grow()
        }
        return take(changes)
    }

    /// Asks for fewer changes, and then, of a row that is too large alone, for what is needed to list it. The cursor after
    /// a change is in the answer, so the pull can't continue without one.
    private mutating func narrow(_ reply: ServerReply) -> ListAction {
        if size.shrink(from: size.rows) { return ask() }
        guard outlineReason == nil, case .unreadable(let reason) = reply.content else { return fail(reply.tooLarge) }
        outlineReason = reason
        return ask()
    }

    private mutating func take(_ changes: ServerChanges) -> ListAction {
        // A server whose cursor does not move would cause an endless read.
        guard !changes.hasMore || changes.cursor != since else { return fail(PullMachine.noOrder) }
        if total == nil { total = changes.count.map { received + max($0, changes.rows.count) } }
        received += changes.rows.count
        since = changes.cursor
        isFinished = !changes.hasMore
        guard query.queryID != nil else {
            // No cursor is kept, and rows that leave the view during the read may be here for another reason.
            return .store(changes.rows.filter { !$0.hasLeft }, nil)
        }
        let place = CursorState.Place.changes(changes.cursor, isAuditDue: isAuditDue)
        let state = CursorState(place, query: canonicalText, updated: 0)
        cursor = state
        return .store(changes.rows, state)
    }
}
