// The push as a machine: it is told what happened and says what to do next. It decides the order, who waits for whom,
// what is tried again and when everything stops; doing it is the driver's.

/// How a push goes about it.
package struct PushOptions: Sendable {
    package var policy = ConflictPolicy.fail
    /// How many operations on different rows may be on their way at once.
    package var concurrency = 1
    /// How often an operation is tried again after a 408, 429 or 5xx.
    package var retries = 3
    /// How many operations go in one request, where the server takes several.
    package var batchSize = 100
    /// About how many bytes go in one request.
    package var batchBytes = 256 << 10
    /// Whether the server is known to take several.
    package var takesBatches = false
    /// How often a policy may rebase one operation.
    static let rebaseLimit = 4
    /// How many pushes in a row an operation stops with 500 before it is parked.
    static let failureLimit = 3

    package init() {}
}

package struct PushMachine: Sendable {
    package internal(set) var items: [Item]
    /// Why the push stopped.
    package private(set) var stop: SyncError?
    let options: PushOptions
    private let ids: IDComparison
    private var isRefreshing = false
    private var hasRefreshed = false
    /// The first item that may not be finished.
    private var front = 0
    /// Those that are on their way.
    private(set) var active: Set<Int> = []
    /// Whether the server did anything in this push but fail.
    private var serverWorks = false
    /// What is ready to be sent, and with what.
    var departures: PushDepartures
    /// Those whose answer is being stored: the next may be sent meanwhile.
    private var settling: Set<Int> = []
    /// How many operations this push has decided.
    package private(set) var finishedCount = 0
    /// How many it set out to decide: all but those that waited for a decision when it began.
    package let total: Int
    /// For an operation behind another of its row, that other.
    private var earlier: [Int: Int] = [:]

    package init(_ plan: [PlannedOperation], ids: IDComparison, _ options: PushOptions) {
        self.options = options
        self.ids = ids
        departures = PushDepartures(takesBatches: options.takesBatches && options.batchSize > 1)
        var blocked: [[UInt8]: String] = [:]
        var latest: [[UInt8]: Int] = [:]
        for (index, operation) in plan.enumerated() where operation.isOneOfSeveral {
            earlier[index] = latest.updateValue(index, forKey: operation.rowKey)
        }
        items = plan.map { operation in
            var report = OperationReport(table: operation.table, id: operation.id, kind: operation.kind)
            var item = Item(
                operation: operation, position: operation.position, through: operation.through, report: report,
                mayHaveArrived: operation.maybeSent, hasLostAnswer: operation.maybeSent)
            if operation.state == .conflict || operation.state == .parked {
                report.outcome = operation.state == .conflict ? .conflict : .parked
                report.status = operation.status
                report.code = operation.code
                blocked[operation.rowKey] = operation.code ?? "conflict"
                item.isFinished = true
            } else if let code = blocked[operation.rowKey] {
                report.code = code
                item.isFinished = true
            }
            item.report = report
            return item
        }
        total = items.count { !$0.isFinished }
    }

    package mutating func start() -> [Action] { next() + depart() }

    /// The keys of the rows whose operations are being sent, or whose answers are being stored.
    package var rowsOnTheirWay: Set<[UInt8]> {
        Set(active.union(settling).map { items[$0].operation.rowKey })
    }

    // MARK: What happened

    package mutating func handle(_ input: Input) -> [Action] {
        let actions = decide(input)
        return actions + depart()
    }

    private mutating func decide(_ input: Input) -> [Action] {
        if case .frozen(let index, _) = input { departures.freezing.remove(index) }
        switch input {
        case .frozen(let index, .ready(let request, let standing)):
            items[index].request = request
            items[index].mayRevive = standing.mayRevive || options.policy.revives && request.kind == .insert
            items[index].failures = standing.failures
            items[index].serverWorks = standing.serverWorks
            if stop != nil { return giveUp(index) }
            departures.prepare(index)
            return []
        case .frozen(let index, .nothing):
            items[index].report.outcome = .done
            return finish(index)
        case .frozen(let index, .blocked(let conflict)):
            return block(index, conflict)
        case .replied(let index, let reply):
            departures.learn(from: reply, options)
            return judge(index, reply)
        case .repliedTogether(let indices, let reply):
            return judge(indices, reply)
        case .failed(let index, let failure):
            if items[index].fetchingAfter == nil, !failure.isBeforeSending {
                items[index].mayHaveArrived = true
                items[index].hasLostAnswer = true
            }
            return end(index, SyncError(of: failure))
        case .continued(let index, let request):
            return proceed(index, with: request)
        case .recorded(let index, let conflict, let hasBase):
            return recorded(index, conflict, hasBase: hasBase)
        case .resolved(let index):
            guard items[index].report.outcome != .done, stop == nil else { return finish(index) }
            return [freeze(index)]
        case .waited(let index):
            if departures.endWait(index) { return [] }
            if stop != nil { return giveUp(index) }
            return resend(index)
        case .cancelled(let index):
            return end(index, SyncError(of: .cancelled))
        case .refreshed(let failure):
            return refreshed(failure)
        case .broken(let error):
            stop = stop ?? error
            // What could not be stored is not done, whatever the server answered: it is sent again.
            for index in active.union(settling) {
                items[index].report.outcome = .pending
                items[index].report.code = error.code.rawValue
            }
            departures.clear()
            return []
        }
    }

    mutating func judge(_ index: Int, _ reply: ServerReply) -> [Action] {
        guard let request = items[index].request else { return [] }
        let judge = WriteJudge(
            request, ids: ids, mayRevive: items[index].mayRevive && items[index].revivals < PushOptions.rebaseLimit)
        let verdict: Verdict
        let status: Int
        if let original = items[index].fetchingAfter {
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
            items[index].report.outcome = .done
            items[index].report.code = items[index].policy
            return settle(index, answer(.done(row)))
        case .conflict(let server, let code):
            items[index].report.outcome = .conflict
            items[index].report.code = code
            var answer = answer(.conflict(server: server, code: code))
            answer.mayHaveBeenDone =
                server != nil && items[index].hasLostAnswer && !reply.capabilities.contains(.operations)
            // A policy may send it again before the next.
            if case .fail = options.policy { return settle(index, answer) }
            return [record(index, answer)]
        case .refused:
            items[index].report.outcome = .conflict
            items[index].report.code = "row-gone"
            items[index].isRefused = true
            var answer = answer(.conflict(server: nil, code: "row-gone"))
            answer.message = answer.message ?? "the server answered \(status) when asked to bring the row back"
            return settle(index, answer)
        case .tombstone(let row):
            items[index].revivals += 1
            return [record(index, answer(.tombstone(row)))]
        case .revived(let row):
            return [record(index, answer(.revived(row)))]
        case .parked:
            items[index].report.outcome = .parked
            items[index].report.code = "rejected"
            return settle(index, answer(.parked))
        case .fetch:
            items[index].fetchingAfter = reply.status
            // Whatever the fetch brings, the write was received.
            items[index].mayHaveArrived = true
            return [.send(index, fetch(request))]
        case .unauthorized:
            return unauthorized(index, reply)
        case .retry(let mayHaveArrived):
            if mayHaveArrived {
                items[index].mayHaveArrived = true
                items[index].hasLostAnswer = true
            }
            items[index].attempts += 1
            guard items[index].attempts <= options.retries, stop == nil,
                reply.isWaitedFor
            else {
                if reply.status == 500, items[index].attempts > options.retries {
                    return fail(index, reply, answer)
                }
                return end(index, SyncError(of: reply))
            }
            if departures.wait(index, attempt: items[index].attempts, reply.retryAfter) { return [] }
            return [.wait(index, attempt: items[index].attempts, reply.retryAfter)]
        case .unknown(let reason):
            return end(index, SyncError(.serverError, reason, hint: "Nothing is lost: push again later."))
        }
    }

    /// The server answered 500 to every try. An operation to which it does so push after push, while it answers others, is
    /// the cause: it is parked, so that the rest goes on.
    private mutating func fail(
        _ index: Int, _ reply: ServerReply, _ answer: (Answer.Outcome) -> Answer
    ) -> [Action] {
        let works = items[index].serverWorks || items[index].failures > 0 && serverWorks
        items[index].failures += 1
        if items[index].failures >= PushOptions.failureLimit, works, stop == nil {
            items[index].report.outcome = .parked
            items[index].report.code = "rejected"
            return settle(index, answer(.parked))
        }
        stop = stop ?? SyncError(of: reply)
        items[index].report.code = stop?.code.rawValue
        items[index].report.outcome = .pending
        var actions = [record(index, answer(.failing))]
        // It is recorded after the failure that it counts for.
        if items[index].failures > 1, serverWorks, !items[index].serverWorks {
            actions.append(.store(.noteServerWorks))
        }
        return actions
    }

    // MARK: Credentials

    private mutating func unauthorized(_ index: Int, _ reply: ServerReply) -> [Action] {
        guard !hasRefreshed || isRefreshing, stop == nil else {
            return end(index, SyncError.unauthorized(reply))
        }
        items[index].isWaitingForCredentials = true
        if isRefreshing { return [] }
        isRefreshing = true
        hasRefreshed = true
        return [.refreshCredentials]
    }

    private mutating func refreshed(_ failure: SyncError?) -> [Action] {
        isRefreshing = false
        let waiting = items.indices.filter { items[$0].isWaitingForCredentials }
        var actions: [Action] = []
        for index in waiting {
            items[index].isWaitingForCredentials = false
            if let reason = stop ?? failure { actions += end(index, reason) } else { actions += resend(index) }
        }
        return actions
    }

    private mutating func resend(_ index: Int) -> [Action] {
        guard let request = items[index].request else { return [] }
        if items[index].fetchingAfter != nil { return [.send(index, fetch(request))] }
        departures.prepare(index)
        return []
    }

    /// The row that an answer did not show. The version of a tombstone is needed to bring the row back.
    private func fetch(_ request: WriteRequest) -> ServerRequest {
        .row(table: request.table, id: request.id, includesDeleted: request.kind == .insert)
    }

    /// What was stored goes on as another request.
    private mutating func proceed(_ index: Int, with request: WriteRequest) -> [Action] {
        items[index].request = request
        items[index].fetchingAfter = nil
        items[index].attempts = 0
        items[index].mayHaveArrived = false
        items[index].hasLostAnswer = false
        if stop != nil { return giveUp(index) }
        departures.prepare(index)
        return []
    }

    // MARK: Conflicts

    private mutating func recorded(_ index: Int, _ conflict: Conflict?, hasBase: Bool) -> [Action] {
        guard let conflict, conflict.state == .conflict, items[index].report.outcome == .conflict, stop == nil,
            !conflict.mayHaveBeenDone, !items[index].isRefused,
            items[index].rebases < PushOptions.rebaseLimit
        else { return finish(index) }
        // A merge that can't be is a conflict that stays.
        let decision = options.policy.decide(conflict)
        let resolution = try? conflict.resolution(decision, hasBase: hasBase, policy: options.policy.name)
        guard let resolution else { return finish(index) }
        items[index].policy = options.policy.name
        items[index].rebases += 1
        if resolution.change == nil {
            items[index].report.outcome = .done
            items[index].report.code = options.policy.name
        } else {
            items[index].report.outcome = .pending
            // What was sent is decided: it can't be answered any more.
            items[index].request = nil
            items[index].fetchingAfter = nil
            items[index].mayHaveArrived = false
            items[index].hasLostAnswer = false
            items[index].through = items[index].position
        }
        return [.store(.resolve(index, resolution))]
    }

    private mutating func block(_ index: Int, _ conflict: Conflict) -> [Action] {
        items[index].report.outcome = conflict.state == .conflict ? .conflict : .parked
        items[index].report.status = conflict.status
        items[index].report.code = conflict.code
        return finish(index)
    }

    // MARK: Ends

    /// The push stops; what of this operation is known not to have arrived thaws.
    private mutating func end(_ index: Int, _ error: SyncError) -> [Action] {
        stop = stop ?? error
        return giveUp(index)
    }

    mutating func giveUp(_ index: Int) -> [Action] {
        items[index].report.code = stop?.code.rawValue
        items[index].report.outcome = .pending
        guard let request = items[index].request else { return finish(index) }
        // One that stays frozen has not failed in a row if anything but 500 stopped this push.
        let outcome: Answer.Outcome = items[index].mayHaveArrived ? .interrupted : .notReceived
        if outcome == .interrupted, items[index].failures == 0 || stop?.code == .cancelled { return finish(index) }
        items[index].failures = 0
        let answer = Answer(
            table: request.table, id: request.id, operationID: request.operationID,
            status: items[index].report.status ?? 0, outcome: outcome)
        return [record(index, answer)]
    }

    private mutating func finish(_ index: Int) -> [Action] {
        active.remove(index)
        departures.remove(index)
        settling.remove(index)
        items[index].isFinished = true
        // What was given up is still to be sent.
        if items[index].report.outcome != .pending { finishedCount += 1 }
        return next()
    }

    /// The fate of an operation is known: while it is stored, the next may begin.
    private mutating func settle(_ index: Int, _ answer: Answer) -> [Action] {
        active.remove(index)
        departures.remove(index)
        settling.insert(index)
        return [record(index, answer)] + next()
    }

    private func record(_ index: Int, _ answer: Answer) -> Action {
        .store(.record(index, answer, items[index].operation))
    }

    private mutating func freeze(_ index: Int) -> Action {
        departures.freezing.insert(index)
        let item = items[index]
        return .store(.freeze(index, item.operation, position: item.position, through: item.through))
    }

    /// Starts what may start now: in order, no two on one row, none behind one of its row that is not done.
    private mutating func next() -> [Action] {
        while front < items.count, items[front].isFinished { front += 1 }
        guard stop == nil else {
            for index in items[front...].indices where !items[index].isFinished && !isUnderWay(index) {
                items[index].report.code = stop?.code.rawValue
            }
            return []
        }
        // What goes together also ends together, so that the order of the plan is kept from one request to the next.
        if departures.takesBatches, !active.isEmpty { return [] }
        let limit = departures.takesBatches ? options.batchSize : max(1, options.concurrency)
        var actions: [Action] = []
        var index = front
        while active.count < limit, index < items.count {
            defer { index += 1 }
            guard !items[index].isFinished, !isUnderWay(index) else { continue }
            switch blocker(of: index) {
            case .free:
                active.insert(index)
                actions.append(freeze(index))
            // Nothing that stands after a follow-up is sent before it: a lost reply must not turn the order around.
            case .waits: return actions
            case .never(let code):
                items[index].report.code = code
                items[index].isFinished = true
            }
        }
        return actions
    }

    private func isUnderWay(_ index: Int) -> Bool { active.contains(index) || settling.contains(index) }

    private enum Blocker {
        case free, waits
        case never(String?)
    }

    private func blocker(of index: Int) -> Blocker {
        guard let before = earlier[index] else { return .free }
        if !items[before].isFinished { return .waits }
        return items[before].report.outcome == .done ? .free : .never(items[before].report.code)
    }
}
