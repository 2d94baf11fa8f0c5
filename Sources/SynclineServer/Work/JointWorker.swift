// A worker that carries out all waiting jobs together: while it does so, others gather. A job costs no change of threads.

import Dispatch
import SynclineGround

final class JointWorker<Job: Sendable>: Sendable {
    private struct State {
        var waiting: [Job] = []
        /// When it began with the jobs that it carries out; nil if there are none.
        var start: ContinuousClock.Instant?
        var isClosed = false
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "syncline.joint")
    private let carryOut: @Sendable ([Job]) -> Void
    /// The number of jobs that are carried out together: all their rows are in memory.
    private static var limit: Int { 64 }
    private static var patience: Duration { .milliseconds(50) }

    init(_ carryOut: @escaping @Sendable ([Job]) -> Void) { self.carryOut = carryOut }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether the present jobs take long.
    func isLate(now: ContinuousClock.Instant) -> Bool {
        state.withLock { $0.start }.map { $0.duration(to: now) > JointWorker.patience } ?? false
    }

    /// Returns whether the job will be carried out.
    func add(_ job: Job) -> Bool {
        let (isTaken, begins) = state.withLock { state in
            if state.isClosed { return (false, false) }
            state.waiting.append(job)
            let begins = state.start == nil
            if begins { state.start = .present }
            return (true, begins)
        }
        if begins { queue.async { self.work() } }
        return isTaken
    }

    private func work() {
        while let jobs = next() { carryOut(jobs) }
    }

    private func next() -> [Job]? {
        state.withLock { state in
            state.start = state.waiting.isEmpty ? nil : .present
            let jobs = Array(state.waiting.prefix(JointWorker.limit))
            state.waiting.removeFirst(jobs.count)
            return jobs.isEmpty ? nil : jobs
        }
    }

    /// Takes no more jobs, and waits until those that it took are done.
    func close() {
        state.withLock { $0.isClosed = true }
        queue.sync {}
    }
}
