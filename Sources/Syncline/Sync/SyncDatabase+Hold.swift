// Keeping operations on a row from being pushed, and letting them go again.

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
            try engine.projector.check(table: table)
            let address = "\(table)/\(id)"
            let found = try mapErrors { () throws(StateError) in try engine.reader.entry(table, id) }
            guard let entry = found, entry.pending != nil else {
                throw SyncError(
                    .operationNotFound, "nothing is pending on \(address)", hint: "`pending` lists what can be held.",
                    address: address)
            }
            let key = engine.projector.state.rowKey(table, id)
            if self.onTheirWay.withLock({ $0.contains(key) }) {
                throw SyncError(
                    .pendingChanges, "the operation on \(address) is being sent",
                    hint: "Hold it when the push is over, if it is still pending.", address: address)
            }
            try engine.hold(key, id: entry.spelling ?? id)
        }
    }

    /// Ends a hold, so that the next push sends the pending operations of the row.
    @concurrent
    public func release(table: String, id: String) async throws(SyncError) {
        try await perform { engine throws(SyncError) in
            let key = engine.projector.state.rowKey(table, id)
            guard try engine.release(key) else {
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
        try mapErrors { () throws(StateError) in
            try reader.heldRows().map { HeldRow(table: $0.table, id: $0.id) }
        }
    }
}

extension StoreEngine {
    /// Holds a row; has no effect on a row that is held already.
    fileprivate func hold(_ key: [UInt8], id: String) throws(SyncError) {
        let (isHeld, name) = try mapErrors { () throws(StateError) in
            (try reader.isHeld(key), Hold.setting(try RowKey(malformed: key)))
        }
        if !isHeld { try record(.configured(name: name, value: .string(id))) }
    }

    /// Releases a row; returns whether it was held.
    @discardableResult
    func release(_ key: [UInt8]) throws(SyncError) -> Bool {
        let (isHeld, name) = try mapErrors { () throws(StateError) in
            (try reader.isHeld(key), Hold.setting(try RowKey(malformed: key)))
        }
        if isHeld { try record(.configured(name: name, value: nil)) }
        return isHeld
    }
}
