// The phase of an operation in its push. Each phase accepts some inputs; any other input stops the push with a message,
// and the operation stays as the store has it.

extension PushMachine {
    enum Phase: Sendable {
        /// It has not begun.
        case planned
        /// The store freezes it; `again` after a policy has decided its conflict.
        case freezing(again: Bool)
        /// Frozen, and ready to be sent as this request.
        case ready(WriteRequest)
        /// In flight, alone or with others.
        case sent(WriteRequest)
        /// An answer with this status did not contain the row, which is being fetched.
        case fetching(WriteRequest, after: Int)
        /// It waits alone to be sent again.
        case pausing(WriteRequest)
        /// It waits with others to be sent again.
        case waiting(WriteRequest)
        /// It waits for other credentials, and then is sent again, or fetches the row again.
        case waitingForCredentials(WriteRequest, fetchesAfter: Int?)
        /// Its conflict is being stored; then the policy decides.
        case deciding
        /// An answer is being stored after which it continues as another request.
        case proceeding
        /// The policy's decision is being stored, and whether anything is left to be sent.
        case resolving(sendsAgain: Bool)
        /// Its result is being stored; the next operation may begin meanwhile.
        case settling
        /// The fact that this push does not finish it is being stored.
        case givingUp
        case finished
    }
}

extension PushMachine.Phase {
    var isPlanned: Bool { if case .planned = self { true } else { false } }

    var isFinished: Bool { if case .finished = self { true } else { false } }

    /// Whether it has begun and is not finished.
    var isUnderWay: Bool { !isPlanned && !isFinished }

    var isSettling: Bool { if case .settling = self { true } else { false } }

    var isFreezing: Bool { if case .freezing = self { true } else { false } }

    /// Whether it was sent, and its result is not decided yet.
    var isOut: Bool {
        switch self {
        case .freezing(let again): again
        case .sent, .fetching, .pausing, .waitingForCredentials, .deciding, .proceeding, .resolving, .givingUp: true
        case .planned, .ready, .waiting, .settling, .finished: false
        }
    }

    /// The request, if it is decided.
    var request: WriteRequest? {
        switch self {
        case .ready(let request), .sent(let request), .fetching(let request, _), .pausing(let request),
            .waiting(let request), .waitingForCredentials(let request, _):
            request
        case .planned, .freezing, .deciding, .proceeding, .resolving, .settling, .givingUp, .finished: nil
        }
    }

    /// When this is, for people.
    var words: String {
        switch self {
        case .planned: "before it has begun"
        case .freezing: "while it is being frozen"
        case .ready: "before it is sent"
        case .sent: "while it waits for an answer"
        case .fetching: "while it waits for the server's row"
        case .pausing: "while it waits to be sent again"
        case .waiting: "while it waits with others to be sent again"
        case .waitingForCredentials: "while it waits for credentials"
        case .deciding: "while its conflict is being stored"
        case .proceeding: "while an answer is being stored, after which it continues"
        case .resolving: "while its resolution is being stored"
        case .settling: "while its result is being stored"
        case .givingUp: "while it is being given up"
        case .finished: "after it has finished"
        }
    }
}

/// The number of operations in each group of phases, kept up to date so that they need not be counted again.
struct PushTally: Sendable, Equatable {
    /// Those that have begun and are not finished.
    private(set) var underWay: Set<Int> = []
    private(set) var freezing = 0
    private(set) var settling = 0
    /// Sent, and not decided yet.
    private(set) var out = 0

    /// Those that keep others from beginning: while a result is stored, the next may begin.
    var active: Int { underWay.count - settling }

    mutating func move(_ index: Int, from old: PushMachine.Phase, to new: PushMachine.Phase) {
        freezing += (new.isFreezing ? 1 : 0) - (old.isFreezing ? 1 : 0)
        settling += (new.isSettling ? 1 : 0) - (old.isSettling ? 1 : 0)
        out += (new.isOut ? 1 : 0) - (old.isOut ? 1 : 0)
        if old.isUnderWay != new.isUnderWay {
            if new.isUnderWay { underWay.insert(index) } else { underWay.remove(index) }
        }
    }
}

// MARK: What can't be

extension PushMachine {
    /// Handles an input that the operation, or the push, does not expect. Something is wrong, so no further operation
    /// begins; those in flight are waited for.
    mutating func refuse(_ input: Input) -> [Action] {
        let indices = input.indices.filter(items.indices.contains)
        let place =
            if indices.count < input.indices.count {
                "for an operation that is not in the push"
            } else if let index = indices.first(where: { !items[$0].phase.takes(input) }) ?? indices.first {
                "for \(items[index].operation.table)/\(items[index].operation.id) \(items[index].phase.words)"
            } else {
                "that nothing waits for"
            }
        halt(
            SyncError(
                .internalError, "unexpected \(input.words) \(place)",
                hint: "Nothing is lost. Push again: unconfirmed operations are sent again."))
        for index in indices where items[index].phase.isUnderWay { note(index, .pending, .stopped(.internalError)) }
        return next()
    }
}

extension PushMachine.Phase {
    /// Whether an operation in this phase expects such an input.
    func takes(_ input: PushMachine.Input) -> Bool {
        switch (self, input) {
        case (.freezing, .frozen),
            (.sent, .replied), (.sent, .repliedTogether), (.sent, .failed),
            (.fetching, .replied), (.fetching, .failed),
            (.pausing, .waited),
            (.deciding, .recorded), (.settling, .recorded), (.givingUp, .recorded),
            // There may be nothing left to continue with.
            (.proceeding, .recorded), (.proceeding, .continued),
            (.resolving, .resolved):
            true
        // A push that is cancelled while something is stored stops after that.
        case (.sent, .cancelled), (.fetching, .cancelled), (.pausing, .cancelled), (.freezing, .cancelled),
            (.deciding, .cancelled), (.proceeding, .cancelled), (.resolving, .cancelled), (.settling, .cancelled),
            (.givingUp, .cancelled):
            true
        case (.planned, _), (.freezing, _), (.ready, _), (.sent, _), (.fetching, _), (.pausing, _), (.waiting, _),
            (.waitingForCredentials, _), (.deciding, _), (.proceeding, _), (.resolving, _), (.settling, _),
            (.givingUp, _), (.finished, _):
            false
        }
    }
}

extension PushMachine.Input {
    /// The operations that the input is about; none if it is about the whole push.
    var indices: [Int] {
        switch self {
        case .frozen(let index, _), .replied(let index, _), .failed(let index, _), .recorded(let index, _, _),
            .continued(let index, _), .resolved(let index, _), .waited(let index), .cancelled(let index):
            [index]
        case .repliedTogether(let indices, _): indices
        case .refreshed, .broken: []
        }
    }

    /// A description for people.
    var words: String {
        switch self {
        case .frozen: "frozen operation"
        case .replied, .repliedTogether: "answer"
        case .failed: "failure"
        case .recorded: "stored answer"
        case .continued: "further request"
        case .resolved: "stored resolution"
        case .waited: "end of a wait"
        case .cancelled: "cancellation"
        case .refreshed: "credentials"
        case .broken: "failure of the store"
        }
    }
}
