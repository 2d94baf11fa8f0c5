// The reasons why no answer came, and the error for an app if a server is missing or does not carry out a request.

/// Why no answer came.
package enum NetworkFailure: Error, Hashable, Sendable {
    /// No connection, a time-out, a closed connection, TLS or DNS; the reason is for people.
    case offline(String)
    /// The response can't be accepted: it is too large, or not HTTP.
    case refused(String)
    case cancelled
    /// The request was not sent: there were no credentials, or the task was cancelled.
    case notSent(SyncError)

    /// Whether the server certainly did not get the request.
    var isBeforeSending: Bool { if case .notSent = self { true } else { false } }
}

extension SyncError {
    /// No answer came.
    package init(of failure: NetworkFailure) {
        switch failure {
        case .offline(let reason):
            self.init(.offline, reason, hint: "Nothing is lost: push again when there is a network.")
        case .refused(let reason):
            self.init(.serverError, reason, hint: "Nothing is lost. Check the backend URL.")
        case .cancelled: self.init(.cancelled, "the task was cancelled")
        case .notSent(let error): self = error
        }
    }

    /// The answer says that something is wrong with the server.
    package init(of reply: ServerReply) {
        self.init(
            .serverError, "the server answered \(reply.status)" + (reply.message.map { ": \($0)" } ?? ""),
            hint: "Nothing is lost: try again later.")
    }

    /// The server does not take the credentials, or there are none.
    package static func unauthorized(_ reply: ServerReply?) -> SyncError {
        SyncError(
            .unauthorized, reply?.message ?? "the server requires other credentials", hint: "Sign in, then try again.")
    }
}
