// Lets requests that arrive together share one transaction, and with it one sync of the disk. Whoever comes first leads:
// carries out all that waits, tells the others, and hands the lead to one that came meanwhile.

import Dispatch
import Synchronization

/// How far the writes of a request have come.
struct WriteProgress: Sendable {
    /// Those of the first groups, or of all.
    var outcomes: [[WriteOutcome]] = []
    /// What is left for the others.
    var allowance: WriteAllowance
    /// Whether the others are not to be carried out.
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
    /// Whether rows that were written are part of the answer; those of refused writes always are.
    let wantsRows: Bool
    private let outcome = Mutex<Result<WriteProgress, StoreFailure>?>(nil)
    /// Signalled when the job is done, or is to lead.
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
    private struct State: Sendable {
        var waiting: [WriteJob] = []
        var isLed = false
    }

    private let state = Mutex(State())

    /// How many jobs wait for those that are carried out.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Has a job carried out, alone or with others: `perform` finishes every job it is given.
    func carryOut(_ job: WriteJob, _ perform: ([WriteJob]) -> Void) {
        let leads = state.withLock { state in
            state.waiting.append(job)
            defer { state.isLed = true }
            return !state.isLed
        }
        if !leads {
            job.turn.wait()
            if job.result != nil { return }
        }
        let jobs = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        perform(jobs)
        let next = state.withLock { state in
            state.isLed = !state.waiting.isEmpty
            return state.waiting.first
        }
        for other in jobs where other !== job { other.turn.signal() }
        next?.turn.signal()
    }
}
