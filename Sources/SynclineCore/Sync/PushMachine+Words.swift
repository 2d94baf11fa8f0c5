// The vocabulary of a push: its items, inputs and actions, and the messages if it stops.

extension PushMachine {
    /// An operation of the plan, during the push.
    package struct Item: Sendable {
        package let operation: PlannedOperation
        /// Its place, which a rebase changes.
        package internal(set) var position: Position
        /// The last change that it contains.
        package internal(set) var through: Position
        package internal(set) var report: OperationReport
        /// Its phase in this push; `PushMachine.move` changes it.
        var phase = Phase.planned
        /// The known history of its attempts.
        var arrival: Arrival
        /// What the store has recorded of it, and this push since.
        var history = History()
        /// How often it met a tombstone.
        var revivals = 0
        var attempts = 0
        var rebases = 0
        var policy: String?
    }

    /// The known history of an operation's attempts, from the least to the most that may have happened.
    enum Arrival: Comparable, Sendable {
        /// No attempt can have reached the server.
        case impossible
        /// The server has answered an attempt.
        case answered
        /// The answer to an attempt was lost, so its result is unknown.
        case unknown
    }

    /// Moves an operation to another phase, and updates everything that depends on phases.
    mutating func move(_ index: Int, to phase: Phase) {
        tally.move(index, from: items[index].phase, to: phase)
        items[index].phase = phase
    }

    package enum Input: Sendable {
        /// The operation as it is stored, once it is frozen.
        case frozen(Int, Freezing)
        case replied(Int, ServerReply)
        /// The answer to writes that were sent together.
        case repliedTogether([Int], ServerReply)
        case failed(Int, NetworkFailure)
        /// An answer is stored, and the conflict that it caused, if any.
        case recorded(Int, Conflict?, hasBase: Bool)
        /// An answer is stored after which the operation continues as this request.
        case continued(Int, WriteRequest)
        /// A resolution is stored. A row that the app chose has a new place in the order.
        case resolved(Int, at: Position? = nil)
        case waited(Int)
        /// It was cancelled before it was sent.
        case cancelled(Int)
        /// There are other credentials, or the reason why there are none.
        case refreshed(SyncError?)
        /// The store failed to carry out a recording.
        case broken(SyncError)
    }

    package enum Freezing: Sendable {
        case ready(WriteRequest, History = History())
        /// The changes cancelled each other out.
        case nothing
        /// It awaits a decision after all.
        case blocked(Conflict)
        /// Its row was held after the push began.
        case held
    }

    /// The store's record of an operation, apart from its request.
    package struct History: Sendable {
        /// Whether an insert that meets a tombstone restores the row, without another decision.
        var mayRevive = false
        /// How many pushes in a row it has stopped with 500.
        var failures = 0
        /// Whether the server has answered otherwise since.
        var serverWorks = false

        package init() {}

        package init(_ entry: RowEntry) {
            mayRevive = entry.mayRevive
            failures = entry.pending?.frozen?.failures ?? 0
            serverWorks = entry.pending?.frozen?.serverWorks ?? false
        }
    }

    package enum Action: Sendable {
        case store(Recording)
        case send(Int, ServerRequest)
        case sendTogether([Int], [WriteRequest])
        case wait(Int, attempt: Int, ServerReply.RetryAfter?)
        case refreshCredentials
    }

    /// Something to be recorded by the store. What is requested at the same time may be stored in one commit.
    package enum Recording: Sendable {
        case freeze(Int, PlannedOperation, position: Position, through: Position)
        case record(Int, Answer, PlannedOperation)
        case resolve(Int, Resolution)
        /// The server gave another answer while an operation was failing.
        case noteServerWorks
    }

    /// Ends a push before it has begun.
    package mutating func refuse(_ error: SyncError) {
        halt(error)
        for index in items.indices where !items[index].phase.isFinished {
            note(index, .pending, .stopped(error.code))
        }
    }
}
