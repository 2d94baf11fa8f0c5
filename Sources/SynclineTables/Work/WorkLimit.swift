// A limit for a piece of work: a deadline, and cancellation when the result is no longer needed. Long work checks it
// regularly; work is never stopped from outside.

import SynclineGround

package final class WorkLimit: Sendable {
    package enum Stop: Hashable, Sendable {
        case late
        /// The client has disconnected.
        case unwanted
        /// Others wait: the work must be done again, from its beginning, when there is room.
        case crowding
    }

    private let deadline: ContinuousClock.Instant
    private let seconds: Int
    private let isUnwanted = Atomic(false)
    private let isCrowding = Atomic(false)
    private let wasInterrupted = Atomic(false)
    private let now: @Sendable () -> ContinuousClock.Instant

    /// The limit of the current work, if it has one.
    @TaskLocal package static var current: WorkLimit?

    /// Starts now. Time before the work begins counts as well.
    package init(seconds: Int, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.seconds = seconds
        self.now = now
        deadline = now() + .seconds(seconds)
    }

    /// The client has disconnected.
    package func cancel() { isUnwanted.store(true, ordering: .relaxed) }

    /// Others wait.
    package func makeRoom() { isCrowding.store(true, ordering: .relaxed) }

    /// Whether the work was interrupted because others wait. Resets the flag, so that it may start again.
    package func takeInterruption() -> Bool {
        isCrowding.store(false, ordering: .relaxed)
        return wasInterrupted.exchange(false, ordering: .relaxed)
    }

    /// The reason to stop; nil while the work may continue.
    package var stop: Stop? {
        if isUnwanted.load(ordering: .relaxed) { return .unwanted }
        if isCrowding.load(ordering: .relaxed) { return .crowding }
        return now() >= deadline ? .late : nil
    }

    package func check() throws(StoreFailure) {
        if let stop { throw refusal(stop) }
    }

    /// The answer in place of a result. An unwanted result also gets one, although no client receives it.
    package func refusal(_ stop: Stop) -> StoreFailure {
        switch stop {
        case .late:
            return .refused(Refusal(503, "took-too-long", "The request took longer than \(seconds) seconds"))
        case .unwanted: return .refused(Refusal(503, "took-too-long", "The client has closed its connection"))
        case .crowding:
            wasInterrupted.store(true, ordering: .relaxed)
            return .refused(Refusal(503, "busy", "The request was stopped to make room for others"))
        }
    }
}
