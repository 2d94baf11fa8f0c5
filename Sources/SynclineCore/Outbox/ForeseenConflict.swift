// Finds conflicts before anything is sent: the known state of the server's row already contradicts the state that an
// operation was made on.

/// A conflict that an operation will meet, as far as the store knows the server's row.
public enum ForeseenConflict: String, Hashable, Sendable {
    /// The server's row was changed since the operation was sent.
    case changed = "conflict"
    /// The server no longer has the row.
    case gone = "row-gone"
    /// The server has a row under the id of an insert.
    case exists = "row-exists"

    /// What is known, in a sentence.
    package var sentence: String {
        switch self {
        case .changed: "the server's row was changed since this was sent"
        case .gone: "the server has the row no longer"
        case .exists: "the server has a row with this id"
        }
    }
}

extension StateReader {
    /// The conflict that an operation will meet; nil if none is known or if the operation already awaits a decision.
    package func foreseenConflict(of operation: PlannedOperation) throws(SyncError) -> ForeseenConflict? {
        guard operation.state != .conflict, operation.state != .parked,
            let entry = try entry(key: operation.rowKey), let pending = entry.pending
        else { return nil }
        guard operation.isFrozen, let frozen = pending.frozen else {
            let isFirst = pending.frozen == nil
            return operation.kind == .insert && isFirst && entry.base != nil ? .exists : nil
        }
        guard frozen.kind != .insert, let ancestor = frozen.ancestor else { return nil }
        // If both sides delete the row, they agree.
        guard let base = entry.base else { return frozen.kind == .delete ? nil : .gone }
        return base.isSameState(as: ancestor) ? nil : .changed
    }
}
