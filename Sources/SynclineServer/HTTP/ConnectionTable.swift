// The open connections. The table decides which clients may open another. If there is no room, the connection that has
// been idle for longest is ended: an honest client reconnects, and a client that only holds connections loses them.

import CLibrary
import SynclineGround

final class ConnectionTable: Sendable {
    private struct Entry: Sendable {
        let connection: OpenConnection
        /// Whether this table has ended it; its thread has not noticed yet.
        var isEnded = false
        /// Whether the HTTP library has taken it. If the library gave it up before, it closes it without a
        /// notification.
        var isServed = false
    }

    private struct State: Sendable {
        var entries: [Int32: Entry] = [:]
        var perClient: [ClientAddress: Int] = [:]
        var perThread: [Int]
        var ended = 0
        /// The number of connections that the HTTP library has not taken yet.
        var unserved = 0

        /// The number of connections that remain when the ended ones are gone.
        var staying: Int { entries.count - ended }

        mutating func remove(_ descriptor: Int32) {
            guard let entry = entries.removeValue(forKey: descriptor) else { return }
            perThread[entry.connection.thread] -= 1
            perClient[entry.connection.client] = perClient[entry.connection.client].flatMap { $0 > 1 ? $0 - 1 : nil }
            if entry.isEnded { ended -= 1 }
            if !entry.isServed { unserved -= 1 }
        }
    }

    private let state: Mutex<State>
    private let limit: Int
    private let limitPerClient: Int
    private let processors: Int
    private let deadlines: ConnectionDeadlines
    private let isSecure: Bool
    /// Proxies, which forward the requests of many clients.
    private let isExempt: @Sendable (ClientAddress) -> Bool
    /// Ends a connection from outside; the thread that serves it notices and closes it.
    private let end: @Sendable (Int32) -> Void

    init(
        _ limits: ServerConfiguration.Limits, threads: Int, processors: Int = ConnectionTable.processors,
        isSecure: Bool = false,
        isExempt: @escaping @Sendable (ClientAddress) -> Bool, end: @escaping @Sendable (Int32) -> Void
    ) {
        state = Mutex(State(perThread: Array(repeating: 0, count: threads)))
        limit = limits.connections
        self.isSecure = isSecure
        self.processors = processors
        limitPerClient = limits.connectionsPerAddress
        deadlines = limits.deadlines
        self.isExempt = isExempt
        self.end = end
    }

    /// The number of processors of this machine.
    static let processors = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// The thread for the next connection: the one with the fewest connections. A thread that wakes serves all of its
    /// active connections, so the same work costs less on as many threads as there are processors than on more.
    /// - Parameter few: The number of connections per thread above which more threads than processors are used. Never more
    ///   than a thread's share of all: a thread of the library that is given more than it expects stops for good.
    static func thread(among counts: [Int], processors: Int, few: Int) -> Int {
        let first = counts.prefix(max(1, processors))
        let open = first.allSatisfy { $0 >= few } ? counts[...] : first
        return open.indices.min { open[$0] < open[$1] } ?? 0
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// Registers a new connection and returns the thread that will serve it; nil if there is no room.
    func admit(_ descriptor: Int32, _ client: ClientAddress, now: UInt64) -> OpenConnection? {
        state.withLock { state in
            // The descriptor belonged to a connection that the library gave up without a notification.
            state.remove(descriptor)
            if !isExempt(client), state.perClient[client, default: 0] >= limitPerClient {
                guard endIdlest(&state, of: client) else { return nil }
            }
            if state.staying >= limit, !endIdlest(&state, of: nil) { return nil }
            let thread = ConnectionTable.thread(
                among: state.perThread, processors: processors, few: min(48, limit / state.perThread.count))
            let connection = OpenConnection(descriptor, client, thread: thread, isSecure: isSecure, now: now)
            state.entries[descriptor] = Entry(connection: connection)
            state.unserved += 1
            state.perClient[client, default: 0] += 1
            state.perThread[thread] += 1
            return connection
        }
    }

    /// Whether the threads must catch up before another connection is accepted: they have room for few more connections
    /// than may stay, and only a connection that they have taken can make room.
    var isBehind: Bool { state.withLock { $0.ended >= 8 || $0.unserved >= min(32, (limit + 1) / 2) } }

    /// The connection of a descriptor that the HTTP library has taken.
    func begin(_ descriptor: Int32) -> OpenConnection? {
        state.withLock { state in
            guard let entry = state.entries[descriptor] else { return nil }
            if !entry.isServed { state.unserved -= 1 }
            state.entries[descriptor]?.isServed = true
            return entry.connection
        }
    }

    /// Forgets a connection; its descriptor is closed only afterwards.
    func remove(_ connection: OpenConnection) {
        state.withLock { state in
            if state.entries[connection.descriptor]?.connection === connection { state.remove(connection.descriptor) }
        }
    }

    /// Ends the connections whose clients take too long.
    func endOverdue(now: UInt64) {
        state.withLock { state in
            for (descriptor, entry) in state.entries
            where !entry.isEnded && entry.connection.isOverdue(deadlines, now: now) {
                if entry.isServed { end(&state, descriptor) } else { state.remove(descriptor) }
            }
        }
    }

    /// Ends the connections whose request is incomplete.
    func endUnfinished() {
        state.withLock { state in
            for (descriptor, entry) in state.entries
            where entry.isServed && !entry.isEnded && [.head, .body].contains(entry.connection.phase) {
                end(&state, descriptor)
            }
        }
    }

    /// Ends the connection that has been idle for longest, to free a descriptor.
    func makeRoom() {
        state.withLock { _ = endIdlest(&$0, of: nil) }
    }

    private func endIdlest(_ state: inout State, of client: ClientAddress?) -> Bool {
        let idle = state.entries.values.filter { entry in
            entry.isServed && !entry.isEnded && entry.connection.idleSince != nil
                && (client == nil || entry.connection.client == client)
        }
        let longest = idle.min { ($0.connection.idleSince ?? .max) < ($1.connection.idleSince ?? .max) }
        guard let longest else { return false }
        end(&state, longest.connection.descriptor)
        return true
    }

    private func end(_ state: inout State, _ descriptor: Int32) {
        state.entries[descriptor]?.isEnded = true
        state.ended += 1
        end(descriptor)
    }
}
