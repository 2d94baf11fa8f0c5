// Which writes leave when, and which leave together: where the server takes several in one request, those that were made ready
// together go together, and what has to be tried again waits once for all. Each is judged by itself, as if it had gone alone.

/// The order of what is ready to be sent, or waits with others to be sent again. Which operations are here follows from their
/// phases.
struct PushDepartures: Sendable {
    private(set) var takesBatches: Bool
    /// It refused several once, and is not asked again in this push.
    private var hasRefused = false
    /// In the order in which they are to be sent.
    private(set) var ready: [Int] = []
    /// To be sent again when the wait is over.
    private(set) var waiting: [Int] = []
    private var wait: (attempt: Int, after: ServerReply.RetryAfter?)?
    /// The operation in whose name they wait, while they do.
    private(set) var waitsFor: Int?

    init(takesBatches: Bool) {
        self.takesBatches = takesBatches
    }

    /// An answer tells what the server can do.
    mutating func learn(from reply: ServerReply, _ options: PushOptions) {
        if reply.status < 500 { takesBatches = offers(reply, options) && !hasRefused }
    }

    private func offers(_ reply: ServerReply, _ options: PushOptions) -> Bool {
        options.batchSize > 1 && reply.capabilities.contains(.batch)
    }

    mutating func refuse() {
        hasRefused = true
        takesBatches = false
    }

    /// They are to be sent, perhaps again.
    mutating func prepare(_ index: Int) {
        ready.append(index)
    }

    mutating func prepareFirst(_ indices: [Int]) {
        ready = indices + ready
    }

    /// What did not leave and will not.
    mutating func takeLeft() -> [Int] {
        defer { (ready, waiting) = ([], []) }
        return ready + waiting
    }

    // MARK: Waiting

    /// Whether the operation waits with others.
    mutating func wait(_ index: Int, attempt: Int, _ after: ServerReply.RetryAfter?) -> Bool {
        guard takesBatches else { return false }
        waiting.append(index)
        wait = (max(attempt, wait?.attempt ?? 0), after ?? wait?.after)
        return true
    }

    /// The wait to begin now, if one is due: nothing that went along is on its way any more.
    mutating func startWait(_ tally: PushTally) -> (index: Int, attempt: Int, after: ServerReply.RetryAfter?)? {
        guard waitsFor == nil, tally.out == 0, let wait, let first = waiting.min() else { return nil }
        waitsFor = first
        return (first, wait.attempt, wait.after)
    }

    /// The wait is over: those that waited are ready again.
    mutating func endWait() -> [Int] {
        let ended = waiting.sorted()
        ready = ended + ready
        (waiting, wait, waitsFor) = ([], nil, nil)
        return ended
    }

    // MARK: Leaving

    func mayLeaveTogether(_ tally: PushTally) -> Bool {
        takesBatches && !ready.isEmpty && tally.out == 0 && tally.freezing == 0 && waiting.isEmpty
    }

    /// The next to leave: one, or several that go together. `sizes` are those of the first that are ready, nil for one that
    /// goes alone.
    mutating func next(_ options: PushOptions, _ tally: PushTally, sizes: [Int?]) -> [Int] {
        guard takesBatches else {
            guard !ready.isEmpty, tally.out < max(1, options.concurrency) else { return [] }
            return leave(1)
        }
        guard mayLeaveTogether(tally) else { return [] }
        var count = 0
        var bytes = 0
        for size in sizes {
            // What goes alone ends the batch before it.
            guard let size else { break }
            bytes += size
            if count > 0, bytes > options.batchBytes { break }
            count += 1
        }
        return leave(max(1, count))
    }

    private mutating func leave(_ count: Int) -> [Int] {
        defer { ready.removeFirst(count) }
        return Array(ready.prefix(count))
    }
}

extension PushMachine {
    /// Sends what may leave now.
    mutating func depart() -> [Action] {
        if stop != nil {
            return departures.takeLeft().flatMap { index in
                items[index].phase.request.map { giveUp(index, $0) } ?? []
            }
        }
        var actions: [Action] = []
        while true {
            let leaving = departures.next(options, tally, sizes: sizes())
            let requests = leaving.compactMap { items[$0].phase.request }
            guard let first = requests.first else { break }
            for (index, request) in zip(leaving, requests) { move(index, to: .sent(request)) }
            actions.append(
                leaving.count == 1 ? .send(leaving[0], .write(first)) : .sendTogether(leaving, requests))
        }
        if let wait = departures.startWait(tally) {
            actions.append(.wait(wait.index, attempt: wait.attempt, wait.after))
        }
        return actions
    }

    /// How large the first are that may leave together.
    private func sizes() -> [Int?] {
        guard departures.mayLeaveTogether(tally) else { return [] }
        return departures.ready.prefix(options.batchSize).map { index in
            guard let request = items[index].phase.request, request.undelete == nil else { return nil }
            return request.size
        }
    }

    /// It is to be sent, perhaps again.
    mutating func prepare(_ index: Int, _ request: WriteRequest) {
        move(index, to: .ready(request))
        departures.prepare(index)
    }

    /// The end of the wait of several; nil for the wait of one.
    mutating func endWait(_ input: Input) -> [Action]? {
        switch input {
        case .waited(let index) where departures.waitsFor == index: break
        case .cancelled(let index) where departures.waitsFor == index:
            halt(SyncError(of: .cancelled))
        default: return nil
        }
        for index in departures.endWait() {
            if let request = items[index].phase.request { move(index, to: .ready(request)) }
        }
        return []
    }

    /// The answer to writes that were sent together: a result for each, or one that is for all.
    mutating func judge(_ indices: [Int], _ reply: ServerReply) -> [Action] {
        if case .results(let results) = reply.content, results.count == indices.count {
            departures.learn(from: reply, options)
            return zip(indices, results).flatMap { judge($0, $1) }
        }
        // Of several that fail together one may be the cause: alone it shows.
        let failsTogether = reply.status == 500 && indices.contains { items[$0].attempts >= options.retries }
        let isLater = reply.status >= 500 && reply.status != 501 || [401, 408, 429].contains(reply.status)
        if isLater && !failsTogether {
            return indices.flatMap { judge($0, reply) }
        }
        // It can't take them together, or its answer can't be read: one by one they are told apart.
        departures.refuse()
        for index in indices {
            if (200..<300).contains(reply.status) || reply.status == 500 { items[index].arrival = .unknown }
            items[index].attempts = 0
            if let request = items[index].phase.request { move(index, to: .ready(request)) }
        }
        departures.prepareFirst(indices)
        return []
    }
}

extension WriteRequest {
    /// About how many bytes it has in a request.
    fileprivate var size: Int { body.bytes.count + table.utf8.count + id.utf8.count + 120 }
}
