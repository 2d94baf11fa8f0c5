// Where an operation is in its push. Each phase takes some inputs; any other input stops the push with a sentence, and the
// operation stays as the store has it.

extension PushMachine {
    enum Phase: Sendable {
        /// Nothing has begun.
        case planned
        /// The store freezes it; `again` after a policy has decided its conflict.
        case freezing(again: Bool)
        /// Frozen, and to be sent as this.
        case ready(WriteRequest)
        /// On its way, alone or with others.
        case sent(WriteRequest)
        /// An answer with this status did not show the row, which is being fetched.
        case fetching(WriteRequest, after: Int)
        /// It waits by itself to be sent again.
        case pausing(WriteRequest)
        /// It waits with others to be sent again.
        case waiting(WriteRequest)
        /// It waits for other credentials, and then is sent again, or fetches the row again.
        case waitingForCredentials(WriteRequest, fetchesAfter: Int?)
        /// Its conflict is being stored; then the policy decides.
        case deciding
        /// An answer is being stored with which it continues as another request.
        case proceeding
        /// The policy's decision is being stored; whether something is left to be sent.
        case resolving(sendsAgain: Bool)
        /// Its fate is being stored, and the next may begin meanwhile.
        case settling
        /// That this push does not finish it is being stored.
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

    /// Whether it was sent, and what becomes of that is not decided.
    var isOut: Bool {
        switch self {
        case .freezing(let again): again
        case .sent, .fetching, .pausing, .waitingForCredentials, .deciding, .proceeding, .resolving, .givingUp: true
        case .planned, .ready, .waiting, .settling, .finished: false
        }
    }

    /// What is sent, if that is settled.
    var request: WriteRequest? {
        switch self {
        case .ready(let request), .sent(let request), .fetching(let request, _), .pausing(let request),
            .waiting(let request), .waitingForCredentials(let request, _):
            request
        case .planned, .freezing, .deciding, .proceeding, .resolving, .settling, .givingUp, .finished: nil
        }
    }

    /// What it does, for people.
    var words: String {
        switch self {
        case .planned: "has not begun"
        case .freezing: "is being frozen"
        case .ready: "is ready to be sent"
        case .sent: "is on its way"
        case .fetching: "is fetching the server's row"
        case .pausing: "waits to be sent again"
        case .waiting: "waits with others to be sent again"
        case .waitingForCredentials: "waits for credentials"
        case .deciding: "has its conflict stored"
        case .proceeding: "has an answer stored with which it continues"
        case .resolving: "has its resolution stored"
        case .settling: "has its fate stored"
        case .givingUp: "is being given up"
        case .finished: "is finished"
        }
    }
}

/// How many operations are in which phases. It follows from the phases, and saves looking at all of them.
struct PushTally: Sendable, Equatable {
    /// Those that have begun and are not finished.
    private(set) var underWay: Set<Int> = []
    private(set) var freezing = 0
    private(set) var settling = 0
    /// Sent, and not decided.
    private(set) var out = 0

    /// Those that keep others from beginning: while a fate is stored, the next may begin.
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
    /// An input that the operation, or the push, does not wait for. Somebody has mistaken one for another, so nothing more
    /// is begun; what is on its way is waited for.
    mutating func refuse(_ input: Input) -> [Action] {
        let indices = input.indices.filter(items.indices.contains)
        let place =
            if indices.count < input.indices.count {
                "for an operation that is not in it"
            } else if let index = indices.first(where: { !items[$0].phase.takes(input) }) ?? indices.first {
                "for \(items[index].operation.id) in \(items[index].operation.table), which \(items[index].phase.words)"
            } else {
                "that nothing waits for"
            }
        halt(
            SyncError(
                .internalError, "the push got \(input.words) \(place)",
                hint: "Nothing is lost: push again. What was not confirmed is sent again then."))
        for index in indices where items[index].phase.isUnderWay {
            items[index].report.outcome = .pending
            items[index].report.code = SyncError.Code.internalError.rawValue
        }
        return next()
    }
}

extension PushMachine.Phase {
    /// Whether an operation in this phase waits for such an input.
    func takes(_ input: PushMachine.Input) -> Bool {
        switch (self, input) {
        case (.freezing, .frozen),
            (.sent, .replied), (.sent, .repliedTogether), (.sent, .failed),
            (.fetching, .replied), (.fetching, .failed),
            (.pausing, .waited),
            (.deciding, .recorded), (.settling, .recorded), (.givingUp, .recorded),
            // It may turn out to have nothing to continue with.
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
    /// The operations it tells about; none if it tells about the whole push.
    var indices: [Int] {
        switch self {
        case .frozen(let index, _), .replied(let index, _), .failed(let index, _), .recorded(let index, _, _),
            .continued(let index, _), .resolved(let index), .waited(let index), .cancelled(let index):
            [index]
        case .repliedTogether(let indices, _): indices
        case .refreshed, .broken: []
        }
    }

    /// What it tells, for people.
    var words: String {
        switch self {
        case .frozen: "a frozen operation"
        case .replied, .repliedTogether: "an answer"
        case .failed: "a failure"
        case .recorded: "a stored answer"
        case .continued: "another request"
        case .resolved: "a stored resolution"
        case .waited: "the end of a wait"
        case .cancelled: "a cancelled request"
        case .refreshed: "news of credentials"
        case .broken: "a failure of the store"
        }
    }
}
