// A write with everything that can be computed before its transaction begins, because other writers wait during the
// transaction. It was prepared for the columns of a table, and a patch for a row; for others it is prepared again.

import SynclineCore
package import SynclineWire

package struct PreparedWrite: Sendable {
    package private(set) var write: TableWrite
    /// The columns that it sets, or the reason why it can't set them.
    package let item: Result<CheckedItem, Refusal>
    private let schema: ServedTable?
    private let row: TableRow?

    /// A write without preparation: its table has changed.
    package init(_ write: TableWrite) {
        (self.write, schema, row, item) = (write, nil, nil, .success(CheckedItem()))
    }

    /// - Parameter limit: The number of columns that it may add.
    package init(_ write: TableWrite, _ schema: ServedTable, on row: TableRow?, mayBegin limit: Int) {
        var write = write
        do throws(Refusal) {
            item = .success(try schema.check(try write.item(on: row), mayBegin: limit))
        } catch {
            item = .failure(error)
        }
        (self.write, self.schema, self.row) = (write, schema, row)
    }

    /// Decides about the existing row, as the caller sees it. The table gets at most `limit` new columns, and a row at most `rowLimit` bytes,
    /// unless it already has more.
    func decide(
        on existing: TableRow?, _ table: ServedTable, _ stamp: Stamp, mayBegin limit: Int, rowLimit: Int
    ) -> DecidedWrite {
        let ready = ready(for: table, on: existing, mayBegin: limit)
        let item: CheckedItem
        switch ready.item {
        case .success(let checked): item = checked
        case .failure(let refusal):
            // Checks that precede it are reported first.
            if write.isPatch {
                let outcome = write.decide(on: existing, CheckedItem(), table, stamp)
                if outcome.isRefused { return (outcome, table, CheckedItem()) }
            }
            return (.refused(refusal, nil), table, CheckedItem())
        }
        if item.newColumns.count > limit { return (.refused(ServedTable.tooManyColumns, nil), table, item) }
        let grown = item.newColumns.isEmpty ? table : table.adding(item.newColumns)
        let outcome = ready.write.decide(on: existing, item, grown, stamp)
        let refusal = outcome.refusalOfSize(existing, limit: rowLimit)
        return (refusal.map { .refused($0, nil) } ?? outcome, grown, item)
    }

    /// The same write, prepared for the current columns and row.
    private func ready(for schema: ServedTable, on row: TableRow?, mayBegin limit: Int) -> PreparedWrite {
        let isReady = self.schema === schema && (!write.isPatch || self.row == row)
        return isReady ? self : PreparedWrite(write, schema, on: row, mayBegin: limit)
    }
}

/// What a write does, and the table with the columns that it needs for this.
package typealias DecidedWrite = (outcome: WriteOutcome, table: ServedTable, item: CheckedItem)

extension WriteOutcome {
    fileprivate func refusalOfSize(_ existing: TableRow?, limit: Int) -> Refusal? {
        switch self {
        case .done(.inserted, let row), .done(.changed, let row):
            let isFine = row.size <= max(limit, existing?.size ?? 0)
            return isFine ? nil : Refusal(413, "too-large", "The row would be larger than \(limit) bytes")
        case .done, .refused, .failed: return nil
        }
    }
}

extension TableWrite {
    package var isPatch: Bool {
        if case .patch = kind { return true }
        return false
    }

    /// The columns that it sets. For a patch they are known only when it is applied to the row, and so is whether it
    /// restores the row.
    fileprivate mutating func item(on row: TableRow?) throws(Refusal) -> Row {
        switch kind {
        case .insert(let item), .update(let item), .replace(let item): return try hidden.settable(item)
        case .delete, .undelete: return .empty
        case .patch(let patch):
            guard let row else { return .empty }
            let patched = try PatchedRow(patch, hidden.shown(row))
            if revives != nil { revives = !patched.isDeleted }
            return try hidden.settable(patched.columns)
        }
    }
}
