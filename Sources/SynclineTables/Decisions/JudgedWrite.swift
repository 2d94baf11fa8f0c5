// Decides a write under the rules of a table: they are judged by the row before the write and by the row after it.

import SynclineCore
package import SynclineWire

extension PreparedWrite {
    /// Decides as the other form does, about a row of a table with rules. A hidden row is answered as none is; only its
    /// id can't be inserted.
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
            if judge.hidesRows, !UnguessableID.isOne(write.id) {
                return refused(Refusal(400, "invalid-id", "The ids of table \(write.table) are UUIDs"))
            }
            if existing != nil { return seen == nil ? refused(.rowExists) : decided(on: seen) }
        } else {
            guard let seen else {
                return write.kind == .delete && judge.hidesRows ? refused(.rowNotVisible) : decided(on: nil)
            }
            if seen.isDeleted, write.kind != .undelete { operations.append(.undelete) }
            if try !judge.permits(operations, on: seen) { return refused(.notPermitted) }
        }
        let result = decided(on: seen)
        guard case .done(let effect, let row) = result.outcome, effect != .deleted else { return result }
        return try judge.permits(operations, on: row) ? result : refused(.notPermitted)
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
