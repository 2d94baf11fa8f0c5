// The push as a state machine: it is told what happened and returns what to do next. It decides the order, which
// operations wait for which, what is retried, and when everything stops. The driver carries out the actions.

/// Settings of a push.
public struct PushSettings: Sendable {
    /// The tables whose operations are pushed; nil for all.
    public var tables: Set<String>?
    /// How conflicts are decided.
    public var policy: ConflictPolicy
    /// The maximum number of operations on different rows in flight at once.
    public var concurrency: Int
    /// The maximum number of operations in one request, if the server supports batches; 1 to send each alone. Batch requests
    /// are sent one after another, whatever the concurrency, and don't cut a transaction that fits.
    public var batchSize: Int
    /// How often a request is retried if the server is busy or failing.
    public var retries: Int
    /// The approximate maximum size of a request with several operations, in bytes.
    package var batchBytes = 256 << 10
    /// Whether the server is known to accept several operations in one request.
    package var takesBatches = false
    /// How often a policy may rebase one operation.
    static let rebaseLimit = 4
    /// How many pushes in a row an operation may stop with 500 before it is parked.
    static let failureLimit = 3

    /// Creates settings. Omitted ones have their defaults.
    public init(
        tables: Set<String>? = nil, policy: ConflictPolicy = .fail, concurrency: Int = 1, batchSize: Int = 100,
        retries: Int = 3
    ) {
        self.tables = tables
        self.policy = policy
        self.concurrency = concurrency
        self.batchSize = batchSize
        self.retries = retries
    }
}

package struct PushMachine: Sendable {
    package internal(set) var items: [Item]
    /// Why the push stopped.
    package private(set) var stop: SyncError?
    let options: PushSettings
    private let ids: IDComparison
    private var isRefreshing = false
    private var hasRefreshed = false
    /// The first item that may be unfinished.
    private var front = 0
    /// Whether the server did anything but fail in this push.
    private var serverWorks = false
    var tally = PushTally()
    var batches: PushBatches
    /// The number of operations that this push has decided.
    package private(set) var finishedCount = 0
    /// The number of operations that it set out to decide: all except those that awaited a decision when it began.
    package let total: Int
    /// For an operation that follows another one of its row: that one.
    private var earlier: [Int: Int] = [:]

    package init(_ plan: [PlannedOperation], ids: IDComparison, _ options: PushSettings) {
        self.options = options
        self.ids = ids
        batches = PushBatches(takesBatches: options.takesBatches && options.batchSize > 1)
        var blocked: [[UInt8]: OperationReport.Reason] = [:]
        var latest: [[UInt8]: Int] = [:]
        for (index, operation) in plan.enumerated() where operation.isOneOfSeveral {
            earlier[index] = latest.updateValue(index, forKey: operation.rowKey)
        }
        items = plan.map { operation in
            var item = Item(
                operation: operation, position: operation.position, through: operation.through,
                report: OperationReport(table: operation.table, id: operation.id, kind: operation.kind),
                arrival: operation.maybeSent ? .unknown : .impossible)
            switch operation.state {
            case .conflict, .parked:
                item.report.outcome = operation.state == .conflict ? .conflict : .parked
                item.report.status = operation.status
                item.report.reason = .conflict(ConflictReason(recorded: operation.code))
                blocked[operation.rowKey] = item.report.reason
            case .held: item.report.reason = .held
            case .pending, .inFlight: item.report.reason = blocked[operation.rowKey]
            }
            if item.report.reason != nil { item.phase = .finished }
            return item
        }
        total = items.count { !$0.phase.isFinished }
    }

    package mutating func start() -> [Action] { next() + depart() }

    /// The keys of the rows whose operations are in flight, or whose answers are being stored.
    package var rowsOnTheirWay: Set<[UInt8]> {
        Set(tally.underWay.map { items[$0].operation.rowKey })
    }

    // MARK: What happened

    package mutating func handle(_ input: Input) -> [Action] {
        let actions = decide(input)
        return actions + depart()
    }

    private mutating func decide(_ input: Input) -> [Action] {
        if let actions = endWait(input) { return actions }
        guard takes(input) else { return refuse(input) }
        switch input {
        case .frozen(let index, let freezing):
            return frozen(index, freezing)
        case .replied(let index, let reply):
            batches.learn(from: reply, options)
            return judge(index, reply)
        case .repliedTogether(let indices, let reply):
            return judge(indices, reply)
        case .failed(let index, let failure):
            if case .sent = items[index].phase, !failure.isBeforeSending { items[index].arrival = .unknown }
            return end(index, SyncError(of: failure))
        case .continued(let index, let request):
            return proceed(index, with: request)
        case .recorded(let index, let conflict, let hasBase):
            if let conflict, conflict.reason == .rightLost { items[index].report.reason = .conflict(.rightLost) }
            guard case .deciding = items[index].phase else { return finish(index) }
            return decide(index, conflict, hasBase: hasBase)
        case .resolved(let index, let place):
            if let place { (items[index].position, items[index].through) = (place, place) }
            guard case .resolving(sendsAgain: true) = items[index].phase, stop == nil else { return finish(index) }
            return [freeze(index, again: true)]
        case .waited(let index):
            return resend(index)
        case .cancelled(let index):
            return end(index, SyncError(of: .cancelled))
        case .refreshed(let failure):
            return refreshed(failure)
        case .broken(let error):
            return broken(error)
        }
    }

    private func takes(_ input: Input) -> Bool {
        if case .refreshed = input { return isRefreshing }
        let indices = input.indices
        return Set(indices).count == indices.count
            && indices.allSatisfy { items.indices.contains($0) && items[$0].phase.takes(input) }
    }

    private mutating func frozen(_ index: Int, _ freezing: Freezing) -> [Action] {
        switch freezing {
        case .ready(let request, let history):
            items[index].history = history
            if options.policy.revives, request.kind == .insert { items[index].history.mayRevive = true }
            return prepare(index, request)
        case .nothing:
            items[index].report.outcome = .done
            return finish(index)
        case .blocked(let conflict):
            return block(index, conflict)
        case .held:
            items[index].report.reason = .held
            return finish(index)
        }
    }

    private mutating func broken(_ error: SyncError) -> [Action] {
        halt(error)
        // If an answer could not be stored, it does not count, whatever it said: the operation is sent again.
        for index in tally.underWay { note(index, .pending, .stopped(error.code)) }
        for index in batches.takeLeft() { move(index, to: .finished) }
        return []
    }

    mutating func judge(_ index: Int, _ reply: ServerReply) -> [Action] {
        let phase = items[index].phase
        guard let request = phase.request else { return refuse(.replied(index, reply)) }
        let judge = WriteJudge(
            request, ids: ids,
            mayRevive: items[index].history.mayRevive && items[index].revivals < PushSettings.rebaseLimit)
        let verdict: Verdict
        let status: Int
        if case .fetching(_, let original) = phase {
            verdict = judge.judge(fetched: reply, after: original)
            status = original
        } else {
            verdict = judge.judge(reply)
            status = reply.status
        }
        items[index].report.status = status
        serverWorks = serverWorks || verdict.isAnswer
        func answer(_ outcome: Answer.Outcome) -> Answer {
            Answer(
                table: request.table, id: request.id, operationID: request.operationID, status: status,
                outcome: outcome, message: reply.message)
        }
        switch verdict {
        case .done(let row):
            note(index, .done, items[index].policy.map { .decided(by: $0) })
            items[index].report.rounded = row.row.map { request.rounded(in: $0) } ?? []
            return settle(index, answer(.done(row)))
        case .conflict(let server, let reason):
            note(index, .conflict, .conflict(reason))
            var answer = answer(.conflict(server: server, code: reason.rawValue))
            answer.mayHaveBeenDone =
                server != nil && items[index].arrival == .unknown && !reply.capabilities.contains(.operations)
            // A policy may send it again before the next one.
            if case .fail = options.policy { return settle(index, answer) }
            return [record(index, answer, then: .deciding)]
        case .refused:
            note(index, .conflict, .conflict(.gone))
            var answer = answer(.conflict(server: nil, code: ConflictReason.gone.rawValue))
            answer.message = answer.message ?? "the server answered \(status) when asked to restore the row"
            return settle(index, answer)
        case .tombstone(let row):
            items[index].revivals += 1
            return [record(index, answer(.tombstone(row)), then: .proceeding)]
        case .revived(let row):
            return [record(index, answer(.revived(row)), then: .proceeding)]
        case .parked(let words):
            note(index, .parked, .conflict(.rejected))
            var answer = answer(.parked)
            answer.message = answer.message ?? words
            return settle(index, answer)
        case .fetch:
            move(index, to: .fetching(request, after: reply.status))
            // Whatever the fetch returns, the write was received.
            items[index].arrival = max(items[index].arrival, .answered)
            return [.send(index, fetch(request))]
        case .unauthorized:
            return unauthorized(index, reply)
        case .retry(let mayHaveArrived):
            if mayHaveArrived { items[index].arrival = .unknown }
            items[index].attempts += 1
            guard items[index].attempts <= options.retries, stop == nil,
                reply.isWaitedFor
            else {
                if reply.status == 500, items[index].attempts > options.retries {
                    return fail(index, reply, answer)
                }
                return end(index, SyncError(of: reply))
            }
            if batches.wait(index, attempt: items[index].attempts, reply.retryAfter) {
                move(index, to: .waiting(request))
                return []
            }
            move(index, to: .pausing(request))
            return [.wait(index, attempt: items[index].attempts, reply.retryAfter)]
        case .unknown(let reason):
            return end(index, SyncError(.serverError, reason, hint: "Nothing is lost: push again later."))
        }
    }

    /// The server answered 500 to every attempt. If it does so push after push, but answers other operations, this
    /// operation is the cause: it is parked, so that the others can continue.
    private mutating func fail(
        _ index: Int, _ reply: ServerReply, _ answer: (Answer.Outcome) -> Answer
    ) -> [Action] {
        let history = items[index].history
        let works = history.serverWorks || history.failures > 0 && serverWorks
        items[index].history.failures += 1
        if history.failures + 1 >= PushSettings.failureLimit, works, stop == nil {
            note(index, .parked, .conflict(.rejected))
            return settle(index, answer(.parked))
        }
        halt(SyncError(of: reply))
        note(index, .pending, stop.map { .stopped($0.code) })
        var actions = [record(index, answer(.failing), then: .givingUp)]
        // It is recorded after the failure that it counts for.
        if history.failures > 0, serverWorks, !history.serverWorks {
            actions.append(.store(.noteServerWorks))
        }
        return actions
    }

    // MARK: Credentials

    private mutating func unauthorized(_ index: Int, _ reply: ServerReply) -> [Action] {
        guard !hasRefreshed || isRefreshing, stop == nil else {
            return end(index, SyncError.unauthorized(reply))
        }
        switch items[index].phase {
        case .fetching(let request, let status):
            move(index, to: .waitingForCredentials(request, fetchesAfter: status))
        default:
            if let request = items[index].phase.request {
                move(index, to: .waitingForCredentials(request, fetchesAfter: nil))
            }
        }
        if isRefreshing { return [] }
        isRefreshing = true
        hasRefreshed = true
        return [.refreshCredentials]
    }

    private mutating func refreshed(_ failure: SyncError?) -> [Action] {
        isRefreshing = false
        return tally.underWay.sorted().flatMap { index -> [Action] in
            guard case .waitingForCredentials = items[index].phase else { return [] }
            guard let reason = stop ?? failure else { return resend(index) }
            return end(index, reason)
        }
    }

    /// The wait of one operation is over.
    private mutating func resend(_ index: Int) -> [Action] {
        guard let request = items[index].phase.request else { return [] }
        if stop == nil, case .waitingForCredentials(_, let status?) = items[index].phase {
            move(index, to: .fetching(request, after: status))
            return [.send(index, fetch(request))]
        }
        return prepare(index, request)
    }

    /// Fetches the row that an answer did not contain. The version of a tombstone is needed to restore the row.
    private func fetch(_ request: WriteRequest) -> ServerRequest {
        .row(table: request.table, id: request.id, includesDeleted: request.kind == .insert)
    }

    /// Continues with another request after the answer was stored.
    private mutating func proceed(_ index: Int, with request: WriteRequest) -> [Action] {
        items[index].attempts = 0
        items[index].arrival = .impossible
        return prepare(index, request)
    }

    // MARK: Conflicts

    /// The conflict is stored, and the policy may decide it.
    private mutating func decide(_ index: Int, _ conflict: Conflict?, hasBase: Bool) -> [Action] {
        guard let conflict, conflict.state == .conflict, stop == nil, !conflict.mayHaveBeenDone,
            items[index].rebases < PushSettings.rebaseLimit
        else { return finish(index) }
        // If a merge is not possible, the conflict stays.
        let decision = options.policy.decide(conflict)
        let resolution = try? conflict.resolution(decision, hasBase: hasBase, policy: options.policy.name)
        guard let resolution else { return finish(index) }
        items[index].policy = options.policy.name
        items[index].rebases += 1
        if resolution.change == nil {
            note(index, .done, .decided(by: options.policy.name))
        } else {
            items[index].report.outcome = .pending
            // What was sent is decided; the next request has not been tried.
            items[index].arrival = .impossible
            items[index].through = items[index].position
        }
        move(index, to: .resolving(sendsAgain: resolution.change != nil))
        return [.store(.resolve(index, resolution))]
    }

    private mutating func block(_ index: Int, _ conflict: Conflict) -> [Action] {
        items[index].report.status = conflict.status
        note(index, conflict.state == .conflict ? .conflict : .parked, .conflict(conflict.reason))
        return finish(index)
    }

    // MARK: Ends

    mutating func halt(_ error: SyncError) { stop = stop ?? error }

    /// Notes the result of an operation as far as it is known.
    mutating func note(_ index: Int, _ outcome: OperationReport.Outcome, _ reason: OperationReport.Reason?) {
        items[index].report.outcome = outcome
        items[index].report.reason = reason
    }

    /// Stops the push. The operation thaws if it certainly did not reach the server. While something about it is being
    /// stored, it waits for that.
    private mutating func end(_ index: Int, _ error: SyncError) -> [Action] {
        halt(error)
        guard let request = items[index].phase.request else { return next() }
        return giveUp(index, request)
    }

    mutating func giveUp(_ index: Int, _ request: WriteRequest) -> [Action] {
        note(index, .pending, stop.map { .stopped($0.code) })
        // If the push was stopped by anything but 500, the operation has not failed in a row.
        let outcome: Answer.Outcome = items[index].arrival == .impossible ? .notReceived : .interrupted
        if outcome == .interrupted, items[index].history.failures == 0 || stop?.code == .cancelled {
            return finish(index)
        }
        items[index].history.failures = 0
        let answer = Answer(
            table: request.table, id: request.id, operationID: request.operationID,
            status: items[index].report.status ?? 0, outcome: outcome)
        return [record(index, answer, then: .givingUp)]
    }

    private mutating func finish(_ index: Int) -> [Action] {
        move(index, to: .finished)
        // An operation that was given up is still to be sent.
        if items[index].report.outcome != .pending { finishedCount += 1 }
        return next()
    }

    /// The result of an operation is known: while it is stored, the next one may begin.
    private mutating func settle(_ index: Int, _ answer: Answer) -> [Action] {
        [record(index, answer, then: .settling)] + next()
    }

    private mutating func record(_ index: Int, _ answer: Answer, then phase: Phase) -> Action {
        move(index, to: phase)
        return .store(.record(index, answer, items[index].operation))
    }

    private mutating func freeze(_ index: Int, again: Bool) -> Action {
        move(index, to: .freezing(again: again))
        let item = items[index]
        return .store(.freeze(index, item.operation, position: item.position, through: item.through))
    }

    /// Starts what may start now: in order, at most one operation per row, and no operation before an unfinished one of
    /// its row.
    mutating func next() -> [Action] {
        while front < items.count, items[front].phase.isFinished { front += 1 }
        guard stop == nil else {
            for index in front..<items.count where items[index].phase.isPlanned {
                items[index].report.reason = stop.map { .stopped($0.code) }
            }
            return []
        }
        // Operations that are sent together also end together, so that the order of the plan is kept across requests.
        if batches.takesBatches, tally.active > 0 { return [] }
        let limit = batches.takesBatches ? options.batchSize : max(1, options.concurrency)
        var actions: [Action] = []
        for index in front..<items.count where items[index].phase.isPlanned {
            if tally.active >= limit { break }
            switch blocker(of: index) {
            // Nothing that comes after a follow-up is sent before it: a lost answer must not reverse the order.
            case .waits: return actions
            case .free where cutsTransaction(index, limit): return actions
            case .free:
                actions.append(freeze(index, again: false))
            case .never(let reason):
                items[index].report.reason = reason
                move(index, to: .finished)
            }
        }
        return actions
    }

    private enum Blocker {
        case free, waits
        case never(OperationReport.Reason?)
    }

    private func blocker(of index: Int) -> Blocker {
        guard let before = earlier[index] else { return .free }
        if !items[before].phase.isFinished { return .waits }
        return items[before].report.outcome == .done ? .free : .never(items[before].report.reason)
    }
}
