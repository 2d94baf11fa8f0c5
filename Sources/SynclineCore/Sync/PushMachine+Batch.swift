// Which writes leave when, and which leave together: where the server takes several in one request, those that were made ready
// together go together, and what has to be tried again waits once for all. Each is judged by itself, as if it had gone alone.

/// What is ready to be sent, on its way, or waits to be sent again.
struct PushDepartures: Sendable {
    private(set) var takesBatches: Bool
    /// It refused several once, and is not asked again in this push.
    private var hasRefused = false
    /// Being frozen.
    var freezing: Set<Int> = []
    /// Frozen, in the order in which they are to be sent.
    var ready: [Int] = []
    /// Sent, and neither given up nor settled.
    private(set) var sent: Set<Int> = []
    /// To be sent again when the wait is over.
    private var waiting: [Int] = []
    private var wait: (attempt: Int, after: ServerReply.RetryAfter?)?
    /// The operation in whose name they wait.
    private var waitsFor: Int?

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

    /// It is to be sent, perhaps again.
    mutating func prepare(_ index: Int) {
        sent.remove(index)
        ready.append(index)
    }

    /// It is done with.
    mutating func remove(_ index: Int) {
        sent.remove(index)
        waiting.removeAll { $0 == index }
    }

    mutating func clear() {
        ready = []
        waiting = []
    }

    /// What did not leave and will not.
    mutating func takeLeft() -> [Int] {
        defer { clear() }
        return ready + waiting
    }

    // MARK: Waiting

    /// Whether the operation waits with others.
    mutating func wait(_ index: Int, attempt: Int, _ after: ServerReply.RetryAfter?) -> Bool {
        guard takesBatches else { return false }
        sent.remove(index)
        waiting.append(index)
        wait = (max(attempt, wait?.attempt ?? 0), after ?? wait?.after)
        return true
    }

    /// The wait to begin now, if one is due: nothing that went along is on its way any more.
    mutating func startWait() -> (index: Int, attempt: Int, after: ServerReply.RetryAfter?)? {
        guard waitsFor == nil, sent.isEmpty, let wait, let first = waiting.min() else { return nil }
        waitsFor = first
        return (first, wait.attempt, wait.after)
    }

    /// Whether it was their wait: they are ready again.
    mutating func endWait(_ index: Int) -> Bool {
        guard waitsFor == index else { return false }
        ready = waiting.sorted() + ready
        (waiting, wait, waitsFor) = ([], nil, nil)
        return true
    }

    // MARK: Leaving

    /// The next to leave: one, or several that go together. `size` is nil for what goes alone.
    mutating func next(_ options: PushOptions, size: (Int) -> Int?) -> [Int] {
        guard takesBatches else {
            guard !ready.isEmpty, sent.count < max(1, options.concurrency) else { return [] }
            return leave(1)
        }
        guard !ready.isEmpty, sent.isEmpty, freezing.isEmpty, waiting.isEmpty else { return [] }
        var count = 0
        var bytes = 0
        for index in ready.prefix(options.batchSize) {
            // What goes alone ends the batch before it.
            guard let more = size(index) else { break }
            bytes += more
            if count > 0, bytes > options.batchBytes { break }
            count += 1
        }
        return leave(max(1, count))
    }

    private mutating func leave(_ count: Int) -> [Int] {
        let leaving = Array(ready.prefix(count))
        ready.removeFirst(count)
        sent.formUnion(leaving)
        return leaving
    }
}

extension PushMachine {
    /// Sends what may leave now.
    mutating func depart() -> [Action] {
        if stop != nil { return departures.takeLeft().flatMap { giveUp($0) } }
        var actions: [Action] = []
        while true {
            let leaving = departures.next(options) { [items] index in
                guard let request = items[index].request, request.undelete == nil else { return nil }
                return request.size
            }
            if leaving.isEmpty { break }
            let requests = leaving.compactMap { items[$0].request }
            actions.append(
                leaving.count == 1 ? .send(leaving[0], .write(requests[0])) : .sendTogether(leaving, requests))
        }
        if let wait = departures.startWait() {
            actions.append(.wait(wait.index, attempt: wait.attempt, wait.after))
        }
        return actions
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
            if (200..<300).contains(reply.status) || reply.status == 500 {
                items[index].mayHaveArrived = true
                items[index].hasLostAnswer = true
            }
            items[index].attempts = 0
            departures.remove(index)
        }
        departures.ready = indices + departures.ready
        return []
    }
}

extension WriteRequest {
    /// About how many bytes it has in a request.
    fileprivate var size: Int { body.bytes.count + table.utf8.count + id.utf8.count + 120 }
}
