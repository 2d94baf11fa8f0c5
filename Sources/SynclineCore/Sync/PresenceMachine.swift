// Requests rows one by one by their ids, to find out whether the server still has them.

package struct PresenceMachine: ListReading {
    /// Those that are gone.
    package private(set) var gone: [String] = []
    package private(set) var stop: SyncError?
    package private(set) var requests = 0
    private let table: String
    private var left: ArraySlice<String>
    private var gate: ListGate

    package init(_ table: String, _ ids: [String], retries: Int) {
        self.table = table
        left = ids[...]
        gate = ListGate(retries: retries)
    }

    package mutating func ask() -> ListAction {
        guard let id = left.first else { return .finish }
        requests += 1
        return .ask(.row(table: table, id: id))
    }

    package mutating func handle(_ reply: ServerReply) -> ListAction {
        if [404, 410].contains(reply.status) { return next(isGone: true) }
        switch gate.pass(reply) {
        case .answer(.row(let row)): return next(isGone: row.isDeleted)
        case .answer:
            return fail(
                SyncError(.serverError, "the server's row could not be read", hint: "Nothing is lost: pull again."))
        case .wait(let attempt, let after): return .wait(attempt: attempt, after)
        case .refreshCredentials: return .refreshCredentials
        case .stop(let error): return fail(error)
        }
    }

    private mutating func next(isGone: Bool) -> ListAction {
        if let id = left.popFirst(), isGone { gone.append(id) }
        return ask()
    }

    package mutating func fail(_ error: SyncError) -> ListAction {
        stop = error
        return .finish
    }
}
