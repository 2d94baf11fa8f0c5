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
    /// Adds the headers that every answer has.
    private let marked: @Sendable (HTTPResponse, [HTTPHeader]) -> HTTPResponse
    /// How long after a failure no other attempt is made.
    private static let pause = Duration.seconds(1)
    /// The number of requests that may wait until it is opened: each has a connection.
    private static let waitingLimit = 16

    init(
        _ name: String, note: @escaping @Sendable (String) -> Void,
        marked: @escaping @Sendable (HTTPResponse, [HTTPHeader]) -> HTTPResponse = { response, _ in response },
        make: @escaping @Sendable () throws(StoreFailure) -> (ServedStore, StoreFront)
    ) {
        (self.name, self.note, self.marked, self.make) = (name, note, marked, make)
    }

    private var opened: (store: ServedStore, front: StoreFront)? {
        state.withLock { if case .open(let store, let front) = $0 { (store, front) } else { nil } }
    }

    var store: ServedStore? { opened?.store }
    var front: StoreFront? { opened?.front }

    /// The front, or the work that opens the store, for as long as that takes, and answers a request.
    func choice(for request: HTTPRequest) -> FrontChoice {
        if let front { return .front(front) }
        if opener.waitingCount >= Tenant.waitingLimit { return .answer(StoreFront.busy()) }
        let work = WaitingAnswer(workers: opener, limit: nil) { [self] context in
            answer(request, &context)
        } refusal: { _ in
            StoreFront.busy()
        }
        return .later(.work(work))
    }

    private func answer(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse {
        do throws(StoreFailure) {
            let front = try open()
            let service = front.service
            switch service.place(of: request) {
            case .events: return service.marked(StoreFront.busy("The store was opened; ask again"), request.headers)
            case .writes: return service.answer(request, &context)
            case .here, .reads, .health:
                return WorkLimit.$current.withValue(front.limit) { service.answer(request, &context) }
            }
        } catch {
            context.notes.failure = error.reason
            let refusal = Refusal(503, "store-unavailable", "The store can't be read")
            return marked(refusal.response(retryAfter: 1), request.headers)
        }
    }

    /// Opens the store, unless that failed a moment ago. Only the opener calls it, and the start of a server.
    @discardableResult
    func open() throws(StoreFailure) -> StoreFront {
        switch state.withLock({ $0 }) {
        case .open(_, let front): return front
        case .failed(let failure, let time) where time.duration(to: .present) < Tenant.pause: throw failure
        case .ended: throw .busy(FailureReason(.busy, "the server is stopping"))
        case .closed, .failed, .opening: break
        }
        // It may read whole tables; a stop ends it.
        let limit = WorkLimit(seconds: 86_400)
        state.withLock { $0 = .opening(limit) }
        do throws(StoreFailure) {
            let (store, front) = try WorkLimit.$current.withValue(limit) { Result(catching: make) }.get()
            state.withLock { $0 = .open(store, front) }
            return front
        } catch {
            state.withLock { $0 = .failed(error, at: .present) }
            note("the store of tenant \(name) can't be opened: \(StartFailure(error).text)")
            throw error
        }
    }

    /// Interrupts waits for the database.
    func interrupt() {
        if case .opening(let limit) = state.withLock({ $0 }) { limit.cancel() }
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
