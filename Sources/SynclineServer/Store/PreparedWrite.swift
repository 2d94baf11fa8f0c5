// A write with all that can be known of it before its transaction begins: other writers wait for what is done inside. It was
// made ready for the columns of a table, and a patch for a row; on others it is made ready again.

import SynclineCore
import SynclineWire

struct PreparedWrite: Sendable {
    private(set) var write: TableWrite
    /// The columns that it sets, or why it can't set them.
    let item: Result<CheckedItem, Refusal>
    private let schema: TableSchema?
    private let row: TableRow?

    /// One that nothing is known of: its table is not as it was.
    init(_ write: TableWrite) {
        (self.write, schema, row, item) = (write, nil, nil, .success(CheckedItem()))
    }

    /// - Parameter limit: How many columns it may begin.
    init(_ write: TableWrite, _ schema: TableSchema, on row: TableRow?, mayBegin limit: Int) {
        var write = write
        do throws(Refusal) {
            item = .success(try schema.check(try write.item(on: row), mayBegin: limit))
        } catch {
            item = .failure(error)
        }
        (self.write, self.schema, self.row) = (write, schema, row)
    }

    /// The same, ready for the columns and the row that are there.
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

    /// The columns that it sets. A patch tells only when it is applied to the row, and then also whether it brings it back.
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
