// What the service is told about a request besides its content, and what it learns and does not send to the client.

package struct RequestContext: Sendable {
    /// The identity that the request claims, once it was asked for. It is checked once: a read that is interrupted for
    /// others is answered from the beginning, and by then its token may have expired.
    var login: Login?
    /// The server's URL as seen by the client: `http://127.0.0.1:8080`.
    package let url: String
    package var notes = RequestNotes()
    /// The tenant that it is for.
    package var tenant: String?

    /// Whether it has come before, and waited since.
    package let hasWaited: Bool

    package init(url: String = "", hasWaited: Bool = false) { (self.url, self.hasWaited) = (url, hasWaited) }

    package var user: String? { if case .caller(let caller) = login { caller.subject } else { nil } }
}

/// What the log is told about a request.
package struct RequestNotes: Hashable, Sendable {
    /// The reason why the store failed.
    package var failure: FailureReason?
    /// Why the server itself refused the request.
    package var explanation: String?

    package init(explanation: String? = nil) { self.explanation = explanation }
}
