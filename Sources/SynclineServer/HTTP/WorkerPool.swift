// Carries out jobs off the threads that serve connections: a number of them at a time, the rest in turn. Where jobs take long,
// others take their place: who only wants a page does not wait for those who look through a table.

import Dispatch
import Synchronization

final class WorkerPool: Sendable {
    typealias Job = @Sendable () -> Void

    enum Admission: Hashable, Sendable {
        case taken
        /// As many jobs wait as may.
        case full
        case closed
    }

    /// What bounds a pool whose jobs come from clients that do not wait for each other.
    struct Bounds: Sendable {
        /// How many jobs may wait, of all clients.
        var waiting: Int
        /// How many of one client's jobs may run at a time.
        var running: Int
        /// How many jobs that take long others are put in place of.
        var extra = 0
    }

    private struct Worker: Sendable {
        let number: Int
        let queue: DispatchQueue
    }

    private struct State: Sendable {
        /// Those that have nothing to do: each carries out one job at a time.
        var idle: [Worker] = []
        /// Since when the others have had their job; but for jobs that are known to take long.
        var since: [Int: ContinuousClock.Instant] = [:]
        /// How many workers there are.
        var count = 0
        var made = 0
        /// How many jobs take long.
        var long = 0
        var waiting: [(client: ClientAddress, job: Job)] = []
        /// How many of each client's jobs run.
        var running: [ClientAddress: Int] = [:]
        var isClosed = false
    }

    private let name: String
    private let base: Int
    private let bounds: Bounds?
    private let state: Mutex<State>
    private let unfinished = DispatchGroup()
    /// A job that runs for longer takes long.
    private static let patience = Duration.milliseconds(100)

    init(_ name: String, workers: Int, bounds: Bounds? = nil) {
        self.name = name
        self.bounds = bounds
        base = workers
        state = Mutex(State())
        state.withLock { state in
            for _ in 0..<workers { state.idle.append(make(&state)) }
        }
    }

    private func make(_ state: inout State) -> Worker {
        state.count += 1
        state.made += 1
        return Worker(number: state.made, queue: DispatchQueue(label: "syncline.\(name).\(state.made)"))
    }

    /// How many jobs wait for a worker.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Has a job carried out soon.
    func carryOut(for client: ClientAddress = .unknown, _ job: @escaping Job) -> Admission {
        let (admission, worker) = state.withLock { state -> (Admission, Worker?) in
            if state.isClosed { return (.closed, nil) }
            let mayRun = bounds.map { state.running[client, default: 0] < $0.running } ?? true
            if mayRun, let worker = state.idle.popLast() {
                unfinished.enter()
                begin(&state, worker, client)
                return (.taken, worker)
            }
            if let bounds, !hasRoom(state, bounds, for: client) { return (.full, nil) }
            unfinished.enter()
            state.waiting.append((client, job))
            return (.taken, nil)
        }
        if let worker { worker.queue.async { self.work(job, client, worker) } }
        return admission
    }

    private func begin(_ state: inout State, _ worker: Worker, _ client: ClientAddress) {
        state.running[client, default: 0] += 1
        if bounds != nil { state.since[worker.number] = .now }
    }

    /// One client's jobs take up at most half of the room.
    private func hasRoom(_ state: borrowing State, _ bounds: Bounds, for client: ClientAddress) -> Bool {
        state.waiting.count < bounds.waiting
            && state.waiting.count { $0.client == client } < (bounds.waiting + 1) / 2
    }

    /// Carries out a job, and then whatever waits.
    private func work(_ first: @escaping Job, _ client: ClientAddress, _ worker: Worker) {
        var next: (client: ClientAddress, job: Job)? = (client, first)
        while let (client, job) = next {
            job()
            unfinished.leave()
            next = state.withLock { state in
                state.running[client] = state.running[client].flatMap { $0 > 1 ? $0 - 1 : nil }
                if bounds != nil, state.since.removeValue(forKey: worker.number) == nil { state.long -= 1 }
                if let next = takeNext(&state, worker) { return next }
                state.idle.append(worker)
                // Those that came in place of others go when there is nothing for them to do.
                while state.count > base + min(state.long, bounds?.extra ?? 0), state.idle.popLast() != nil {
                    state.count -= 1
                }
                return nil
            }
        }
    }

    /// Whose turn it is: the oldest job of the client that has the fewest running.
    private func takeNext(_ state: inout State, _ worker: Worker) -> (client: ClientAddress, job: Job)? {
        var place = state.waiting.indices.first
        if let bounds {
            place = state.waiting.indices.min {
                state.running[state.waiting[$0].client, default: 0]
                    < state.running[state.waiting[$1].client, default: 0]
            }
            if let found = place, state.running[state.waiting[found].client, default: 0] >= bounds.running {
                place = nil
            }
        }
        guard let place else { return nil }
        let next = state.waiting.remove(at: place)
        begin(&state, worker, next.client)
        return next
    }

    /// Puts others in place of the workers whose jobs take long. To be called now and then.
    func relieve(now: ContinuousClock.Instant = .now) {
        guard let bounds, bounds.extra > 0 else { return }
        let begun = state.withLock { state in
            var begun: [(worker: Worker, client: ClientAddress, job: Job)] = []
            for (number, since) in state.since where since.duration(to: now) > WorkerPool.patience {
                state.since[number] = nil
                state.long += 1
                if state.long > bounds.extra { continue }
                let worker = make(&state)
                if let (client, job) = takeNext(&state, worker) {
                    begun.append((worker, client, job))
                } else {
                    state.idle.append(worker)
                }
            }
            return begun
        }
        for (worker, client, job) in begun { worker.queue.async { self.work(job, client, worker) } }
    }

    /// Takes no more jobs, and waits until those it took are done.
    func close() {
        state.withLock { $0.isClosed = true }
        unfinished.wait()
    }
}
