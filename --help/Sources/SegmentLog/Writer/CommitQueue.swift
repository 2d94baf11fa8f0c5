// Groups commits that arrive while another is being stored. The first one leads the group: it waits for the writer,
// stores the group with one sync, and wakes the others.

import Dispatch
import SynclineGround

/// Commits that are stored together.
final class CommitGroup: Sendable {
    typealias Outcome = Result<SequenceRange, LogError>

    private struct State {
        var commits = GroupCommit<Appender.Commit>()
        var continuations: [(place: Int, task: CheckedContinuation<Outcome, Never>)] = []
        var results: [Outcome] = []
    }

    private let state = Mutex(State())
    private let done = DispatchGroup()

    init() {
        done.enter()
    }

    /// Adds a commit, and returns its index and whether its caller must lead.
    fileprivate func add(
        _ commit: Appender.Commit, _ task: CheckedContinuation<Outcome, Never>?
    ) -> (place: Int, leads: Bool) {
        state.withLock { state in
            let place = state.commits.count
            if let task { state.continuations.append((place, task)) }
            return (place, state.commits.join(commit))
        }
    }

    fileprivate func take() -> [Appender.Commit] { state.withLock { $0.commits.take() } }

    /// Wakes all waiting callers with their results.
    func finish(_ results: [Outcome]) {
        let continuations = state.withLock { state in
            state.results = results
            return state.continuations
        }
        done.leave()
        for (place, task) in continuations { task.resume(returning: results[place]) }
    }

    /// Blocks until the group is stored.
    func result(at place: Int) -> Outcome {
        done.wait()
        return state.withLock { $0.results[place] }
    }
}

/// The open group, if there is one.
struct CommitQueue {
    private var open: CommitGroup?
    private var size = 0

    /// The maximum size of a group, so that memory stays bounded.
    private static let groupLimit = 1 << 20

    var isEmpty: Bool { open == nil }

    /// Adds a commit to the open group, or to a new one if that is full.
    mutating func add(
        _ commit: Appender.Commit, _ task: CheckedContinuation<CommitGroup.Outcome, Never>? = nil
    ) -> (group: CommitGroup, place: Int, leads: Bool) {
        size += commit.batch.wire.count
        if size > CommitQueue.groupLimit { open = nil }
        if open == nil { size = commit.batch.wire.count }
        let group = open ?? CommitGroup()
        open = group
        let (place, leads) = group.add(commit, task)
        return (group, place, leads)
    }

    /// Closes the group to further commits and returns its contents.
    mutating func close(_ group: CommitGroup) -> [Appender.Commit] {
        if open === group { open = nil }
        return group.take()
    }
}
