// How long a piece of work may go on: until a moment, and for as long as somebody waits for its result. What works long looks
// here now and then; nobody is stopped from outside.

import Synchronization

final class WorkLimit: Sendable {
    enum Stop: Hashable, Sendable {
        case late
        /// Whoever asked has gone.
        case unwanted
        /// Others wait: the work is to be done again, from its beginning, when there is room.
        case crowding
    }

    private let deadline: ContinuousClock.Instant
    private let seconds: Int
    private let isUnwanted = Atomic(false)
    private let isCrowding = Atomic(false)
    private let isLeftOff = Atomic(false)
    private let now: @Sendable () -> ContinuousClock.Instant

    /// The limit of the work that this thread does, if it has one.
    @TaskLocal static var current: WorkLimit?

    /// Begins now. What passes before the work begins counts as well.
    init(seconds: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.seconds = seconds
        self.now = now
        deadline = now() + .seconds(seconds)
    }

    /// Whoever asked has gone.
    func cancel() { isUnwanted.store(true, ordering: .relaxed) }

    /// Others wait.
    func makeRoom() { isCrowding.store(true, ordering: .relaxed) }

    /// Whether the work was left off because others wait. It may begin again, and others wait no more.
    func takeLeftOff() -> Bool {
        isCrowding.store(false, ordering: .relaxed)
        return isLeftOff.exchange(false, ordering: .relaxed)
    }

    /// Why the work is to stop; nil while it may go on.
    var stop: Stop? {
        if isUnwanted.load(ordering: .relaxed) { return .unwanted }
        if isCrowding.load(ordering: .relaxed) { return .crowding }
        return now() >= deadline ? .late : nil
    }

    func check() throws(StoreFailure) {
        if let stop { throw refusal(stop) }
    }

    /// What is answered in place of a result. One that nobody wants is answered as well, to nobody.
    func refusal(_ stop: Stop) -> StoreFailure {
        switch stop {
        case .late:
            return .refused(Refusal(503, "took-too-long", "The request took longer than \(seconds) seconds"))
        case .unwanted: return .refused(Refusal(503, "took-too-long", "The client has closed its connection"))
        case .crowding:
            isLeftOff.store(true, ordering: .relaxed)
            return .refused(Refusal(503, "busy", "The request makes room for others"))
        }
    }
}
