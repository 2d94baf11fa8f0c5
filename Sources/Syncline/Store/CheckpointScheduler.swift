// Decides when the newest changes become a checkpoint: once they use much memory, one checkpoint at a time, and again
// after a failure. `StoreWriter` carries it out.

import SynclineCore

struct CheckpointScheduler: Sendable {
    /// What to do for a checkpoint after a commit.
    enum Step {
        /// Replace the changes that were set aside by the runs that were made of them.
        case install([Run])
        /// Set the newest changes aside, and make a run of them in the background.
        case begin
        /// Try again to make a run of the changes that were set aside.
        case retry
        /// Wait until the attempt has ended.
        case wait
        case nothing
    }

    /// The attempt to write the changes that were set aside. If it fails, they stay in memory, which only costs memory
    /// and time.
    private struct Attempt {
        let job: CheckpointJob
        /// Nil while it runs.
        var result: Result<[Run], SyncError>?
        /// How large the changes must grow before another attempt.
        var retrySize = 0
    }

    /// How much memory the newest changes may use before they become a run of a checkpoint.
    private let memoryLimit: Int
    private var attempt: Attempt?

    /// With less than this to fold, a checkpoint on closing is not worth its time.
    static let worthClosing = 1 << 20

    init(memoryLimit: Int) {
        self.memoryLimit = memoryLimit
    }

    /// Whether a checkpoint is being written.
    var isWriting: Bool { attempt.map { $0.result == nil } ?? false }

    /// The checkpoint that is to be written, also if it failed before.
    var job: CheckpointJob? {
        if case .success? = attempt?.result { return nil }
        return attempt?.job
    }

    /// Why the last attempt failed.
    var failure: SyncError? {
        if case .failure(let error)? = attempt?.result { error } else { nil }
    }

    /// The changes were set aside, for a checkpoint that is written from now on.
    mutating func begin(_ job: CheckpointJob) { attempt = Attempt(job: job) }

    /// The attempt has ended.
    mutating func end(_ result: Result<[Run], SyncError>) { attempt?.result = result }

    /// Takes the runs that were made, so that other changes can be set aside.
    mutating func takeRuns() -> [Run]? {
        guard case .success(let runs)? = attempt?.result else { return nil }
        attempt = nil
        return runs
    }

    /// Forgets the attempt, because the state was loaded again.
    mutating func reset() { attempt = nil }

    /// The next step after a commit.
    /// - Parameters:
    ///   - size: The size of the newest changes in memory.
    ///   - isCovered: Whether a checkpoint covers the last event. Two checkpoints of one event would have the same name.
    ///   - hasWaited: Whether an attempt was waited for since the commit.
    mutating func step(size: Int, isCovered: @autoclosure () -> Bool, hasWaited: Bool) -> Step {
        if let runs = takeRuns() { return .install(runs) }
        guard size > memoryLimit else { return .nothing }
        guard attempt != nil else { return isCovered() ? .nothing : .begin }
        if hasWaited { return .nothing }
        if isDueAgain(at: size) { return .retry }
        // The disk is slower than the writers, so they wait: memory stays bounded.
        return size > 2 * memoryLimit ? .wait : .nothing
    }

    /// A failed attempt is made again as more changes arrive, but not with every change.
    private mutating func isDueAgain(at size: Int) -> Bool {
        guard let failed = attempt, failure != nil, size >= failed.retrySize else { return false }
        attempt = Attempt(job: failed.job, retrySize: size + memoryLimit / 4)
        return true
    }
}
