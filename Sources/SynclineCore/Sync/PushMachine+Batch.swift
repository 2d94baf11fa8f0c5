// Decides which writes are sent when, and which together: if the server accepts several in one request, writes that
// became ready together are sent together, and those that must be retried share one wait. Each is judged as if it had
// been sent alone.

/// The order of the operations that are ready to be sent, or that wait together for a retry. Their phases determine
/// which operations are here.
struct PushBatches: Sendable {
    private(set) var takesBatches: Bool
    /// The server refused a batch once; this push sends no other.
    private var hasRefused = false
    /// In the order in which they are to be sent.
    private(set) var ready: [Int] = []
    /// To be sent again after the wait.
    private(set) var waiting: [Int] = []
    private var wait: (attempt: Int, after: ServerReply.RetryAfter?)?
    /// The operation that stands for all while they wait.
    private(set) var waitsFor: Int?

    init(takesBatches: Bool) {
        self.takesBatches = takesBatches
    }

    /// Notes from an answer what the server can do.
    mutating func learn(from reply: ServerReply, _ options: PushSettings) {
        if reply.status < 500 { takesBatches = offers(reply, options) && !hasRefused }
    }

    private func offers(_ reply: ServerReply, _ options: PushSettings) -> Bool {
        options.batchSize > 1 && reply.capabilities.contains(.batch)
    }

    mutating func refuse() {
        hasRefused = true
        takesBatches = false
    }

    /// Adds an operation that is to be sent, perhaps again.
    mutating func prepare(_ index: Int) {
        ready.append(index)
    }

    mutating func prepareFirst(_ indices: [Int]) {
        ready = indices + ready
    }

    /// Removes what has not been sent and will not be.
    mutating func takeLeft() -> [Int] {
        defer { (ready, waiting) = ([], []) }
        return ready + waiting
    }

    // MARK: Waiting

    /// Returns whether the operation waits with others.
    mutating func wait(_ index: Int, attempt: Int, _ after: ServerReply.RetryAfter?) -> Bool {
        guard takesBatches else { return false }
        waiting.append(index)
        wait = (max(attempt, wait?.attempt ?? 0), after ?? wait?.after)
        return true
    }

    /// The wait to begin now, if one is due: no operation of its batch is in flight any more.
    mutating func startWait(_ tally: PushTally) -> (index: Int, attempt: Int, after: ServerReply.RetryAfter?)? {
        guard waitsFor == nil, tally.out == 0, let wait, let first = waiting.min() else { return nil }
        waitsFor = first
        return (first, wait.attempt, wait.after)
    }

    /// Ends the wait: the waiting operations are ready again.
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

    /// The next operations to send: one, or several in one batch, which ends before a transaction that it would cut. `sizes`
    /// are the sizes of the first ready operations, nil for an operation that is sent alone, and their transactions.
    mutating func next(_ options: PushSettings, _ tally: PushTally, sizes: [(bytes: Int?, event: UInt64)]) -> [Int] {
        guard takesBatches else {
            guard !ready.isEmpty, tally.out < max(1, options.concurrency) else { return [] }
            return leave(1)
        }
        guard mayLeaveTogether(tally) else { return [] }
        var (count, bytes, start) = (0, 0, 0)
        for size in sizes {
            // An operation that is sent alone ends the batch before it.
            guard let added = size.bytes else { break }
            if count > 0, sizes[count - 1].event != size.event { start = count }
            bytes += added
            if count > 0, bytes > options.batchBytes {
                if start > 0 { count = start }
                break
            }
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
    /// Sends what may be sent now.
    mutating func depart() -> [Action] {
        if stop != nil {
            return batches.takeLeft().flatMap { index in
                items[index].phase.request.map { giveUp(index, $0) } ?? []
            }
        }
        var actions: [Action] = []
        while true {
            let leaving = batches.next(options, tally, sizes: sizes())
            let requests = leaving.compactMap { items[$0].phase.request }
            guard let first = requests.first else { break }
            for (index, request) in zip(leaving, requests) { move(index, to: .sent(request)) }
            actions.append(
                leaving.count == 1 ? .send(leaving[0], .write(first)) : .sendTogether(leaving, requests))
        }
        if let wait = batches.startWait(tally) {
            actions.append(.wait(wait.index, attempt: wait.attempt, wait.after))
        }
        return actions
    }

    /// The sizes of the first operations that may be sent together.
    private func sizes() -> [(bytes: Int?, event: UInt64)] {
        guard batches.mayLeaveTogether(tally) else { return [] }
        return batches.ready.prefix(options.batchSize).map { index in
            let event = items[index].operation.position.event
            guard let request = items[index].phase.request, request.undelete == nil else { return (nil, event) }
            return (request.size, event)
        }
    }

    /// Whether a batch would end within the transaction that an operation begins, which fits into a batch of its own.
    func cutsTransaction(_ index: Int, _ limit: Int) -> Bool {
        let event = items[index].operation.position.event
        guard batches.takesBatches, tally.active > 0, index > 0, items[index - 1].operation.position.event != event
        else { return false }
        let rest = items[index...].prefix(limit + 1)
        let count = rest.prefix { $0.operation.position.event == event && $0.phase.isPlanned }.count
        return count <= limit && count > limit - tally.active
    }

    /// The operation is to be sent, perhaps again, unless the push has stopped.
    mutating func prepare(_ index: Int, _ request: WriteRequest) -> [Action] {
        if stop != nil { return giveUp(index, request) }
        move(index, to: .ready(request))
        batches.prepare(index)
        return []
    }

    /// Handles the end of a wait of several operations; nil if only one waited.
    mutating func endWait(_ input: Input) -> [Action]? {
        switch input {
        case .waited(let index) where batches.waitsFor == index: break
        case .cancelled(let index) where batches.waitsFor == index:
            halt(SyncError(of: .cancelled))
        default: return nil
        }
        for index in batches.endWait() {
            if let request = items[index].phase.request { move(index, to: .ready(request)) }
        }
        return []
    }

    /// Handles the answer to writes that were sent together: a result for each, or one for all.
    mutating func judge(_ indices: [Int], _ reply: ServerReply) -> [Action] {
        if case .results(let results) = reply.content, results.count == indices.count {
            batches.learn(from: reply, options)
            return zip(indices, results).flatMap { judge($0, $1) }
        }
        // If several fail together, one may be the cause. Sending each alone will show which.
        let failsTogether = reply.status == 500 && indices.contains { items[$0].attempts >= options.retries }
        let isLater = reply.status >= 500 && reply.status != 501 || [401, 408, 429].contains(reply.status)
        if isLater && !failsTogether {
            return indices.flatMap { judge($0, reply) }
        }
        // The server can't accept batches, or the answer can't be read: they are sent one by one.
        batches.refuse()
        for index in indices {
            if (200..<300).contains(reply.status) || reply.status == 500 { items[index].arrival = .unknown }
            items[index].attempts = 0
            if let request = items[index].phase.request { move(index, to: .ready(request)) }
        }
        batches.prepareFirst(indices)
        return []
    }
}

extension WriteRequest {
    /// Its approximate size in a request, in bytes.
    fileprivate var size: Int { body.bytes.count + table.utf8.count + id.utf8.count + 120 }
}
