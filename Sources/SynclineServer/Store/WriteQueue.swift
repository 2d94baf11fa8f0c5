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
    private struct State {
        var waiting: [WriteJob] = []
        var leaders = 0
    }

    private let state = Mutex(State())
    private let leaders: Int
    /// A job with as many writes may lead a transaction beside others.
    private static let large = 100

    /// - Parameter leaders: The number of transactions at a time, if the database does not let them wait for each other.
    init(leaders: Int) { self.leaders = leaders }

    /// The number of jobs that wait for the running ones.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Carries out jobs, alone or with others: `perform` finishes every job that it receives.
    func carryOut(_ jobs: [WriteJob], _ perform: ([WriteJob]) -> Void) {
        guard let first = jobs.first else { return }
        let isLarge = jobs.count == 1 && first.count >= WriteQueue.large
        let leads = state.withLock { state in
            let leads = state.leaders < (isLarge ? leaders : 1)
            if leads { state.leaders += 1 }
            state.waiting += leads ? jobs.dropFirst() : jobs[...]
            return leads
        }
        if leads { lead(first, perform) }
        for job in leads ? jobs.dropFirst() : jobs[...] {
            job.turn.wait()
            if job.result == nil { lead(job, perform) }
        }
    }

    /// Carries out a job and all that wait, and passes the lead.
    private func lead(_ job: WriteJob, _ perform: ([WriteJob]) -> Void) {
        let others = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        perform([job] + others)
        let next = state.withLock { state in
            if state.waiting.isEmpty { state.leaders -= 1 }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        for other in others { other.turn.signal() }
        next?.turn.signal()
    }
}
