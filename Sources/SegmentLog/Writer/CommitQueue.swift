// Groups commits that arrive while another is being stored. The first one leads the group: it waits for the writer,
// stores the group with one sync, and wakes the others.

import Dispatch
import SynclineGround

/// Commits that are stored together.
final class CommitGroup: Sendable {
    typealias Outcome = Result<SequenceRange, LogError>

    private struct State {
        var commits: [Appender.Commit] = []
        var continuations: [(place: Int, task: CheckedContinuation<Outcome, Never>)] = []
        var results: [Outcome] = []
    }

    private let state = Mutex(State())
    private let done = DispatchGroup()

    init() {
        done.enter()
    }

    /// Adds a commit and returns its index.
    fileprivate func add(_ commit: Appender.Commit, _ task: CheckedContinuation<Outcome, Never>?) -> Int {
        state.withLock { state in
            let place = state.commits.count
            state.commits.append(commit)
            if let task { state.continuations.append((place, task)) }
            return place
        }
    }

    fileprivate func takeCommits() -> [Appender.Commit] {
        state.withLock { state in
            defer { state.commits = [] }
            return state.commits
        }
    }

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

    /// Adds a commit to the open group and returns its index. The caller that opens a group must lead it.
    mutating func add(
        _ commit: Appender.Commit, _ task: CheckedContinuation<CommitGroup.Outcome, Never>? = nil
    ) -> (group: CommitGroup, place: Int, leads: Bool) {
        size += commit.batch.wire.count
        if let open, size <= CommitQueue.groupLimit { return (open, open.add(commit, task), false) }
        let group = CommitGroup()
        (open, size) = (group, commit.batch.wire.count)
        return (group, group.add(commit, task), true)
    }

    /// Closes the group to further commits and returns its contents.
    mutating func close(_ group: CommitGroup) -> [Appender.Commit] {
        if open === group { open = nil }
        return group.takeCommits()
    }
}
