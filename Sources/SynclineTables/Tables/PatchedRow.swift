// The result of a JSON patch on a row, as columns to set.

import SynclineCore
import SynclineGround
import SynclineWire

struct PatchedRow {
    /// The columns that have changed; removed ones are set to null.
    let columns: Row
    let isDeleted: Bool

    /// Applies a patch to the row as the newer protocol shows it.
    init(_ patch: JSONPatch, _ row: TableRow) throws(Refusal) {
        guard let shown = try? Value(json: row.json(.datasync3)),
            case .object(let before) = shown
        else { throw Refusal(400, "invalid-patch", "The item can't be patched") }
        let result: Value
        do throws(JSONPatchError) {
            result = try patch.applied(to: shown)
        } catch {
            throw Refusal(400, "patch-failed", "The patch does not fit the item. \(error.message)")
        }
        guard case .object(let after) = result else {
            throw Refusal(400, "invalid-patch", "The result of a patch must be an item")
        }
        let old = Dictionary(before.map { (ExactString($0.name), $0.value) }) { $1 }
        let left = after.map(\.name).exact
        let changed =
            after.filter { old[$0.name] != $0.value }
            + before.filter { !left.contains($0.name) }.map { Value.Member($0.name, .null) }
        var columns: [Value.Member] = []
        var isDeleted = row.isDeleted
        for member in changed {
            switch (SystemColumn(anyCase: member.name), member.value) {
            case (nil, _): columns.append(member)
            case (.deleted?, .bool(false)): isDeleted = false
            default:
                throw Refusal(400, "reserved-column", "A patch can't set '\(member.name)', which only the server sets")
            }
        }
        (self.columns, self.isDeleted) = (Row(columns), isDeleted)
    }
}
