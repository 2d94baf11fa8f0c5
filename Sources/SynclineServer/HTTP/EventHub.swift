// Tells listeners that something was committed, in whichever process: asks the store where the order of changes stands, a few
// times a second while anybody listens, and passes on what moved. Listeners wait suspended and cost no thread.

import Dispatch
import Synchronization

/// One listener's stream. The HTTP library takes from it what there is, and is suspended while there is nothing.
final class EventStream: Sendable {
    private struct State {
        /// What is being taken, piece by piece.
        var current: [UInt8] = []
        /// What comes behind it: who does not read needs no more than the latest.
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

    /// The next bytes. `suspend` is called before anybody can resume.
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

    /// Sends a text in place of one that still waits.
    func send(_ text: String) {
        state.withLock { state in
            state.latest = text
            wake(&state)
        }
    }

    /// Sends a text to whom nothing else is being sent.
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
        /// What it was told last.
        var told: String?
        /// For how many rounds it was sent nothing.
        var quietRounds = 0
    }

    private struct State: Sendable {
        var listeners: [ObjectIdentifier: Listener] = [:]
        var isAsking = false
        var isEnded = false
    }

    private let state = Mutex(State())
    /// Only here it is asked and told, so that nothing overtakes what is newer.
    private let queue = DispatchQueue(label: "syncline.events")
    /// Where the order of changes stands; nil if that can't be told now.
    private let mark: @Sendable () -> String?
    private static let interval = DispatchTimeInterval.milliseconds(200)
    /// After so many rounds a sign of life is sent, by which a listener that is gone is found out.
    private static let patience = 75

    init(mark: @escaping @Sendable () -> String?) {
        self.mark = mark
    }

    /// A listener is told where the order stands now, and whenever it has moved.
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

    var count: Int { state.withLock { $0.listeners.count } }

    func remove(_ stream: EventStream) {
        state.withLock { $0.listeners[ObjectIdentifier(stream)] = nil }
    }

    /// Ends all streams, and every later one at once.
    func end() {
        let streams = state.withLock { state in
            state.isEnded = true
            return state.listeners.values.map(\.stream)
        }
        for stream in streams { stream.end() }
    }

    /// Tells, again and again while anybody listens.
    private func go() {
        tell(isRound: true)
        let isOver = state.withLock { state in
            if state.listeners.isEmpty || state.isEnded { state.isAsking = false }
            return !state.isAsking
        }
        if isOver { return }
        queue.asyncAfter(deadline: .now() + EventHub.interval) { [weak self] in self?.go() }
    }

    /// Asks where the order stands, and tells those who do not know; in a round, who heard nothing for long gets a sign of life.
    func tell(isRound: Bool) {
        let now = mark()
        let (news, quiet) = state.withLock { state -> ([EventStream], [EventStream]) in
            var (news, quiet): ([EventStream], [EventStream]) = ([], [])
            for index in state.listeners.values.indices {
                var listener = state.listeners.values[index]
                if let now, listener.told != now {
                    (listener.told, listener.quietRounds) = (now, 0)
                    news.append(listener.stream)
                } else if isRound {
                    listener.quietRounds += 1
                    if listener.quietRounds >= EventHub.patience {
                        listener.quietRounds = 0
                        quiet.append(listener.stream)
                    }
                }
                state.listeners.values[index] = listener
            }
            return (news, quiet)
        }
        if let now { for stream in news { stream.send("retry: 1000\nevent: change\ndata: \(now)\n\n") } }
        for stream in quiet { stream.remind(": nothing new\n\n") }
    }
}
