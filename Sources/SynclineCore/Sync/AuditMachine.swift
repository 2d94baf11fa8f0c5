// Reads the ids of all rows that match a query, to find rows that left it or were hard-deleted.

package import SynclineGround

package struct AuditMachine: ListReading {
    /// The ids the server has.
    package private(set) var ids: Set<ExactString> = []
    /// Whether the server also has rows whose ids can't be read.
    package private(set) var hasOthers = false
    package var gate: ListGate
    private let query: PullQuery
    /// How many rows without an id may follow each other.
    private static let passLimit = 10_000
    private var last: ExactString?
    private var pages = RepeatGuard()
    /// How many rows after the last one came without an id.
    private var passed = 0
    private var size: PageSize

    package init(_ query: PullQuery, retries: Int) {
        self.query = query
        gate = ListGate(retries: retries)
        size = PageSize(query.pageSize)
    }

    package mutating func ask() -> ListAction {
        var request = ListRequest(table: query.table)
        request.filter = .both(query.asked, last.map { .idAfter($0.text) })
        request.order = [RowQuery.Key("id")]
        request.top = size.rows
        request.skip = passed
        request.select = ["id", "deleted"]
        return gate.ask(.list(request))
    }

    package mutating func handle(_ reply: ServerReply) -> ListAction {
        if let action = gate.pass(reply) { return action }
        if reply.isTooLarge { return size.shrink(from: size.rows) ? ask() : fail(reply.tooLarge) }
        size.grow()
        guard case .list(let list) = reply.content else { return fail(reply.content.isNoList) }
        for row in list.rows where !row.isDeleted { ids.insert(ExactString(row.id)) }
        let isAll = passed == 0 && list.count.map { $0 <= list.rows.count } ?? false
        let end = list.rows.last { !$0.id.isEmpty }.map { ExactString($0.id) }
        hasOthers = hasOthers || list.rows.contains { $0.id.isEmpty }
        if list.rows.isEmpty || isAll { return .finish }
        guard let end else {
            passed += list.rows.count
            return passed < AuditMachine.passLimit ? ask() : fail(PullMachine.noOrder)
        }
        // A server that ignores the order by id would cause an endless read.
        if end == last || pages.isRepeat(end.text) { return fail(PullMachine.noOrder) }
        (last, passed) = (end, 0)
        return ask()
    }
}
