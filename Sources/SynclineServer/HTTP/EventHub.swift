// Notifies listeners of commits in any process: it asks the store as soon as it hears of a commit, and several times a
// second while there are listeners. Listeners wait suspended and occupy no thread.

import Dispatch
import SynclineGround
import SynclineTables
import SynclineWire

final class EventHub: Sendable {
    private struct State: Sendable {
        var plan = EventPlan<EventStream>()
        var isAsking = false
        var isEnded = false
    }

    private let state = Mutex(State())
    /// All questions are asked and answered on this queue, so that an older mark is never sent after a newer one.
    private let queue = DispatchQueue(label: "syncline.events")
    /// What changed since a mark; nil if it is not available now.
    private let news: @Sendable (_ known: ChangeMark?, _ isWhole: Bool) -> ChangeNews?
    /// The buckets of a caller at a mark.
    private let buckets: @Sendable (_ tables: Set<String>, _ subject: String, _ mark: ChangeMark) -> CallerBuckets
    /// Asks to be called at commits; nil: no more.
    private let listen: @Sendable ((@Sendable () -> Void)?) -> Void
    private static let interval = DispatchTimeInterval.milliseconds(200)

    init(
        listen: @escaping @Sendable ((@Sendable () -> Void)?) -> Void = { _ in },
        buckets: @escaping @Sendable (_ tables: Set<String>, _ subject: String, _ mark: ChangeMark) -> CallerBuckets,
        news: @escaping @Sendable (_ known: ChangeMark?, _ isWhole: Bool) -> ChangeNews?
    ) {
        (self.listen, self.buckets, self.news) = (listen, buckets, news)
    }

    /// Adds a listener. It receives the current mark now, and later ones with changes of its tables that it may see.
    func add(_ stream: EventStream, _ interest: EventInterest) {
        let (isFirst, isEnded) = state.withLock { state in
            // Under the lock: later events follow.
            if let event = state.plan.add(stream, interest) { stream.send(event) }
            let isFirst = !state.isAsking
            state.isAsking = true
            return (isFirst, state.isEnded)
        }
        if isEnded { return stream.end() }
        guard isFirst else { return }
        queue.async { [weak self] in
            self?.listen { [weak self] in self?.wake() }
            self?.go()
        }
    }

    /// Tells listeners of a commit: at once, or if they were told a moment ago, a moment later.
    func wake() {
        guard let delay = state.withLock({ $0.isEnded ? nil : $0.plan.wake(now: .present) }) else { return }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay / .nanoseconds(1)))) { [weak self] in
            self?.state.withLock { $0.plan.begin() }
            self?.tell(isRound: false)
        }
    }

    var count: Int { state.withLock { $0.plan.count } }

    func remove(_ stream: EventStream) {
        state.withLock { $0.plan.remove(stream) }
    }

    /// Ends all streams; later ones end at once.
    func end() {
        let streams = state.withLock { state in
            state.isEnded = true
            return state.plan.listeners
        }
        for stream in streams { stream.end() }
    }

    /// Repeats `tell` while there are listeners.
    private func go() {
        tell(isRound: true)
        let isOver = state.withLock { state in
            if state.plan.count == 0 || state.isEnded {
                state.isAsking = false
                state.plan.forget()
            }
            return !state.isAsking
        }
        if isOver { return listen(nil) }
        queue.asyncAfter(deadline: .now() + EventHub.interval) { [weak self] in self?.go() }
    }

    /// Asks for what changed, and sends it. A round also finds commits without a call, and reminds listeners that heard
    /// nothing for long.
    func tell(isRound: Bool) {
        let began = ContinuousClock.Instant.present
        let found = news(state.withLock { $0.plan.mark }, isRound)
        if let found {
            for (subject, tables) in state.withLock({ $0.plan.questions(found) }) {
                let known = buckets(tables, subject, found.mark)
                state.withLock { $0.plan.learn(known, of: subject) }
            }
        }
        let (told, quiet) = state.withLock { state in
            (found.map { state.plan.take($0) } ?? [], isRound ? state.plan.endRound() : [])
        }
        let answered = ContinuousClock.Instant.present
        var sent = 0
        for (event, streams) in told {
            for part in EventPlan.parts(of: streams, after: sent) {
                // Here, so that no later event overtakes one that waits.
                if part.waits { Duration.milliseconds(100).block() }
                send(event, to: part.listeners)
                sent += part.listeners.count
            }
        }
        for stream in quiet { stream.remind() }
        state.withLock { $0.plan.end(began: began, answered: answered, events: sent) }
    }

    /// Sends an event on two threads if many hear it: each of them takes as long as its listener's wakeup.
    private func send(_ event: ChangeEvent, to streams: ArraySlice<EventStream>) {
        if streams.count < 64 { return streams.forEach { $0.send(event) } }
        let middle = streams.startIndex + streams.count / 2
        DispatchQueue.concurrentPerform(iterations: 2) { half in
            for stream in half == 0 ? streams[..<middle] : streams[middle...] { stream.send(event) }
        }
    }
}
