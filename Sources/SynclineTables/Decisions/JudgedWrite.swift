// Decides a write of a caller, who may not see or change every row: the row before the write is judged, and the row after
// it.

package import SynclineWire

extension PreparedWrite {
    /// Decides as the other form does. A hidden row is answered as none is; only its id can't be inserted.
    package func decide(
        on existing: TableRow?, _ table: ServedTable, _ stamp: Stamp, mayBegin limit: Int, rowLimit: Int,
        _ judge: RightsJudge<some RightsSource>
    ) throws(StoreFailure) -> DecidedWrite {
        func decided(on row: TableRow?) -> DecidedWrite {
            decide(on: row, table, stamp, mayBegin: limit, rowLimit: rowLimit)
        }
        func refused(_ refusal: Refusal) -> DecidedWrite { (.refused(refusal, nil), table, CheckedItem()) }
        let seen = try existing.flatMap { row throws(StoreFailure) in try judge.sight(of: row) }
        var operations = [write.kind.operation]
        if case .insert = write.kind {
            if let refusal = judge.refusal(ofNewID: write.id) { return refused(refusal) }
            if existing != nil { return seen == nil ? refused(judge.refusalOfHiddenID) : decided(on: seen) }
        } else {
            guard let seen else {
                return write.kind == .delete && judge.mayHaveLost ? refused(.rowNotVisible) : decided(on: nil)
            }
            if seen.isDeleted, write.kind != .undelete { operations.append(.undelete) }
            if let refusal = try judge.refusal(of: operations, on: seen) { return refused(refusal) }
        }
        let result = decided(on: seen)
        guard case .done(let effect, let row) = result.outcome, effect != .deleted else { return result }
        return try judge.refusal(of: operations, on: row).map(refused) ?? result
    }
}

extension TableWrite.Kind {
    fileprivate var operation: RuleOperation {
        switch self {
        case .insert: .insert
        case .update, .replace, .patch: .update
        case .delete: .delete
        case .undelete: .undelete
        }
    }
}
