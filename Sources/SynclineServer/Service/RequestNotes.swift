// The service's notes about a request, which are not sent to its client: its caller, and the reason why the store
// failed.

import SynclineGround

final class RequestNotes: Sendable {
    private let state = Mutex<(login: Login?, failure: FailureReason?, explanation: String?)>((nil, nil, nil))

    var user: String? {
        guard case .caller(let caller)? = state.withLock({ $0.login }) else { return nil }
        return caller.subject
    }

    var failure: FailureReason? { state.withLock { $0.failure } }

    /// Why the server itself refused the request, for the log.
    var explanation: String? { state.withLock { $0.explanation } }

    func explain(_ text: String) { state.withLock { $0.explanation = text } }

    func note(_ failure: FailureReason) { state.withLock { $0.failure = failure } }

    /// Returns the login that was noted, or notes the one that the check finds. A read that is interrupted for others
    /// is answered from the beginning, and by then its token may have expired.
    func login(_ check: () -> Login) -> Login {
        if let login = state.withLock({ $0.login }) { return login }
        let login = check()
        state.withLock { $0.login = login }
        return login
    }
}
