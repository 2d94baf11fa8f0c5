// Looks up the current state of some rows by their ids. A row that the server does not return is gone.

package import SynclineGround

package struct LookUpMachine: ListReading {
    /// The rows, by id, including those that are gone.
    package private(set) var rows: [ExactString: ServerRow] = [:]
    package var gate: ListGate
    private let table: String
    private var left: ArraySlice<String>
    /// The number of ids in one filter.
    private var size = PageSize(20)

    package init(_ table: String, _ ids: [String], retries: Int) {
        self.table = table
        left = ids[...]
        gate = ListGate(retries: retries)
    }

    package mutating func ask() -> ListAction {
        guard !left.isEmpty else { return .finish }
        var request = ListRequest(table: table)
        request.filter = left.prefix(size.rows).reduce(nil) { (filter: FilterExpression?, id) in
            let isIt = FilterExpression.compare(.equal, .column("id"), .literal(.string(id)))
            return filter.map { .or($0, isIt) } ?? isIt
        }
        request.top = size.rows
        return gate.ask(.list(request))
    }

    package mutating func handle(_ reply: ServerReply) -> ListAction {
        if let action = gate.pass(reply) { return action }
        let asked = left.prefix(size.rows)
        if reply.isTooLarge {
            if size.shrink(from: asked.count) { return ask() }
            for id in asked { rows[ExactString(id)] = .tooLarge(id) }
        } else {
            guard case .list(let list) = reply.content else { return fail(reply.content.isNoList) }
            for id in asked { rows[ExactString(id)] = .gone(id) }
            for row in list.rows where !row.id.isEmpty { rows[ExactString(row.id)] = row }
        }
        left = left.dropFirst(asked.count)
        size.grow()
        return ask()
    }
}

extension ServerRow {
    /// A row that the server has and that can't be received.
    fileprivate static func tooLarge(_ id: String) -> ServerRow {
        var row = ServerRow(id: id, columns: .empty, isDeleted: false, moment: nil)
        row.fault = RowFault("the row is too large", place: 1, digest: 0)
        return row
    }
}
