// Notifies listeners of commits in any process: it passes on the store's change mark as soon as it hears of a commit, and
// several times a second while there are listeners. Listeners wait suspended and occupy no thread.

import Dispatch
import SynclineGround

/// One listener's stream. The HTTP library takes the available bytes from it, and its connection is suspended while
/// there are none.
final class EventStream: Sendable {
    private struct State {
        /// The message that is being sent, piece by piece.
        var current: [UInt8] = []
        /// The next message: a slow reader needs only the latest one.
        var latest: String?
        var isWaiting = false
        var isEnded = false
    }

    enum Piece {
        case bytes([UInt8])
        case wait
        case end
    }

    private let state = Mutex(State())
    private let resume: @Sendable () -> Void

    init(resume: @escaping @Sendable () -> Void) {
        self.resume = resume
    }

    /// The next bytes. `suspend` is called before any thread can resume the connection.
    func next(atMost limit: Int, suspend: () -> Void) -> Piece {
        state.withLock { state in
            if state.current.isEmpty, let latest = state.latest {
                state.current = Array(latest.utf8)
                state.latest = nil
            }
            if !state.current.isEmpty {
                let bytes = Array(state.current.prefix(limit))
                state.current.removeFirst(bytes.count)
                return .bytes(bytes)
            }
            if state.isEnded { return .end }
            state.isWaiting = true
            suspend()
            return .wait
        }
    }

    /// Sends a message, and replaces one that still waits.
    func send(_ text: String) {
        state.withLock { state in
            state.latest = text
            wake(&state)
        }
    }

    /// Sends a message if nothing else is being sent.
    func remind(_ text: String) {
        state.withLock { state in
            guard state.latest == nil, state.current.isEmpty else { return }
            state.latest = text
            wake(&state)
        }
    }

    func end() {
        state.withLock { state in
            state.isEnded = true
            wake(&state)
        }
    }

    private func wake(_ state: inout State) {
        guard state.isWaiting else { return }
        state.isWaiting = false
        resume()
    }
}

final class EventHub: Sendable {
    private struct Listener {
        var stream: EventStream
        /// The last mark that was sent.
        var told: String?
        /// The number of rounds in which nothing was sent.
        var quietRounds = 0
    }

    private struct State: Sendable {
        var listeners: [ObjectIdentifier: Listener] = [:]
        var isAsking = false
        var isEnded = false
        /// The latest known change mark.
        var mark: String?
        /// Whether more listeners will receive it in a moment.
        var isSpreading = false
        /// Whether the store will be asked soon, and when it was asked.
        var isWoken = false
        var asked: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    /// All queries and messages run on this queue, so that an older mark is never sent after a newer one.
    private let queue = DispatchQueue(label: "syncline.events")
    /// The current change mark; nil if it is not available now.
    private let mark: @Sendable () -> String?
    private static let interval = DispatchTimeInterval.milliseconds(200)
    /// The least time between two marks because of commits. Each makes all listeners ask for changes.
    private static let rest = Duration.milliseconds(200)
    /// The number of rounds after which a keep-alive message is sent, which reveals a listener that is gone.
    private static let quietLimit = 75
    /// How many listeners receive a mark at a time, and the pause between them. All of them ask for the changes as soon
    /// as they receive it, and together they would wait for each other.
    static let portion = 50
    private static let pause = DispatchTimeInterval.milliseconds(10)

    init(mark: @escaping @Sendable () -> String?) {
        self.mark = mark
    }

    /// Adds a listener. It receives the current mark now, and every later one.
    func add(_ stream: EventStream) {
        let (isFirst, isEnded) = state.withLock { state in
            state.listeners[ObjectIdentifier(stream)] = Listener(stream: stream)
            let isFirst = !state.isAsking
            state.isAsking = true
            return (isFirst, state.isEnded)
        }
        if isEnded { return stream.end() }
        queue.async { [weak self] in isFirst ? self?.go() : self?.tell(isRound: false) }
    }

    /// Tells listeners of a commit: at once, or if they were told a moment ago, a moment later.
    func wake() {
        let delay = state.withLock { state -> Duration? in
            if state.isWoken || state.isEnded || state.listeners.isEmpty { return nil }
            state.isWoken = true
            return state.asked.map { max(.zero, EventHub.rest - $0.duration(to: .present)) } ?? .zero
        }
        guard let delay else { return }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay / .nanoseconds(1)))) { [weak self] in
            self?.state.withLock { state in (state.isWoken, state.asked) = (false, .present) }
            self?.tell(isRound: false)
        }
    }

    var count: Int { state.withLock { $0.listeners.count } }

    func remove(_ stream: EventStream) {
        state.withLock { $0.listeners[ObjectIdentifier(stream)] = nil }
    }

    /// Ends all streams; later ones end at once.
    func end() {
        let streams = state.withLock { state in
            state.isEnded = true
            return state.listeners.values.map(\.stream)
        }
        for stream in streams { stream.end() }
    }

    /// Repeats `tell` while there are listeners.
    private func go() {
        tell(isRound: true)
        let isOver = state.withLock { state in
            if state.listeners.isEmpty || state.isEnded { state.isAsking = false }
            return !state.isAsking
        }
        if isOver { return }
        queue.asyncAfter(deadline: .now() + EventHub.interval) { [weak self] in self?.go() }
    }

    /// Asks for the current mark and sends it to listeners that do not have it. In a round, listeners that received
    /// nothing for long get a keep-alive message.
    func tell(isRound: Bool) {
        let now = mark()
        let quiet = state.withLock { state -> [EventStream] in
            state.mark = now ?? state.mark
            guard isRound else { return [] }
            var quiet: [EventStream] = []
            for index in state.listeners.values.indices where state.listeners.values[index].told == state.mark {
                state.listeners.values[index].quietRounds += 1
                guard state.listeners.values[index].quietRounds >= EventHub.quietLimit else { continue }
                state.listeners.values[index].quietRounds = 0
                quiet.append(state.listeners.values[index].stream)
            }
            return quiet
        }
        for stream in quiet { stream.remind(": nothing new\n\n") }
        if state.withLock({ !$0.isSpreading }) { spread() }
    }

    /// Sends the latest mark to some of the listeners that do not have it, and to the others after a pause.
    func spread() {
        let (mark, some, isRest) = state.withLock { state -> (String, [EventStream], Bool) in
            state.isSpreading = false
            guard let mark = state.mark else { return ("", [], false) }
            var some: [EventStream] = []
            for index in state.listeners.values.indices where state.listeners.values[index].told != mark {
                state.isSpreading = some.count == EventHub.portion
                if state.isSpreading { break }
                (state.listeners.values[index].told, state.listeners.values[index].quietRounds) = (mark, 0)
                some.append(state.listeners.values[index].stream)
            }
            return (mark, some, state.isSpreading)
        }
        for stream in some { stream.send("retry: 1000\nevent: change\ndata: \(mark)\n\n") }
        if isRest { queue.asyncAfter(deadline: .now() + EventHub.pause) { [weak self] in self?.spread() } }
    }
}
