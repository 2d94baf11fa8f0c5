// Requests rows one by one by their ids, to find out whether the server still has them.

package struct PresenceMachine: ListReading {
    /// Those that are gone.
    package private(set) var gone: [String] = []
    package var gate: ListGate
    private let table: String
    private var left: ArraySlice<String>

    package init(_ table: String, _ ids: [String], retries: Int) {
        self.table = table
        left = ids[...]
        gate = ListGate(retries: retries)
    }

    package mutating func ask() -> ListAction {
        guard let id = left.first else { return .finish }
        return gate.ask(.row(table: table, id: id))
    }

    package mutating func handle(_ reply: ServerReply) -> ListAction {
        if [404, 410].contains(reply.status) { return next(isGone: true) }
        if let action = gate.pass(reply) { return action }
        switch reply.content {
        case .row(let row): return next(isGone: row.isDeleted)
        // It is there, whatever it contains.
        case .unreadableRow: return next(isGone: false)
        case .list, .changes, .results, .unreadable:
            return fail(
                SyncError(.serverError, "the server's row could not be read", hint: "Nothing is lost: pull again."))
        }
    }

    private mutating func next(isGone: Bool) -> ListAction {
        if let id = left.popFirst(), isGone { gone.append(id) }
        return ask()
    }
}
