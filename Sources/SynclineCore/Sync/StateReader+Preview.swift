// What a push would send for an operation if it began now. Reading it freezes nothing.

extension StateReader {
    /// An operation as it would be sent; nil if it awaits a decision, or another operation of its row. It has no
    /// operation id if none was created yet.
    package func preview(
        _ operation: PlannedOperation, for server: ServerProtocol
    ) throws(StateError) -> WriteRequest? {
        guard operation.state == .pending || operation.state == .inFlight,
            let entry = try entry(key: operation.rowKey), let pending = entry.pending
        else { return nil }
        let (table, id) = operation.address
        if let frozen = pending.frozen {
            return operation.isFrozen ? WriteRequest(frozen, table: table, id: id, server) : nil
        }
        let frozen = FrozenOperation(
            kind: operation.kind, status: .inFlight, maybeSent: false, position: operation.position,
            through: operation.through, operationID: "", columns: pending.overlay, ancestor: entry.base)
        return WriteRequest(frozen, table: table, id: id, server)
    }
}
