// Commits that arrive while another is stored form a group. Whoever comes first leads it: waits for the writer, stores all
// of it with one sync, and wakes all the others at once. They ask for nothing but their own result.

import Dispatch
import Synchronization

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

    /// Takes a commit in; returns its place.
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

    /// Wakes all who wait, each to its own result.
    func finish(_ results: [Outcome]) {
        let continuations = state.withLock { state in
            state.results = results
            return state.continuations
        }
        done.leave()
        for (place, task) in continuations { task.resume(returning: results[place]) }
    }

    /// Sleeps until the group is stored.
    func result(at place: Int) -> Outcome {
        done.wait()
        return state.withLock { $0.results[place] }
    }
}

/// The group that is open, if there is one.
struct CommitQueue {
    private var open: CommitGroup?
    private var size = 0

    /// A group takes no more than this, so that memory stays bounded.
    private static let groupLimit = 1 << 20

    var isEmpty: Bool { open == nil }

    /// Adds a commit to the open group, at a place in it. Who opens one must lead it.
    mutating func add(
        _ commit: Appender.Commit, _ task: CheckedContinuation<CommitGroup.Outcome, Never>? = nil
    ) -> (group: CommitGroup, place: Int, leads: Bool) {
        size += commit.batch.wire.count
        if let open, size <= CommitQueue.groupLimit { return (open, open.add(commit, task), false) }
        let group = CommitGroup()
        (open, size) = (group, commit.batch.wire.count)
        return (group, group.add(commit, task), true)
    }

    /// What the group holds; nobody joins it any more.
    mutating func close(_ group: CommitGroup) -> [Appender.Commit] {
        if open === group { open = nil }
        return group.takeCommits()
    }
}
