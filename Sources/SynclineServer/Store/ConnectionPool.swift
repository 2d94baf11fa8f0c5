// Connections that wait to be used. Who finds none waits for one, for a while: threads of the server are as many as its owner
// wants, and connections may be fewer. A connection waits in a slot that is emptied and filled in one step, so that threads that need
// one at the same time do not wait for each other.

import Dispatch
import Synchronization

/// How a pool is used at a moment.
struct PoolUse: Hashable, Sendable {
    var name: String
    var limit: Int
    var lent: Int
    /// How many wait for a connection.
    var waiting: Int
}

final class ConnectionPool<Connection: AnyObject>: Sendable {
    /// Holds a connection that nobody uses, as the bits of a reference that it owns; zero if it is empty.
    private final class Slot: Sendable {
        let held = Atomic<UInt>(0)
    }

    private let slots: [Slot]
    private let free: DispatchSemaphore
    private let patience: Duration
    private let lent = Atomic(0)
    private let waiting = Atomic(0)
    private let make: @Sendable () throws(StoreFailure) -> Connection

    /// At most `limit` connections, made when they are needed. Nobody waits for one longer than `patience`.
    init(
        limit: Int, patience: Duration = .seconds(5), make: @escaping @Sendable () throws(StoreFailure) -> Connection
    ) {
        self.make = make
        self.patience = patience
        free = DispatchSemaphore(value: limit)
        slots = (0..<limit).map { _ in Slot() }
    }

    deinit { drain() }

    /// Lends a connection. One that `isGood` is not content with, before or afterwards, is given up.
    func withConnection<Result>(
        isGood: (Connection) -> Bool = { _ in true }, _ body: (Connection) throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        waiting.add(1, ordering: .relaxed)
        let isFree = free.wait(timeout: .now() + .milliseconds(Int(patience.milliseconds))) == .success
        waiting.subtract(1, ordering: .relaxed)
        guard isFree else {
            throw .busy(
                FailureReason(.busy, "all \(slots.count) connections to the database are in use"))
        }
        lent.add(1, ordering: .relaxed)
        defer {
            lent.subtract(1, ordering: .relaxed)
            free.signal()
        }
        var unused = take()
        // It may have been lost since it was used.
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
        // There are as many slots as connections at once, so one was empty.
        held.release()
    }

    func use(_ name: String) -> PoolUse {
        PoolUse(
            name: name, limit: slots.count, lent: lent.load(ordering: .relaxed),
            waiting: waiting.load(ordering: .relaxed))
    }

    /// Gives up the connections that nobody uses.
    func drain() {
        while take() != nil {}
    }
}
