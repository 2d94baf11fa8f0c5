// Commits that arrived and wait for their turn. One of those who wait leads: it takes everything that waits, in order, so
// that writers who arrive together share one sync, and wakes each with its own result. Nobody else asks for the appender.

import Dispatch
import Synchronization

struct CommitQueue {
    enum Waiter {
        case thread(WaitingThread)
        case task(CheckedContinuation<Result<SequenceRange, LogError>, Never>)
    }

    struct Request {
        var commit: Appender.Commit
        var waiter: Waiter
    }

    private var requests: [Request] = []
    /// Somebody has taken it on to see that nothing stays waiting.
    private var isLed = false

    /// More than this is not taken at once, so that memory stays bounded.
    private static let groupLimit = 1 << 20

    var isEmpty: Bool { requests.isEmpty }

    /// Adds a commit; true if the caller must lead.
    mutating func add(_ commit: Appender.Commit, _ waiter: Waiter) -> Bool {
        requests.append(Request(commit: commit, waiter: waiter))
        defer { isLed = true }
        return !isLed
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

    /// As `takeGroup`, for one who leads until nothing waits.
    mutating func takeGroupOrEndLead() -> [Request] {
        if requests.isEmpty { isLed = false }
        return takeGroup()
    }

    /// Who leads on: the one that waits longest, if any does.
    mutating func nextLeader() -> Waiter? {
        if requests.isEmpty { isLed = false }
        return requests.first?.waiter
    }
}

/// A thread that sleeps until its commit is done, or it must lead.
final class WaitingThread: Sendable {
    enum Turn {
        case done(Result<SequenceRange, LogError>)
        case lead
    }

    private let turns = Mutex<[Turn]>([])
    private let signal = DispatchSemaphore(value: 0)

    func wake(_ turn: Turn) {
        turns.withLock { $0.append(turn) }
        signal.signal()
    }

    func wait() -> Turn {
        signal.wait()
        return turns.withLock { $0.removeFirst() }
    }
}
