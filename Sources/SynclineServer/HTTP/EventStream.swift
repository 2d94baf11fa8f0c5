// One listener's stream of events. While its connection is suspended, an event goes straight to the socket, if it can:
// waking the HTTP library for each of a thousand listeners takes longer than sending. Else the library takes the available
// bytes from the stream, and its connection is suspended while there are none.

import SynclineGround

/// The text of an event or comment, and how HTTP/1.1 frames it. The listeners that hear the same share it.
struct EventMessage: Hashable, Sendable {
    let bytes: [UInt8]
    let framed: [UInt8]

    init(_ text: String) {
        bytes = Array(text.utf8)
        framed = Array("\(String(bytes.count, radix: 16))\r\n\(text)\r\n".utf8)
    }
}

/// An event as it is sent.
struct ChangeEvent: Hashable, Sendable {
    let cursor: String
    /// The tables that it names; nil: any may have changed.
    let tables: Set<String>?
    let message: EventMessage
    /// The longest list of names. With a longer one, any table may have changed: clients read lines of 4096 bytes.
    private static let limit = 2048

    init(_ cursor: String, _ tables: Set<String>?) {
        let names = tables?.sorted().joined(separator: ",") ?? ""
        (self.cursor, self.tables) = (cursor, names.utf8.count > ChangeEvent.limit ? nil : tables)
        let line = self.tables == nil ? "" : "tables: \(names)\n"
        message = EventMessage("retry: 1000\nevent: change\n\(line)data: \(cursor)\n\n")
    }

    /// The event in place of this one and an earlier one.
    func replacing(_ earlier: ChangeEvent?) -> ChangeEvent {
        guard let earlier, let tables else { return self }
        guard let others = earlier.tables else { return ChangeEvent(cursor, nil) }
        return others.isSubset(of: tables) ? self : ChangeEvent(cursor, tables.union(others))
    }
}

final class EventStream: Sendable {
    private struct State {
        /// The message that is being sent, and how much of it was.
        var current: [UInt8] = []
        var sent = 0
        /// The next event: a slow reader needs only one for all that changed.
        var latest: ChangeEvent?
        var isWaiting = false
        var isEnded = false
        /// The number of bytes that were sent without the library.
        var bytesOut = 0
    }

    enum Piece {
        case bytes(ArraySlice<UInt8>)
        case wait
        case end
    }

    private let state = Mutex(State())
    private let resume: @Sendable () -> Void
    /// Writes to the socket of a suspended connection; nil if only the library can.
    private let write: (@Sendable ([UInt8]) -> ListenSocket.Sending)?
    private static let reminder = EventMessage(": nothing new\n\n")

    init(write: (@Sendable ([UInt8]) -> ListenSocket.Sending)? = nil, resume: @escaping @Sendable () -> Void) {
        (self.write, self.resume) = (write, resume)
    }

    var bytesOut: Int { state.withLock { $0.bytesOut } }

    /// The next bytes. `suspend` is called before any thread can resume the connection.
    func next(atMost limit: Int, suspend: () -> Void) -> Piece {
        state.withLock { state in
            if state.sent == state.current.count, let latest = state.latest {
                (state.current, state.sent, state.latest) = (latest.message.bytes, 0, nil)
            }
            if state.sent < state.current.count {
                let piece = state.current[state.sent...].prefix(limit)
                state.sent = piece.endIndex
                return .bytes(piece)
            }
            (state.current, state.sent) = ([], 0)
            if state.isEnded { return .end }
            state.isWaiting = true
            suspend()
            return .wait
        }
    }

    /// Sends an event, also in place of one that still waits.
    func send(_ event: ChangeEvent) {
        change { state in
            if !isSent(event.message, &state) { state.latest = event.replacing(state.latest) }
        }
    }

    /// Sends a comment if nothing else is being sent. It reveals a listener that is gone.
    func remind() {
        change { state in
            guard state.latest == nil, state.sent == state.current.count else { return }
            if !isSent(EventStream.reminder, &state) { (state.current, state.sent) = (EventStream.reminder.bytes, 0) }
        }
    }

    func end() { change { $0.isEnded = true } }

    /// Whether a message was sent without the library. Under the lock, nothing else writes to a suspended connection.
    private func isSent(_ message: EventMessage, _ state: inout State) -> Bool {
        guard state.isWaiting, !state.isEnded, let write else { return false }
        switch write(message.framed) {
        case .sent:
            state.bytesOut += message.framed.count
            return true
        case .full: return false
        case .broken:
            state.isEnded = true
            return true
        }
    }

    /// Changes the state, and resumes a suspended connection if there is something to do for it: outside the lock, which
    /// the library's thread takes at once.
    private func change(_ body: (inout State) -> Void) {
        let isResumed = state.withLock { state in
            body(&state)
            guard state.isWaiting, state.latest != nil || state.sent < state.current.count || state.isEnded else {
                return false
            }
            state.isWaiting = false
            return true
        }
        if isResumed { resume() }
    }
}

extension EventStream: Hashable {
    static func == (left: EventStream, right: EventStream) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
