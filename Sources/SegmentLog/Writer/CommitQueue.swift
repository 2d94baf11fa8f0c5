// Commits that arrived and wait for their turn. Whoever gets the appender takes everything that waits, in order, so
// that writers who arrive together share one sync.

struct CommitQueue {
    enum Waiter {
        /// A thread that will come and look for its result.
        case thread(ticket: UInt64)
        case task(CheckedContinuation<Result<SequenceRange, LogError>, Never>)
    }

    struct Request {
        var commit: Appender.Commit
        var waiter: Waiter
    }

    private var requests: [Request] = []
    private var results: [UInt64: Result<SequenceRange, LogError>] = [:]
    private var nextTicket: UInt64 = 0
    /// A drain is on its way.
    private var isDrainScheduled = false

    /// More than this is not taken at once, so that memory stays bounded.
    private static let groupLimit = 1 << 20

    var isEmpty: Bool { requests.isEmpty }

    mutating func addThread(_ commit: Appender.Commit) -> UInt64 {
        nextTicket += 1
        requests.append(Request(commit: commit, waiter: .thread(ticket: nextTicket)))
        return nextTicket
    }

    /// Adds a task's commit; true if the caller must schedule a drain.
    mutating func addTask(
        _ commit: Appender.Commit, _ continuation: CheckedContinuation<Result<SequenceRange, LogError>, Never>
    ) -> Bool {
        requests.append(Request(commit: commit, waiter: .task(continuation)))
        defer { isDrainScheduled = true }
        return !isDrainScheduled
    }

    mutating func takeResult(_ ticket: UInt64) -> Result<SequenceRange, LogError>? {
        results.isEmpty ? nil : results.removeValue(forKey: ticket)
    }

    /// The next group, in the order of arrival; empty if nothing waits.
    mutating func takeGroup() -> [Request] {
        var size = 0
        var count = 0
        for request in requests {
            size += request.commit.batch.wire.count
            if count > 0 && size > CommitQueue.groupLimit { break }
            count += 1
        }
        if count == requests.count {
            defer { requests = [] }
            return requests
        }
        defer { requests.removeFirst(count) }
        return Array(requests.prefix(count))
    }

    /// As `takeGroup`, for the drain: when nothing waits, it is over.
    mutating func takeGroupForDrain() -> [Request] {
        let group = takeGroup()
        if group.isEmpty { isDrainScheduled = false }
        return group
    }

    mutating func deliver(_ ticket: UInt64, _ result: Result<SequenceRange, LogError>) {
        results[ticket] = result
    }
}
