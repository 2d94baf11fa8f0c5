// A tenant: its first request opens its store. While that fails, its requests are refused; no other tenant waits.

import SynclineGround
import SynclineTables
import SynclineWire

final class Tenant: Sendable {
    private enum State {
        case closed
        /// The limit of the work that opens it.
        case opening(WorkLimit)
        case failed(StoreFailure, at: ContinuousClock.Instant)
        case open(ServedStore, StoreFront)
        case ended
    }

    let name: String
    private let state = Mutex(State.closed)
    private let opener = WorkerPool("opening", workers: 1)
    private let make: @Sendable () throws(StoreFailure) -> (ServedStore, StoreFront)
    private let note: @Sendable (String) -> Void
    /// How long after a failure no other attempt is made.
    private static let pause = Duration.seconds(1)
    /// The number of requests that may wait until it is opened: each has a connection.
    private static let waitingLimit = 16

    init(
        _ name: String, note: @escaping @Sendable (String) -> Void,
        make: @escaping @Sendable () throws(StoreFailure) -> (ServedStore, StoreFront)
    ) {
        (self.name, self.note, self.make) = (name, note, make)
    }

    private var opened: (store: ServedStore, front: StoreFront)? {
        state.withLock { if case .open(let store, let front) = $0 { (store, front) } else { nil } }
    }

    var store: ServedStore? { opened?.store }
    var front: StoreFront? { opened?.front }

    /// The front. Without one, the request comes again after an attempt to open the store, for as long as that takes.
    func choice(_ notes: inout RequestNotes) -> FrontChoice {
        switch state.withLock({ $0 }) {
        case .open(_, let front): return .front(front)
        case .failed(let failure, let time) where time.duration(to: .present) < Tenant.pause:
            notes.failure = failure.reason
            let refusal = Refusal(503, "store-unavailable", "The store can't be read")
            return .answer(refusal.response(retryAfter: 1))
        case .ended: return .answer(StoreFront.busy())
        case .closed, .failed, .opening: break
        }
        if opener.waitingCount >= Tenant.waitingLimit { return .answer(StoreFront.busy()) }
        return .later(
            .again { [self] resume in
                let admission = opener.carryOut {
                    _ = try? self.open()
                    resume()
                }
                if admission == .closed { resume() }
            })
    }

    /// Opens the store, unless that failed a moment ago. Only the opener calls it, and the start of a server.
    func open() throws(StoreFailure) {
        // It may read whole tables; a stop ends it.
        let limit = WorkLimit(seconds: 86_400)
        let isToOpen = try state.withLock { state throws(StoreFailure) in
            switch state {
            case .open: return false
            case .failed(let failure, let time) where time.duration(to: .present) < Tenant.pause: throw failure
            case .ended: throw Tenant.stopping
            case .closed, .failed, .opening: state = .opening(limit)
            }
            return true
        }
        guard isToOpen else { return }
        let result = WorkLimit.$current.withValue(limit) { Result(catching: make) }
        let isEnded = state.withLock { state in
            if case .ended = state { return true }
            switch result {
            case .success(let (store, front)): state = .open(store, front)
            case .failure(let failure): state = .failed(failure, at: .present)
            }
            return false
        }
        switch result {
        case .success(let (store, _)):
            if !isEnded { return }
            store.store.close()
            throw Tenant.stopping
        case .failure(let failure):
            note("the store of tenant \(name) can't be opened: \(StartFailure(failure).text)")
            throw failure
        }
    }

    private static let stopping = StoreFailure.busy(FailureReason(.busy, "the server is stopping"))

    /// Interrupts waits for the database; a store is no longer opened.
    func interrupt() {
        let store = state.withLock { state -> ServedStore? in
            switch state {
            case .open(let store, _): return store
            case .opening(let limit): limit.cancel()
            case .closed, .failed, .ended: break
            }
            state = .ended
            return nil
        }
        store?.store.interrupt()
    }

    /// Ends the workers, after the work that they took.
    func endWork() {
        opener.close()
        front?.close()
    }

    /// Closes the store. No worker may be left.
    func close() {
        store?.store.close()
        state.withLock { $0 = .ended }
    }
}
