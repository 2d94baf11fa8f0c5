// The common part of all machines that read lists: counts requests, and handles a response that is not a list by
// retrying, renewing credentials once, or stopping.

/// The next action of a machine that reads lists.
package enum ListAction: Sendable {
    case ask(ServerRequest)
    case wait(attempt: Int, ServerReply.RetryAfter?)
    case refreshCredentials
    /// Store a page, with the query's cursor after it.
    case store([ServerRow], CursorState?)
    /// Read the server in the other of the two ways, by changes or by time.
    case turn
    case finish
}

/// A machine that reads lists, page by page.
package protocol ListReading: Sendable {
    /// Requests the next page, or the same one again.
    mutating func ask() -> ListAction
    mutating func handle(_ reply: ServerReply) -> ListAction
    /// Its requests so far, and why it stopped.
    var gate: ListGate { get set }
}

extension ListReading {
    package var requests: Int { gate.requests }
    /// Why it stopped early, or nil.
    package var stop: SyncError? { gate.stop }

    package mutating func fail(_ error: SyncError) -> ListAction { gate.fail(error) }
}

/// A machine whose rows are stored.
package protocol PullReading: ListReading {
    var received: Int { get }
    /// The total number of requested rows, if the server says so.
    var total: Int? { get }
    /// Whether it reads the whole table, from its beginning.
    var readsAll: Bool { get }
    mutating func start() -> ListAction
    /// Called when the page is stored.
    mutating func stored() -> ListAction
}

package struct ListGate: Sendable {
    private let retries: Int
    private(set) var requests = 0
    private(set) var stop: SyncError?
    private var attempts = 0
    private var hasRefreshed = false

    init(retries: Int) {
        self.retries = retries
    }

    mutating func ask(_ request: ServerRequest) -> ListAction {
        requests += 1
        return .ask(request)
    }

    mutating func fail(_ error: SyncError) -> ListAction {
        stop = error
        return .finish
    }

    /// Returns what to do about a response that has no content to take; nil for one that has.
    mutating func pass(_ reply: ServerReply) -> ListAction? {
        switch reply.status {
        case 200:
            attempts = 0
            return nil
        case 401:
            guard !hasRefreshed else { return fail(.unauthorized(reply)) }
            hasRefreshed = true
            return .refreshCredentials
        case 408, 429, 500...:
            attempts += 1
            guard attempts <= retries, reply.isWaitedFor else { return fail(SyncError(of: reply)) }
            return .wait(attempt: attempts, reply.retryAfter)
        default: return fail(SyncError(of: reply))
        }
    }
}

extension ServerReply {
    /// Why a single row of a list can't be received.
    var tooLarge: SyncError {
        let reason = if case .unreadable(let reason) = content { reason } else { "the response is too large" }
        return SyncError(
            .serverError, "a row can't be received: \(reason)",
            hint: "Allow larger responses in the limits (`body`). Nothing is lost.")
    }
}

extension ServerReply.Content {
    /// The error for a response that is not a list.
    var isNoList: SyncError {
        let reason =
            switch self {
            case .row, .unreadableRow: "it is a row"
            case .list, .changes, .results: "it is another kind of answer"
            case .unreadable(let reason): reason
            }
        return SyncError(
            .serverError, "the response is not a list of rows: \(reason)",
            hint: "Check the backend URL and the protocol. Nothing is lost.")
    }
}
