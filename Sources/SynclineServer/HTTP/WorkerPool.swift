// Carries out jobs off the threads that serve connections: a number of them at a time, the rest in turn.

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
    }

    private struct State: Sendable {
        /// Workers that have nothing to do: each carries out one job at a time.
        var idle: [DispatchQueue]
        var waiting: [(client: ClientAddress, job: Job)] = []
        /// How many of each client's jobs run.
        var running: [ClientAddress: Int] = [:]
        var isClosed = false
    }

    private let state: Mutex<State>
    private let bounds: Bounds?
    private let unfinished = DispatchGroup()

    init(_ name: String, workers: Int, bounds: Bounds? = nil) {
        self.bounds = bounds
        let queues = (0..<workers).map { DispatchQueue(label: "syncline.\(name).\($0)") }
        state = Mutex(State(idle: queues))
    }

    /// How many jobs wait for a worker.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Has a job carried out soon.
    func carryOut(for client: ClientAddress = .unknown, _ job: @escaping Job) -> Admission {
        let (admission, worker) = state.withLock { state -> (Admission, DispatchQueue?) in
            if state.isClosed { return (.closed, nil) }
            let mayRun = bounds.map { state.running[client, default: 0] < $0.running } ?? true
            if mayRun, let worker = state.idle.popLast() {
                unfinished.enter()
                state.running[client, default: 0] += 1
                return (.taken, worker)
            }
            if let bounds, !hasRoom(state, bounds, for: client) { return (.full, nil) }
            unfinished.enter()
            state.waiting.append((client, job))
            return (.taken, nil)
        }
        worker?.async { self.work(job, client, worker) }
        return admission
    }

    /// One client's jobs take up at most half of the room.
    private func hasRoom(_ state: borrowing State, _ bounds: Bounds, for client: ClientAddress) -> Bool {
        state.waiting.count < bounds.waiting
            && state.waiting.count { $0.client == client } < (bounds.waiting + 1) / 2
    }

    /// Carries out a job, and then whatever waits.
    private func work(_ first: @escaping Job, _ client: ClientAddress, _ worker: DispatchQueue?) {
        var next: (client: ClientAddress, job: Job)? = (client, first)
        while let (client, job) = next {
            job()
            unfinished.leave()
            next = state.withLock { state in
                state.running[client] = state.running[client].flatMap { $0 > 1 ? $0 - 1 : nil }
                if let place = nextPlace(state) {
                    let next = state.waiting.remove(at: place)
                    state.running[next.client, default: 0] += 1
                    return next
                }
                if let worker { state.idle.append(worker) }
                return nil
            }
        }
    }

    /// Whose turn it is: the oldest job of the client that has the fewest running.
    private func nextPlace(_ state: borrowing State) -> Int? {
        guard let bounds else { return state.waiting.isEmpty ? nil : 0 }
        let place = state.waiting.indices.min {
            state.running[state.waiting[$0].client, default: 0] < state.running[state.waiting[$1].client, default: 0]
        }
        guard let place, state.running[state.waiting[place].client, default: 0] < bounds.running else { return nil }
        return place
    }

    /// Takes no more jobs, and waits until those it took are done.
    func close() {
        state.withLock { $0.isClosed = true }
        unfinished.wait()
    }
}
