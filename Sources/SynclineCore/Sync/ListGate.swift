// The common part of all machines that read lists: handles a response that is not a list by retrying, renewing
// credentials once, or stopping.

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
    mutating func fail(_ error: SyncError) -> ListAction
    /// Why it stopped early, or nil.
    var stop: SyncError? { get }
    var requests: Int { get }
}

/// A machine whose rows are stored.
package protocol PullReading: ListReading {
    var received: Int { get }
    /// The total number of requested rows, if the server says so.
    var total: Int? { get }
    mutating func start() -> ListAction
    /// Called when the page is stored.
    mutating func stored() -> ListAction
}

struct ListGate: Sendable {
    enum Step: Sendable {
        case answer(ServerReply.Content)
        case wait(attempt: Int, ServerReply.RetryAfter?)
        case refreshCredentials
        case stop(SyncError)
    }

    let retries: Int
    private var attempts = 0
    private var hasRefreshed = false

    init(retries: Int) {
        self.retries = retries
    }

    mutating func pass(_ reply: ServerReply) -> Step {
        switch reply.status {
        case 200:
            attempts = 0
            return .answer(reply.content)
        case 401:
            guard !hasRefreshed else { return .stop(SyncError.unauthorized(reply)) }
            hasRefreshed = true
            return .refreshCredentials
        case 408, 429, 500...:
            attempts += 1
            guard attempts <= retries, reply.isWaitedFor else {
                return .stop(SyncError(of: reply))
            }
            return .wait(attempt: attempts, reply.retryAfter)
        default:
            return .stop(SyncError(of: reply))
        }
    }
}

extension ServerReply.Content {
    /// The error for a response that is not a list.
    var isNoList: SyncError {
        let reason =
            switch self {
            case .row: "it is a row"
            case .list, .changes, .results: "it is another kind of answer"
            case .unreadable(let reason): reason
            }
        return SyncError(
            .serverError, "the response is not a list of rows: \(reason)",
            hint: "Check the backend URL and the protocol. Nothing is lost.")
    }
}
