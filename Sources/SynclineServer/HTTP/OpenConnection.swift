// The current phase of an open connection, and since when. The thread that serves the connection writes it, and the
// search for overdue connections reads it.

import SynclineGround

extension ConnectionDeadlines {
    /// Whether a client has taken too long. Times are in milliseconds.
    func areOver(_ phase: OpenConnection.Phase, since: UInt64, requestSince: UInt64, now: UInt64) -> Bool {
        func isOver(_ start: UInt64, _ seconds: Int) -> Bool { now > start + UInt64(seconds) * 1000 }
        switch phase {
        case .listening: return false
        case .secured: return isOver(since, head)
        // A first line that arrives letter by letter is not seen before its end.
        case .idle: return isOver(since, idle + head)
        case .head: return isOver(since, head)
        case .body: return isOver(since, body) || isOver(requestSince, request)
        case .answer: return isOver(requestSince, request)
        }
    }
}

final class OpenConnection: Sendable {
    enum Phase: UInt64, Sendable {
        case idle, head, body, answer
        /// It has an endless stream of events.
        case listening
        /// It is new and uses TLS: its handshake and the first line of its first request must arrive soon.
        case secured
    }

    let descriptor: Int32
    let client: ClientAddress
    /// The number of the thread that serves it.
    let thread: Int
    /// The phase in the lowest three bits, and above them the time when it began.
    private let state: Atomic<UInt64>
    private let requestStart = Atomic<UInt64>(0)

    init(_ descriptor: Int32, _ client: ClientAddress, thread: Int, isSecure: Bool = false, now: UInt64) {
        self.descriptor = descriptor
        self.client = client
        self.thread = thread
        state = Atomic(now << 3 | (isSecure ? Phase.secured : .idle).rawValue)
    }

    func enter(_ phase: Phase, now: UInt64) {
        if phase == .head { requestStart.store(now, ordering: .relaxed) }
        state.store(now << 3 | phase.rawValue, ordering: .relaxed)
    }

    var phase: Phase { Phase(rawValue: state.load(ordering: .relaxed) & 7) ?? .idle }

    /// The time since which it has waited for a request; nil if it has one.
    var idleSince: UInt64? {
        let state = state.load(ordering: .relaxed)
        return [Phase.idle.rawValue, Phase.secured.rawValue].contains(state & 7) ? state >> 3 : nil
    }

    func isOverdue(_ deadlines: ConnectionDeadlines, now: UInt64) -> Bool {
        let state = state.load(ordering: .relaxed)
        return deadlines.areOver(
            Phase(rawValue: state & 7) ?? .idle, since: state >> 3,
            requestSince: requestStart.load(ordering: .relaxed), now: now)
    }
}
