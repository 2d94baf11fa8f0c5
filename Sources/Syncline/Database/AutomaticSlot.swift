// The one automatic sync that a store may have. A store stops it before it closes, and needs to know no more about it.

import SynclineCore

/// A sync in the background.
protocol BackgroundSync: AnyObject, Sendable {
    /// Stops it, and returns when its last request has ended.
    func stop() async
    /// Starts a round now.
    func syncNow()
}

/// Holds the one automatic sync that a store may have.
enum AutomaticSlot: Sendable {
    case free
    case taken(any BackgroundSync)
    /// The store was closed.
    case closed

    /// Prevents further automatic syncs; returns the running one, which must be stopped.
    mutating func close() -> (any BackgroundSync)? {
        defer { self = .closed }
        if case .taken(let sync) = self { return sync }
        return nil
    }

    mutating func leave(_ sync: any BackgroundSync) {
        if case .taken(let current) = self, current === sync { self = .free }
    }

    func checkOpen() throws(SyncError) {
        if case .closed = self { throw SyncError(.closed, "the store was closed") }
    }
}
