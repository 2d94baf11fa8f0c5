// Lets requests that arrive together share one transaction, and with it one disk sync. The first one leads: it carries
// out all waiting jobs, wakes the others, and passes the lead to a job that arrived meanwhile.

import Dispatch
import SynclineGround
import SynclineTables

/// The progress of a request's writes.
struct WriteProgress: Sendable {
    /// The outcomes of the first groups, or of all.
    var outcomes: [[WriteOutcome]] = []
    /// The remaining allowance for the others.
    var allowance: WriteAllowance
    /// Whether the others must not be carried out.
    var isStopped = false

    init(_ allowance: WriteAllowance) {
        self.allowance = allowance
    }
}

/// The writes of one request.
final class WriteJob: Sendable {
    let groups: [[PreparedWrite]]
    let allowance: WriteAllowance
    let stopsAtRefusal: Bool
    /// Whether written rows are part of the answer; rows of refused writes always are.
    let wantsRows: Bool
    private let outcome = Mutex<Result<WriteProgress, StoreFailure>?>(nil)
    /// Signalled when the job is done, or must lead.
    fileprivate let turn = DispatchSemaphore(value: 0)

    init(_ groups: [[PreparedWrite]], _ allowance: WriteAllowance, stopsAtRefusal: Bool, wantsRows: Bool) {
        (self.groups, self.allowance) = (groups, allowance)
        (self.stopsAtRefusal, self.wantsRows) = (stopsAtRefusal, wantsRows)
    }

    var count: Int { groups.reduce(0) { $0 + $1.count } }

    var result: Result<WriteProgress, StoreFailure>? { outcome.withLock { $0 } }

    func finish(_ result: Result<WriteProgress, StoreFailure>) {
        outcome.withLock { $0 = result }
    }
}

final class WriteQueue: Sendable {
    private let jobs = Mutex(GroupCommit<WriteJob>())

    /// The number of jobs that wait for the running ones.
    var waiting: Int { jobs.withLock { $0.count } }

    /// Carries out a job, alone or with others: `perform` finishes every job that it receives.
    func carryOut(_ job: WriteJob, _ perform: ([WriteJob]) -> Void) {
        if !jobs.withLock({ $0.join(job) }) {
            job.turn.wait()
            if job.result != nil { return }
        }
        let group = jobs.withLock { $0.take() }
        perform(group)
        let next = jobs.withLock { $0.passOn() }
        for other in group where other !== job { other.turn.signal() }
        next?.turn.signal()
    }
}
