// What every reader of lists has in common: what it may ask for, and what it does with an answer that is not a list: it
// tries again, renews credentials once, or stops.

/// What a reader of lists wants done.
package enum ListAction: Sendable {
    case ask(ServerRequest)
    case wait(attempt: Int, ServerReply.RetryAfter?)
    case refreshCredentials
    /// A page is to be stored, with where the query stands after it.
    case store([ServerRow], CursorState?)
    /// The server is to be read in the other of the two ways, by changes or by time.
    case turn
    case finish
}

/// A machine that reads lists, page by page.
package protocol ListReading: Sendable {
    /// Asks for the next page, or for the same again.
    mutating func ask() -> ListAction
    mutating func handle(_ reply: ServerReply) -> ListAction
    mutating func fail(_ error: SyncError) -> ListAction
    /// Why it stopped before it was done.
    var stop: SyncError? { get }
    var requests: Int { get }
}

/// One that keeps what it reads.
package protocol PullReading: ListReading {
    var received: Int { get }
    /// How many rows the server says there are, of those asked for.
    var total: Int? { get }
    mutating func start() -> ListAction
    /// The page is stored.
    mutating func stored() -> ListAction
}

struct ListGate: Sendable {
    enum Passage: Sendable {
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

    mutating func pass(_ reply: ServerReply) -> Passage {
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
    /// What is said where a list was asked for and this is none.
    var isNoList: SyncError {
        let reason =
            switch self {
            case .row: "it is a row"
            case .list, .changes, .results: "it answers something else"
            case .unreadable(let reason): reason
            }
        return SyncError(
            .serverError, "the answer to a list is not one: \(reason)",
            hint: "Is it the right backend, and the protocol it speaks? Nothing is lost.")
    }
}
