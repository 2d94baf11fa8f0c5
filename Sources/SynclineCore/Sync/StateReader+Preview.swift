// The request that a push would send for an operation if it began now. Reading it freezes nothing.

extension StateReader {
    /// An operation as it would be sent; nil if it, or another operation of its row before it, awaits a decision. It has
    /// no operation id if none was created yet, and no version if that comes with the answer to the operation before it.
    package func preview(
        _ operation: PlannedOperation, for server: ServerProtocol
    ) throws(SyncError) -> WriteRequest? {
        guard operation.state == .pending || operation.state == .inFlight,
            let entry = try entry(key: operation.rowKey), let pending = entry.pending
        else { return nil }
        let (table, id) = operation.address
        let types = try types(of: table)
        var ancestor = entry.base
        if let frozen = pending.frozen {
            if operation.isFrozen { return WriteRequest(frozen, table: table, id: id, server, types) }
            guard frozen.status == .inFlight else { return nil }
            ancestor = frozen.kind == .delete ? nil : (frozen.ancestor ?? .empty).merged(with: frozen.columns).own
        }
        let frozen = FrozenOperation(
            kind: operation.kind, status: .inFlight, maybeSent: false, position: operation.position,
            through: operation.through, operationID: "",
            columns: try PushPlan.columns(of: operation, pending, self), ancestor: ancestor)
        return WriteRequest(frozen, table: table, id: id, server, types)
    }
}
