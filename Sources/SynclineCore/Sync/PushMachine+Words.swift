// What a push is made of, hears, asks for, and says if it stops.

extension PushMachine {
    /// Why an operation is not sent whose row is held.
    static let heldCode = SyncError.Code.held.rawValue

    /// An operation of the plan on its way through the push.
    package struct Item: Sendable {
        package let operation: PlannedOperation
        /// Its place, which a rebase moves.
        package internal(set) var position: Position
        /// The last change it takes along.
        package internal(set) var through: Position
        package internal(set) var report: OperationReport
        /// Where it is in this push; `PushMachine.move` moves it on.
        var phase = Phase.planned
        /// What is known of its tries.
        var arrival: Arrival
        /// Whether it brings the row back if it meets a tombstone, without another decision.
        var mayRevive = false
        /// How often it met a tombstone.
        var revivals = 0
        /// How many pushes in a row it has stopped with 500, and whether the server answered something else meanwhile.
        var failures = 0
        var serverWorks = false
        var attempts = 0
        var rebases = 0
        var policy: String?
    }

    /// What is known of the tries of an operation, from the least to the most that may have happened.
    enum Arrival: Comparable, Sendable {
        /// No try can have reached the server.
        case impossible
        /// The server has answered a try.
        case answered
        /// The answer to a try was lost, so its fate is unknown.
        case unknown
    }

    /// Moves an operation on. What follows from the phases follows here.
    mutating func move(_ index: Int, to phase: Phase) {
        tally.move(index, from: items[index].phase, to: phase)
        items[index].phase = phase
    }

    package enum Input: Sendable {
        /// The operation as it is stored, once it is sure to be sent as it is.
        case frozen(Int, Freezing)
        case replied(Int, ServerReply)
        /// The answer to writes that were sent together.
        case repliedTogether([Int], ServerReply)
        case failed(Int, NetworkFailure)
        /// An answer is stored; the conflict it made, if it made one.
        case recorded(Int, Conflict?, hasBase: Bool)
        /// An answer is stored with which the operation goes on, as this.
        case continued(Int, WriteRequest)
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
        case ready(WriteRequest, Standing = Standing())
        /// The changes came to nothing.
        case nothing
        /// It turned out to wait for a decision.
        case blocked(Conflict)
        /// Its row was held since the push began.
        case held
    }

    /// What the store knows of an operation beside what is sent.
    package struct Standing: Sendable {
        /// Whether an insert that meets a tombstone brings the row back.
        var mayRevive = false
        /// How many pushes in a row it has stopped with 500.
        var failures = 0
        /// Whether the server answered something else since.
        var serverWorks = false

        package init() {}

        package init(_ entry: RowEntry) {
            mayRevive = entry.mayRevive
            failures = entry.pending?.frozen?.failures ?? 0
            serverWorks = entry.pending?.frozen?.serverWorks ?? false
        }
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
        /// The server answered something while an operation was failing.
        case noteServerWorks
    }
}
