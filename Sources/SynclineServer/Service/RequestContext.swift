// What the service is told about a request besides its content, and what it learns and does not send to the client.

struct RequestContext: Sendable {
    /// The identity that the request claims. It is checked once: a read that is interrupted for others is answered from
    /// the beginning, and by then its token may have expired.
    let login: Login
    /// The server's URL as seen by the client: `http://127.0.0.1:8080`.
    let url: String
    var notes = RequestNotes()

    init(_ login: Login = .none, url: String = "") {
        (self.login, self.url) = (login, url)
    }

    var user: String? { if case .caller(let caller) = login { caller.subject } else { nil } }
}

/// What the log is told about a request.
struct RequestNotes: Hashable, Sendable {
    /// The reason why the store failed.
    var failure: FailureReason?
    /// Why the server itself refused the request.
    var explanation: String?
}
