// What keeps one operation from holding up all others: dropping it by hand, and knowing that the server works while it fails.

import Synchronization
import SynclineCore

extension SyncDatabase {
    /// Drops what is pending on a row: its operation, with those that follow it, leaves the outbox, and the row is what the
    /// server last told. Cursors stay, and nothing is sent.
    ///
    /// An operation that is on the wire can't be dropped. One that may have reached the server is dropped with `force` only:
    /// whether the server has done it shows with the next pull.
    /// - Returns: How many operations were dropped.
    @discardableResult
    public func discard(table: String, id: String, force: Bool = false) async throws(SyncError) -> Int {
        try await perform { engine throws(SyncError) in
            try engine.projector.check(table: table)
            let found = try inAppWords { () throws(StateError) in try engine.reader.entry(table, id) }
            let address = "\(table)/\(id)"
            guard let entry = found, let pending = entry.pending else {
                throw SyncError(
                    .operationNotFound, "nothing is pending on \(address)", hint: "`pending` lists what is.",
                    address: address)
            }
            let key = engine.projector.rowKey(table, id)
            if self.onTheirWay.withLock({ $0.contains(key) }) {
                throw SyncError(
                    .pendingChanges, "the operation on \(address) is being sent",
                    hint: "Drop it when the push is over.", address: address)
            }
            if let frozen = pending.frozen, frozen.status == .inFlight, frozen.maybeSent, !force {
                throw SyncError(
                    .pendingChanges, "the operation on \(address) may have reached the server",
                    hint: "Push to learn its fate, or force the drop and pull afterwards.", address: address)
            }
            try engine.record(.discarded(table: table, id: entry.spelling ?? id))
            engine.touch(table)
            return (pending.frozen == nil ? 0 : 1) + (pending.operation == nil ? 0 : 1)
        }
    }

    /// After an operation has failed: asks for its row. A server that answers works, and the operation is the cause.
    func askWhetherServerWorks() async throws(SyncError) {
        let isInDoubt = try inAppWords { () throws(StateError) in try reader.isServerInDoubt }
        guard isInDoubt, let operation = try await pending().first(where: { $0.isFrozen && $0.isToBeSent }) else {
            return
        }
        let (channel, _) = try await channel()
        let reply = try? await channel.send(.row(table: operation.table, id: operation.id))
        guard let status = reply?.status, status < 500, ![401, 408, 429].contains(status) else { return }
        try await noteThatServerWorks()
    }

    /// The server answered a request. If operations are failing, that is written down: they are the cause, not the server.
    func noteThatServerWorks() async throws(SyncError) {
        let isInDoubt = try inAppWords { () throws(StateError) in try reader.isServerInDoubt }
        guard isInDoubt else { return }
        try await perform(.buffered) { engine throws(SyncError) in _ = try engine.record(.serverWorked) }
    }
}
