// Worker pools: they carry out jobs on threads other than those that serve connections, a fixed number at a time. The
// rest wait in turn (`WorkerPool`), or in the order that `JobOrder` decides (`ReadWorkers`).

import Dispatch
import SynclineGround
import SynclineTables

/// The result of a job.
enum JobOutcome: Hashable, Sendable {
    case done
    /// It has stopped to make room for others, and must be carried out again.
    case madeRoom
}

enum JobAdmission: Hashable, Sendable {
    case taken
    /// Too many jobs already wait.
    case full
    case closed
}

protocol Workers: Sendable {
    /// The number of jobs that wait for a worker.
    var waitingCount: Int { get }

    /// Schedules a client's job; it runs again if it made room when its limit said so.
    func carryOut(
        for client: ClientAddress, within limit: WorkLimit?, _ run: @escaping @Sendable () -> JobOutcome
    ) -> JobAdmission

    /// Accepts no more jobs, and waits until the accepted ones are done.
    func close()
}

/// Carries out jobs in turn. All writes of a commit end at once, so the work under its lock is kept short.
final class WorkerPool: Workers {
    private struct State: Sendable {
        /// The idle queues: each carries out one job at a time.
        var idle: [DispatchQueue]
        var waiting = WaitingLine<@Sendable () -> Void>()
        var isClosed = false
    }

    private let state: Mutex<State>
    private let unfinished = DispatchGroup()

    init(_ name: String, workers: Int) {
        let queues = (0..<workers).map { DispatchQueue(label: "syncline.\(name).\($0)") }
        state = Mutex(State(idle: queues))
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func carryOut(_ job: @escaping @Sendable () -> Void) -> JobAdmission {
        unfinished.enter()
        let (admission, queue) = state.withLock { state -> (JobAdmission, DispatchQueue?) in
            guard !state.isClosed else { return (.closed, nil) }
            let queue = state.idle.popLast()
            if queue == nil { state.waiting.append(job) }
            return (.taken, queue)
        }
        if admission == .closed { unfinished.leave() }
        queue?.async { self.work(job, queue) }
        return admission
    }

    /// These jobs are never told to make room.
    func carryOut(
        for client: ClientAddress, within limit: WorkLimit?, _ run: @escaping @Sendable () -> JobOutcome
    ) -> JobAdmission {
        carryOut { _ = run() }
    }

    /// Carries out a job, and then waiting jobs.
    private func work(_ first: @escaping @Sendable () -> Void, _ queue: DispatchQueue?) {
        var next: (@Sendable () -> Void)? = first
        while let job = next {
            job()
            unfinished.leave()
            next = state.withLock { state in
                if let next = state.waiting.removeFirst() { return next }
                if let queue { state.idle.append(queue) }
                return nil
            }
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        unfinished.wait()
    }
}

/// Carries out reads in the order that `JobOrder` decides.
final class ReadWorkers: Workers {
    private struct Job: Sendable {
        /// The limit that tells the job to make room.
        let limit: WorkLimit?
        let run: @Sendable () -> JobOutcome
    }

    private struct State: Sendable {
        var order: JobOrder
        var jobs: [Int: Job] = [:]
        /// The idle queues: each carries out one job at a time.
        var idle: [DispatchQueue]
        var count = 0
        var madeRoom = 0
        var isLooking = false
        var isClosed = false

        mutating func takeNext() -> (number: Int, job: Job)? {
            guard let number = order.next(now: .present), let job = jobs[number] else { return nil }
            return (number, job)
        }
    }

    private let state: Mutex<State>
    private let unfinished = DispatchGroup()
    private let looks: DispatchQueue?
    private static let interval = DispatchTimeInterval.milliseconds(8)

    /// - Parameter looks: Whether the pool itself checks for long jobs.
    init(workers: Int, bounds: JobOrder.Bounds, looks: Bool = false) {
        let queues = (0..<workers).map { DispatchQueue(label: "syncline.reads.\($0)") }
        state = Mutex(State(order: JobOrder(workers: workers, bounds: bounds), idle: queues))
        self.looks = looks ? DispatchQueue(label: "syncline.reads.looks") : nil
    }

    var waitingCount: Int { state.withLock { $0.order.waitingCount } }

    /// The number of times that a job has made room.
    var madeRoomCount: Int { state.withLock { $0.madeRoom } }

    func carryOut(
        for client: ClientAddress, within limit: WorkLimit?, _ run: @escaping @Sendable () -> JobOutcome
    ) -> JobAdmission {
        let (admission, begun, isToLook) = state.withLock { state -> (JobAdmission, (DispatchQueue, Int, Job)?, Bool) in
            if state.isClosed { return (.closed, nil, false) }
            state.count += 1
            let (number, job) = (state.count, Job(limit: limit, run: run))
            let admission = state.order.arrive(number, of: client, now: .present)
            if admission == .full { return (.full, nil, false) }
            state.jobs[number] = job
            unfinished.enter()
            let isToLook = looks != nil && !state.isLooking
            if isToLook { state.isLooking = true }
            guard admission == .begins, let queue = state.idle.popLast() else { return (.taken, nil, isToLook) }
            return (.taken, (queue, number, job), isToLook)
        }
        if let (queue, number, job) = begun { queue.async { self.work(number, job, queue) } }
        if isToLook { look() }
        return admission
    }

    /// Carries out a job, and then waiting jobs.
    private func work(_ first: Int, _ job: Job, _ queue: DispatchQueue) {
        var next: (number: Int, job: Job)? = (first, job)
        while let (number, job) = next {
            let outcome = job.run()
            var others: [(number: Int, job: Job, queue: DispatchQueue)] = []
            next = state.withLock { state in
                state.order.end(number, madeRoom: outcome == .madeRoom, now: .present)
                if outcome == .madeRoom { state.madeRoom += 1 } else { state.jobs[number] = nil }
                guard let next = state.takeNext() else {
                    state.idle.append(queue)
                    return nil
                }
                // The end of one job may allow several others to start.
                while let other = state.idle.last, let (number, job) = state.takeNext() {
                    state.idle.removeLast()
                    others.append((number, job, other))
                }
                return next
            }
            if outcome == .done { unfinished.leave() }
            for (number, job, other) in others { other.async { self.work(number, job, other) } }
        }
    }

    private func look() {
        looks?.asyncAfter(deadline: .now() + ReadWorkers.interval) { [weak self] in
            guard let self else { return }
            relieve(now: .present)
            let isOver = state.withLock { state in
                state.isLooking = state.order.runningCount > 0
                return !state.isLooking
            }
            if !isOver { look() }
        }
    }

    /// Tells long jobs to make room for others, if there are too many.
    func relieve(now: ContinuousClock.Instant) {
        let crowders = state.withLock { state in state.order.crowders(now: now).compactMap { state.jobs[$0]?.limit } }
        for limit in crowders { limit.makeRoom() }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        unfinished.wait()
    }
}
