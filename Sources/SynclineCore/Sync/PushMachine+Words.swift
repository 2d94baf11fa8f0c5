// What a push hears and what it asks for.

extension PushMachine {
    package enum Input: Sendable {
        /// The operation as it is stored, once it is sure to be sent as it is.
        case frozen(Int, Freezing)
        case replied(Int, ServerReply)
        /// The answer to writes that were sent together.
        case repliedTogether([Int], ServerReply)
        case failed(Int, NetworkFailure)
        /// An answer is stored; the conflict it made, if it made one.
        case recorded(Int, Conflict?, hasBase: Bool)
        /// A resolution is stored.
        case resolved(Int)
        case waited(Int)
        /// It was cancelled before it was sent.
        case cancelled(Int)
        /// Other credentials are there, or why there are none.
        case refreshed(SyncError?)
        /// The store could not do what it was asked.
        case broken(SyncError)
    }

    package enum Freezing: Sendable {
        case ready(WriteRequest)
        /// The changes came to nothing.
        case nothing
        /// It turned out to wait for a decision.
        case blocked(Conflict)
    }

    package enum Action: Sendable {
        case store(Storing)
        case send(Int, ServerRequest)
        case sendTogether([Int], [WriteRequest])
        case wait(Int, attempt: Int, ServerReply.RetryAfter?)
        case refreshCredentials
    }

    /// Something for the store. What comes at once may be stored at once.
    package enum Storing: Sendable {
        case freeze(Int, PlannedOperation, position: Position, through: Position)
        case record(Int, Answer, PlannedOperation)
        case resolve(Int, Resolution)
    }
}
