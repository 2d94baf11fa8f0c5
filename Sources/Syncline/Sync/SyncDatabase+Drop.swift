// Keeps one failing operation from blocking all others: dropping it by hand, and recording that the server works
// while it fails.

import SynclineCore

extension SyncDatabase {
    /// Drops what is pending on a row: its operation, with those that follow it, leaves the outbox, and the row returns to
    /// the server's last known version. Cursors stay, and nothing is sent. A hold on the row ends.
    ///
    /// An operation in flight can't be dropped. One that may have reached the server is dropped only with `force`;
    /// the next pull shows whether the server applied it.
    /// - Returns: The number of dropped operations.
    @discardableResult
    @concurrent
    public func discard(table: String, id: String, force: Bool = false) async throws(SyncError) -> Int {
        try await discard(table: table, id: id, force: force, shown: nil)
    }

    /// Drops what was shown as an issue, if it is still so.
    func discard(table: String, id: String, force: Bool, shown issue: SyncIssue?) async throws(SyncError) -> Int {
        let count = try await perform { engine throws(SyncError) in
            if let issue { try engine.reader.check(issue) }
            let (entry, pending, key) = try self.waiting(
                table, id, in: engine, orElse: "`pending` lists the pending operations.",
                ifSent: "Drop it after the push has ended.")
            if let frozen = pending.frozen, frozen.status == .inFlight, frozen.maybeSent, !force {
                let address = "\(table)/\(id)"
                throw SyncError(
                    .pendingChanges, "the operation on \(address) may have reached the server",
                    hint: "Push to find out whether it was applied, or force the drop and pull afterwards.",
                    address: address)
            }
            try engine.record(.discarded(table: table, id: entry.spelling ?? id))
            try engine.set(hold: nil, on: key)
            return (pending.frozen == nil ? 0 : 1) + (pending.operation == nil ? 0 : 1)
        }
        await takeInAgain()
        return count
    }

    /// Requests the row of a failed operation. If the server answers, the operation is the cause of the failure.
    func askWhetherServerWorks() async throws(SyncError) {
        let isInDoubt = try read { reader throws(SyncError) in try reader.isServerInDoubt }
        guard isInDoubt, let operation = try await pending().first(where: { $0.isFrozen && $0.isToBeSent }) else {
            return
        }
        let channel = try await channel()
        let reply = try? await channel.send(.row(table: operation.table, id: operation.id))
        guard let status = reply?.status, status < 500, ![401, 408, 429].contains(status) else { return }
        try await noteThatServerWorks()
    }

    /// Called when the server has answered a request. If operations are failing, records that the server works, so
    /// that they are seen as the cause.
    func noteThatServerWorks() async throws(SyncError) {
        let isInDoubt = try read { reader throws(SyncError) in try reader.isServerInDoubt }
        guard isInDoubt else { return }
        try await perform(.buffered) { engine throws(SyncError) in _ = try engine.record(.serverWorked) }
    }
}
