// A write with everything that can be computed before its transaction begins, because other writers wait during the
// transaction. It was prepared for the columns of a table, and a patch for a row; for others it is prepared again.

import SynclineCore
import SynclineWire

struct PreparedWrite: Sendable {
    private(set) var write: TableWrite
    /// The columns that it sets, or the reason why it can't set them.
    let item: Result<CheckedItem, Refusal>
    private let schema: TableSchema?
    private let row: TableRow?

    /// A write without preparation: its table has changed.
    init(_ write: TableWrite) {
        (self.write, schema, row, item) = (write, nil, nil, .success(CheckedItem()))
    }

    /// - Parameter limit: The number of columns that it may add.
    init(_ write: TableWrite, _ schema: TableSchema, on row: TableRow?, mayBegin limit: Int) {
        var write = write
        do throws(Refusal) {
            item = .success(try schema.check(try write.item(on: row), mayBegin: limit))
        } catch {
            item = .failure(error)
        }
        (self.write, self.schema, self.row) = (write, schema, row)
    }

    /// The same write, prepared for the current columns and row.
    func ready(for schema: TableSchema, on row: TableRow?, mayBegin limit: Int) -> PreparedWrite {
        let isReady = self.schema === schema && (!write.isPatch || self.row == row)
        return isReady ? self : PreparedWrite(write, schema, on: row, mayBegin: limit)
    }
}

extension TableWrite {
    var isPatch: Bool {
        if case .patch = kind { return true }
        return false
    }

    /// The columns that it sets. For a patch they are known only when it is applied to the row, and so is whether it
    /// restores the row.
    fileprivate mutating func item(on row: TableRow?) throws(Refusal) -> Row {
        switch kind {
        case .insert(let item), .update(let item), .replace(let item): return item
        case .delete, .undelete: return .empty
        case .patch(let patch):
            guard let row else { return .empty }
            let patched = try PatchedRow(patch, row)
            if revives != nil { revives = !patched.isDeleted }
            return patched.columns
        }
    }
}
