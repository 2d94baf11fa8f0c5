// Carries out what may wait for others, off the threads that serve connections: so many things at once, the rest in turn.

import Dispatch
import Synchronization

final class Crew: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State: Sendable {
        /// Hands that have nothing to do: each carries out one thing at a time.
        var idle: [DispatchQueue]
        var waiting: [Job] = []
        var isClosed = false
    }

    private let state: Mutex<State>
    private let unfinished = DispatchGroup()

    init(hands: Int) {
        let queues = (0..<hands).map { DispatchQueue(label: "syncline.crew.\($0)") }
        state = Mutex(State(idle: queues))
    }

    /// How many jobs wait for a hand.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Has a job carried out soon; false if the crew is closed and takes none.
    func carryOut(_ job: @escaping Job) -> Bool {
        let (isTaken, hand) = state.withLock { state -> (Bool, DispatchQueue?) in
            guard !state.isClosed else { return (false, nil) }
            unfinished.enter()
            let hand = state.idle.popLast()
            if hand == nil { state.waiting.append(job) }
            return (true, hand)
        }
        hand?.async { self.work(job, hand) }
        return isTaken
    }

    /// Carries out a job, and then whatever waits.
    private func work(_ first: @escaping Job, _ hand: DispatchQueue?) {
        var next: Job? = first
        while let job = next {
            job()
            unfinished.leave()
            next = state.withLock { state in
                if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                if let hand { state.idle.append(hand) }
                return nil
            }
        }
    }

    /// Takes no more jobs, and waits until those it took are done.
    func close() {
        state.withLock { $0.isClosed = true }
        unfinished.wait()
    }
}
