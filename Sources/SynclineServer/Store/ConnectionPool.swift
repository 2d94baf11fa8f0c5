// Connections that wait to be used. Who finds none waits for one: threads of the server are as many as its owner wants, and
// connections may be fewer.

import Dispatch
import Synchronization

final class ConnectionPool<Connection: AnyObject>: Sendable {
    // A connection is used by whoever took it out, and by nobody else until it is back.
    private struct Idle: @unchecked Sendable {
        var connections: [Connection] = []
    }

    private let idle: Mutex<Idle>
    private let free: DispatchSemaphore
    private let make: @Sendable () throws(StoreFailure) -> Connection

    /// At most `limit` connections, made when they are needed.
    init(limit: Int, make: @escaping @Sendable () throws(StoreFailure) -> Connection) {
        self.make = make
        free = DispatchSemaphore(value: limit)
        idle = Mutex(Idle())
    }

    /// Lends a connection. One that `isGood` is not content with afterwards is given up.
    func withConnection<Result>(
        isGood: (Connection) -> Bool = { _ in true }, _ body: (Connection) throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        free.wait()
        defer { free.signal() }
        let connection = try take()
        defer { if isGood(connection) { put(connection) } }
        return try body(connection)
    }

    private func take() throws(StoreFailure) -> Connection {
        let waiting = idle.withLock { idle in Idle(connections: idle.connections.popLast().map { [$0] } ?? []) }
        if let connection = waiting.connections.first { return connection }
        return try make()
    }

    private func put(_ connection: Connection) {
        let returned = Idle(connections: [connection])
        idle.withLock { $0.connections += returned.connections }
    }

    /// Gives up the connections that nobody uses.
    func drain() {
        idle.withLock { $0.connections = [] }
    }
}
