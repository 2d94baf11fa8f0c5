// What the service learns about a request and does not send to its client: its caller, and the reason why the store
// failed.

import SynclineGround

final class RequestNotes: Sendable {
    private let state = Mutex<(user: String?, failure: FailureReason?)>((nil, nil))

    var user: String? { state.withLock { $0.user } }
    var failure: FailureReason? { state.withLock { $0.failure } }

    func note(user: String) { state.withLock { $0.user = user } }
    func note(_ failure: FailureReason) { state.withLock { $0.failure = failure } }
}
