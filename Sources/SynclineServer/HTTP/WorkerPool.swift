// Carries out jobs off the threads that serve connections: a number of them at a time, the rest in the order that `JobOrder`
// decides.

import Dispatch
import Synchronization

final class WorkerPool: Sendable {
    enum Outcome: Hashable, Sendable {
        case done
        /// It has stopped to make room for others, and is to be carried out again.
        case madeRoom
    }

    enum Admission: Hashable, Sendable {
        case taken
        /// As many jobs wait as may.
        case full
        case closed
    }

    private struct Job: Sendable {
        /// What tells the job to make room.
        let limit: WorkLimit?
        let run: @Sendable () -> Outcome
    }

    private struct State: Sendable {
        var order: JobOrder
        var jobs: [Int: Job] = [:]
        /// Those that have nothing to do: each carries out one job at a time.
        var idle: [DispatchQueue]
        var count = 0
        var madeRoom = 0
        var isLooking = false
        var isClosed = false
    }

    private let state: Mutex<State>
    private let unfinished = DispatchGroup()
    private let looks: DispatchQueue?
    private static let interval = DispatchTimeInterval.milliseconds(20)

    /// - Parameter looks: Whether it is to look by itself for jobs that take long.
    init(_ name: String, workers: Int, bounds: JobOrder.Bounds? = nil, looks: Bool = false) {
        let queues = (0..<workers).map { DispatchQueue(label: "syncline.\(name).\($0)") }
        state = Mutex(State(order: JobOrder(workers: workers, bounds: bounds), idle: queues))
        self.looks = looks ? DispatchQueue(label: "syncline.\(name).looks") : nil
    }

    /// How many jobs wait for a worker.
    var waitingCount: Int { state.withLock { $0.order.waitingCount } }

    /// How many times a job has made room.
    var madeRoomCount: Int { state.withLock { $0.madeRoom } }

    /// Has a job carried out soon.
    func carryOut(_ run: @escaping @Sendable () -> Void) -> Admission {
        carryOut(for: .unknown, within: nil) {
            run()
            return .done
        }
    }

    /// Has a client's job carried out soon; again if it made room when its limit said so.
    func carryOut(
        for client: ClientAddress, within limit: WorkLimit?, _ run: @escaping @Sendable () -> Outcome
    ) -> Admission {
        let (admission, begun, isToLook) = state.withLock { state -> (Admission, (DispatchQueue, Int, Job)?, Bool) in
            if state.isClosed { return (.closed, nil, false) }
            state.count += 1
            let (number, job) = (state.count, Job(limit: limit, run: run))
            let admission = state.order.arrive(number, of: client, now: .now)
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

    /// Carries out a job, and then whatever waits.
    private func work(_ first: Int, _ job: Job, _ queue: DispatchQueue) {
        var next: (number: Int, job: Job)? = (first, job)
        while let (number, job) = next {
            let outcome = job.run()
            let begun = state.withLock { state -> [(number: Int, job: Job, queue: DispatchQueue)] in
                state.order.end(number, madeRoom: outcome == .madeRoom)
                if outcome == .madeRoom { state.madeRoom += 1 } else { state.jobs[number] = nil }
                state.idle.append(queue)
                // One that ends may be what more than one waited for.
                var begun: [(number: Int, job: Job, queue: DispatchQueue)] = []
                while let number = state.order.next(now: .now), let job = state.jobs[number],
                    let queue = state.idle.popLast()
                { begun.append((number, job, queue)) }
                return begun
            }
            if outcome == .done { unfinished.leave() }
            next = nil
            for (number, job, other) in begun {
                if other === queue { next = (number, job) } else { other.async { self.work(number, job, other) } }
            }
        }
    }

    private func look() {
        looks?.asyncAfter(deadline: .now() + WorkerPool.interval) { [weak self] in
            guard let self else { return }
            relieve(now: .now)
            let isOver = state.withLock { state in
                state.isLooking = state.order.runningCount > 0
                return !state.isLooking
            }
            if !isOver { look() }
        }
    }

    /// Tells jobs that take long to make room for others, if too many do.
    func relieve(now: ContinuousClock.Instant) {
        let crowders = state.withLock { state in state.order.crowders(now: now).compactMap { state.jobs[$0]?.limit } }
        for limit in crowders { limit.makeRoom() }
    }

    /// Takes no more jobs, and waits until those it took are done.
    func close() {
        state.withLock { $0.isClosed = true }
        unfinished.wait()
    }
}
