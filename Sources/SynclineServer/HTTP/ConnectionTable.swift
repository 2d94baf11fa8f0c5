// The connections that are open, and who may open another. Where there is no room, the one that has been idle for longest
// makes some: an honest client comes again, and one that only holds connections loses them.

import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

final class ConnectionTable: Sendable {
    private struct Entry: Sendable {
        let connection: OpenConnection
        /// Whether it was ended from here; its thread has yet to notice.
        var isEnded = false
        /// Whether the HTTP library has taken it. One that it gave up before is closed without a word.
        var isServed = false
    }

    private struct State: Sendable {
        var entries: [Int32: Entry] = [:]
        var perClient: [ClientAddress: Int] = [:]
        var perThread: [Int]
        var ended = 0
        /// How many the HTTP library has yet to take.
        var unserved = 0

        /// How many connections there will be when those that were ended are gone.
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
    /// Proxies, which bring the requests of many.
    private let isExempt: @Sendable (ClientAddress) -> Bool
    /// Ends a connection from outside; whoever serves it notices and closes it.
    private let end: @Sendable (Int32) -> Void

    init(
        _ limits: ServerConfiguration.Limits, threads: Int, processors: Int = ConnectionTable.processors,
        isExempt: @escaping @Sendable (ClientAddress) -> Bool, end: @escaping @Sendable (Int32) -> Void
    ) {
        state = Mutex(State(perThread: Array(repeating: 0, count: threads)))
        limit = limits.connections
        self.processors = processors
        limitPerClient = limits.connectionsPerAddress
        deadlines = limits.deadlines
        self.isExempt = isExempt
        self.end = end
    }

    /// How many processors this machine has.
    static let processors = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// The thread that gets the next connection: the one that has the fewest. A thread that wakes serves all of its connections
    /// that have something to say, so the same work costs less on as many threads as there are processors than on more.
    /// - Parameter few: How many connections each of those has before more threads get any. Never more than a thread's share of
    ///   all connections: the library's thread stops for good when it is given more than it was told to expect.
    static func thread(among counts: [Int], processors: Int, few: Int) -> Int {
        let first = counts.prefix(max(1, processors))
        let open = first.allSatisfy { $0 >= few } ? counts[...] : first
        return open.indices.min { open[$0] < open[$1] } ?? 0
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// Takes in a new connection, and says which thread is to serve it; nil if there is no room.
    func admit(_ descriptor: Int32, _ client: ClientAddress, now: UInt64) -> OpenConnection? {
        state.withLock { state in
            // The number of one that the library gave up without a word.
            state.remove(descriptor)
            if !isExempt(client), state.perClient[client, default: 0] >= limitPerClient {
                guard endIdlest(&state, of: client) else { return nil }
            }
            if state.staying >= limit, !endIdlest(&state, of: nil) { return nil }
            let thread = ConnectionTable.thread(
                among: state.perThread, processors: processors, few: min(48, limit / state.perThread.count))
            let connection = OpenConnection(descriptor, client, thread: thread, now: now)
            state.entries[descriptor] = Entry(connection: connection)
            state.unserved += 1
            state.perClient[client, default: 0] += 1
            state.perThread[thread] += 1
            return connection
        }
    }

    /// Whether the threads have to catch up before there is another connection: they have room for few more than may stay,
    /// and only one that they have taken can make room.
    var isBehind: Bool { state.withLock { $0.ended >= 8 || $0.unserved >= min(32, (limit + 1) / 2) } }

    /// The connection of a descriptor, which the HTTP library has taken.
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

    /// Ends the connections whose request has not come whole.
    func endUnfinished() {
        state.withLock { state in
            for (descriptor, entry) in state.entries
            where entry.isServed && !entry.isEnded && [.head, .body].contains(entry.connection.phase) {
                end(&state, descriptor)
            }
        }
    }

    /// Ends the connection that has been idle for longest, so that there is a descriptor for another.
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
