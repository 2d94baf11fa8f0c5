// Reads the ids of all rows that match a query, so that rows which left it, or were removed for good, are found out.

package struct AuditMachine: ListReading {
    /// The ids the server has.
    package private(set) var ids: Set<String> = []
    package private(set) var requests = 0
    package private(set) var stop: SyncError?
    private let query: PullQuery
    private var gate: ListGate
    private var last: String?
    private var pages = RepeatGuard()

    package init(_ query: PullQuery, retries: Int) {
        self.query = query
        gate = ListGate(retries: retries)
    }

    package mutating func ask() -> ListAction {
        requests += 1
        var request = ListRequest(table: query.table)
        request.filter = .both(query.filter, last.map { .idBehind($0) })
        request.order = [Query.Key("id")]
        request.top = query.pageSize
        request.select = ["id", "deleted"]
        return .ask(request)
    }

    package mutating func handle(_ reply: ServerReply) -> ListAction {
        switch gate.pass(reply) {
        case .list(let list):
            for row in list.rows where !row.isDeleted { ids.insert(row.id) }
            let isAll = list.count.map { $0 <= list.rows.count } ?? false
            guard let end = list.rows.last?.id, !isAll else { return .finish }
            // A server that does not go by id would be read for ever.
            guard end != last, !pages.isRepeat(end) else { return fail(PullMachine.noOrder) }
            last = end
            return ask()
        case .wait(let attempt, let after): return .wait(attempt: attempt, after)
        case .refreshCredentials: return .refreshCredentials
        case .stop(let error): return fail(error)
        }
    }

    package mutating func fail(_ error: SyncError) -> ListAction {
        stop = error
        return .finish
    }
}

/// Which rows of a table an audit removes: those that match the query, have nothing pending, were not found, and belong to
/// no other query.
package struct Audit {
    package private(set) var gone: [String] = []

    package init(_ reader: StateReader, _ query: PullQuery, found: Set<String>) throws(StateError) {
        let found = try reader.idComparison == .exact ? found : Set(found.map { $0.lowercased() })
        let ignoresCase = try reader.idComparison == .ignoreCase
        var others: [Expression?] = []
        for cursor in try reader.cursors() where cursor.table == query.table && cursor.queryID != query.queryID {
            others.append(cursor.state.query.isEmpty ? nil : try? Expression(parsing: cursor.state.query))
        }
        try reader.forEachEntry(of: query.table) { id, entry throws(StateError) in
            guard let base = entry.base, entry.pending == nil, !found.contains(ignoresCase ? id.lowercased() : id)
            else { return }
            func matches(_ filter: Expression?) -> Bool {
                guard let filter else { return true }
                return base.withView { view in Array(id.utf8).withBytes { filter.matches(RowSight(id: $0, row: view)) }
                }
            }
            if matches(query.filter), !others.contains(where: matches) { gone.append(id) }
        }
    }
}
