// Holds back a row's operations, and releases them.

public import SynclineCore
import SynclineGround

/// A row whose operations are not pushed until it is released.
public struct HeldRow: Hashable, Sendable {
    /// The row's table.
    public var table: String
    /// The row's id.
    public var id: String
}

extension SyncDatabase {
    /// Keeps the pending operations of a row, and those that follow, from being pushed until the row is released. Other rows
    /// are pushed meanwhile. A hold survives a restart. ``release(table:id:)`` and ``discard(table:id:force:)`` end it.
    ///
    /// An operation that is being sent can't be held.
    @concurrent
    public func hold(table: String, id: String) async throws(SyncError) {
        try await perform { engine throws(SyncError) in
            let (entry, _, key) = try self.waiting(
                table, id, in: engine, orElse: "`pending` lists what can be held.",
                ifSent: "Hold it when the push is over, if it is still pending.")
            try engine.set(hold: entry.spelling ?? id, on: key)
        }
    }

    /// Ends a hold, so that the next push sends the pending operations of the row.
    @concurrent
    public func release(table: String, id: String) async throws(SyncError) {
        try await perform { engine throws(SyncError) in
            let key = engine.projector.state.rowKey(table, id)
            guard try engine.set(hold: nil, on: key) else {
                throw SyncError(
                    .operationNotFound, "\(table)/\(id) is not held", hint: "`heldRows()` lists the held rows.",
                    address: "\(table)/\(id)")
            }
        }
        // Automatic sync sends the released operations.
        writer.observers.notifyOfDecision()
    }

    /// The rows that are held.
    @concurrent
    public func heldRows() async throws(SyncError) -> [HeldRow] {
        try read { reader throws(SyncError) in
            try reader.heldRows().map { HeldRow(table: $0.table, id: $0.id) }
        }
    }

    /// Returns the entry and the key of a row whose operations wait. Throws, with these hints, if nothing is pending on
    /// the row, or if an operation is being sent.
    func waiting(
        _ table: String, _ id: String, in engine: StoreEngine, orElse hint: String, ifSent hintIfSent: String
    ) throws(SyncError) -> (entry: RowEntry, pending: PendingRow, key: [UInt8]) {
        try engine.projector.check(table: table)
        let address = "\(table)/\(id)"
        let found = try engine.reader.entry(table, id)
        guard let entry = found, let pending = entry.pending else {
            throw SyncError(.operationNotFound, "nothing is pending on \(address)", hint: hint, address: address)
        }
        let key = engine.projector.state.rowKey(table, id)
        if onTheirWay.withLock({ $0.contains(key) }) {
            throw SyncError(
                .pendingChanges, "the operation on \(address) is being sent", hint: hintIfSent, address: address)
        }
        return (entry, pending, key)
    }
}

extension StoreEngine {
    /// Holds a row under an id, or releases it if that is nil; returns whether the row was held.
    @discardableResult
    func set(hold id: String?, on key: [UInt8]) throws(SyncError) -> Bool {
        try reader.checkNotBranch()
        let (isHeld, name) = (try reader.isHeld(key), Hold.setting(try RowKey(malformed: key)))
        if isHeld != (id != nil) { try record(.configured(name: name, value: id.map { .string($0) })) }
        return isHeld
    }
}
