// One listener's stream of events. The HTTP library takes the available bytes from it, and its connection is suspended
// while there are none.

import SynclineGround

/// An event as it is sent. The listeners that hear the same share its bytes.
struct ChangeEvent: Hashable, Sendable {
    let cursor: String
    /// The tables that it names; nil: any may have changed.
    let tables: Set<String>?
    let bytes: [UInt8]
    /// The longest list of names. With a longer one, any table may have changed: clients read lines of 4096 bytes.
    private static let limit = 2048

    init(_ cursor: String, _ tables: Set<String>?) {
        let names = tables?.sorted().joined(separator: ",") ?? ""
        (self.cursor, self.tables) = (cursor, names.utf8.count > ChangeEvent.limit ? nil : tables)
        let line = self.tables == nil ? "" : "tables: \(names)\n"
        bytes = Array("retry: 1000\nevent: change\n\(line)data: \(cursor)\n\n".utf8)
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
    }

    enum Piece {
        case bytes(ArraySlice<UInt8>)
        case wait
        case end
    }

    private let state = Mutex(State())
    private let resume: @Sendable () -> Void
    private static let reminder = Array(": nothing new\n\n".utf8)

    init(resume: @escaping @Sendable () -> Void) {
        self.resume = resume
    }

    /// The next bytes. `suspend` is called before any thread can resume the connection.
    func next(atMost limit: Int, suspend: () -> Void) -> Piece {
        state.withLock { state in
            if state.sent == state.current.count, let latest = state.latest {
                (state.current, state.sent, state.latest) = (latest.bytes, 0, nil)
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
        state.withLock { state in
            state.latest = event.replacing(state.latest)
            wake(&state)
        }
    }

    /// Sends a comment if nothing else is being sent. It reveals a listener that is gone.
    func remind() {
        state.withLock { state in
            guard state.latest == nil, state.sent == state.current.count else { return }
            (state.current, state.sent) = (EventStream.reminder, 0)
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

extension EventStream: Hashable {
    static func == (left: EventStream, right: EventStream) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
