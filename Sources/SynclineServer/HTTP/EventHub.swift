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
        var latest: [UInt8] = []
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
            if state.current.isEmpty { swap(&state.current, &state.latest) }
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

    func send(_ text: String) {
        state.withLock { state in
            state.latest = Array(text.utf8)
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
    private struct State: Sendable {
        var streams: [ObjectIdentifier: EventStream] = [:]
        var latest = ""
        var quietRounds = 0
        var isAsking = false
        var isEnded = false
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "syncline.events")
    /// Where the order of changes stands; nil if that can't be told now.
    private let mark: @Sendable () -> String?
    private static let interval = DispatchTimeInterval.milliseconds(200)
    /// After so many rounds a sign of life is sent, by which a listener that is gone is found out.
    private static let patience = 75

    init(mark: @escaping @Sendable () -> String?) {
        self.mark = mark
    }

    func add(_ stream: EventStream) {
        let (isFirst, isEnded) = state.withLock { state in
            state.streams[ObjectIdentifier(stream)] = stream
            let isFirst = !state.isAsking
            state.isAsking = true
            return (isFirst, state.isEnded)
        }
        if isEnded { return stream.end() }
        stream.send("retry: 1000\n\n" + (mark().map(EventHub.event) ?? ""))
        if isFirst { ask(after: EventHub.interval) }
    }

    func remove(_ stream: EventStream) {
        state.withLock { $0.streams[ObjectIdentifier(stream)] = nil }
    }

    /// Ends all streams, and every later one at once.
    func end() {
        let streams = state.withLock { state in
            state.isEnded = true
            return Array(state.streams.values)
        }
        for stream in streams { stream.end() }
    }

    private static func event(_ cursor: String) -> String { "event: change\ndata: \(cursor)\n\n" }

    private func ask(after interval: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in self?.ask() }
    }

    private func ask() {
        let now = mark()
        let (streams, text) = state.withLock { state -> ([EventStream], String?) in
            if state.streams.isEmpty || state.isEnded {
                state.isAsking = false
                return ([], nil)
            }
            state.quietRounds += 1
            var text: String?
            if let now, now != state.latest {
                text = EventHub.event(now)
                state.latest = now
            } else if state.quietRounds >= EventHub.patience {
                text = ": nothing new\n\n"
            }
            if text != nil { state.quietRounds = 0 }
            return (Array(state.streams.values), text)
        }
        if streams.isEmpty { return }
        if let text { for stream in streams { stream.send(text) } }
        ask(after: EventHub.interval)
    }
}
