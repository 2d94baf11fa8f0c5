// A pool of connections. Callers block until one is free, with a time limit; there may be more server threads than
// connections. A connection waits in a slot that is emptied and filled in one step, so that threads that need one at
// the same time do not wait for each other.

import SynclineGround
import SynclineTables

/// The use of a pool at a moment.
struct PoolUse: Hashable, Sendable {
    var name: String
    var limit: Int
    var lent: Int
    /// The number of callers that wait for a connection.
    var waiting: Int
}

final class ConnectionPool<Connection: AnyObject>: Sendable {
    /// Holds an unused connection, as the bits of an owned reference; zero if it is empty.
    private final class Slot: Sendable {
        let held = Atomic<UInt>(0)
    }

    private let slots: [Slot]
    private let free: TimedSemaphore
    private let timeout: Duration
    private let lent = Atomic(0)
    private let waiting = Atomic(0)
    /// The largest number of connections that were lent at a time since the last rest.
    private let mostLent = Atomic(0)
    private let make: @Sendable () throws(StoreFailure) -> Connection

    /// Has at most `limit` connections, created on demand. A caller waits no longer than `timeout`.
    init(
        limit: Int, timeout: Duration = .seconds(5), make: @escaping @Sendable () throws(StoreFailure) -> Connection
    ) {
        self.make = make
        self.timeout = timeout
        free = TimedSemaphore(value: limit)
        slots = (0..<limit).map { _ in Slot() }
    }

    deinit { drain() }

    /// Lends a connection. A connection for which `isGood` is false, before or afterwards, is closed.
    /// - Parameter time: How long to wait, if not as long as usual.
    func withConnection<Result>(
        waiting time: Duration? = nil, isGood: (Connection) -> Bool = { _ in true },
        _ body: (Connection) throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        waiting.add(1, ordering: .relaxed)
        let isFree = free.wait(atMost: time ?? timeout)
        waiting.subtract(1, ordering: .relaxed)
        guard isFree else {
            throw .busy(FailureReason(.busy, "all \(slots.count) connections to the database are in use"))
        }
        let count = lent.add(1, ordering: .relaxed).newValue
        if count > mostLent.load(ordering: .relaxed) { mostLent.store(count, ordering: .releasing) }
        defer {
            lent.subtract(1, ordering: .relaxed)
            free.signal()
        }
        var unused = take()
        // It may have been lost since its last use.
        while let found = unused, !isGood(found) { unused = take() }
        let connection = if let unused { unused } else { try make() }
        defer { if isGood(connection) { put(connection) } }
        return try body(connection)
    }

    private func take() -> Connection? {
        for slot in slots where slot.held.load(ordering: .relaxed) != 0 {
            let bits = slot.held.exchange(0, ordering: .acquiringAndReleasing)
            if let pointer = UnsafeRawPointer(bitPattern: bits) {
                return Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue()
            }
        }
        return nil
    }

    private func put(_ connection: Connection) {
        let held = Unmanaged.passRetained(connection)
        let bits = UInt(bitPattern: held.toOpaque())
        for slot in slots
        where slot.held.compareExchange(expected: 0, desired: bits, ordering: .acquiringAndReleasing).exchanged {
            return
        }
        // There are as many slots as connections, so one was empty.
        held.release()
    }

    func use(_ name: String) -> PoolUse {
        PoolUse(
            name: name, limit: slots.count, lent: lent.load(ordering: .relaxed),
            waiting: waiting.load(ordering: .relaxed))
    }

    /// Closes the unused connections.
    func drain() {
        while take() != nil {}
    }

    /// Closes the connections that were not needed since the last call.
    func rest() {
        let lent = lent.load(ordering: .relaxed)
        let needed = mostLent.exchange(lent, ordering: .relaxed)
        var unused: [Connection] = []
        while let connection = take() { unused.append(connection) }
        for connection in unused.prefix(max(0, needed - lent)) { put(connection) }
    }
}
