// The columns of a table that a caller may not see. They are absent from every answer, can't be asked for, and keep their
// values when the caller replaces a row.

import SynclineCore
package import SynclineGround
package import SynclineWire

package struct HiddenColumns: Hashable, Sendable {
    let names: Set<ExactString>

    package init(names: Set<ExactString> = []) { self.names = names }

    var columns: [String] { names.sorted().map(\.text) }

    package func shown(_ row: TableRow) -> TableRow {
        if names.isEmpty { return row }
        var row = row
        row.columns = row.columns.without(names)
        return row
    }

    /// Refuses a request that names a hidden column: an order or a filter by it would tell its values.
    func check(_ asked: Set<ExactString>) throws(StoreFailure) {
        if let name = asked.sorted().first(where: { hides($0.text) }) { throw .refused(refusal(name.text)) }
    }

    /// The item without hidden columns. A client that does not know them may send null.
    func settable(_ item: Row) throws(Refusal) -> Row {
        if names.isEmpty { return item }
        var left: Set<ExactString> = []
        for member in item.members where hides(member.name) {
            if member.value != .null { throw refusal(member.name) }
            left.insert(ExactString(member.name))
        }
        return item.without(left)
    }

    private func hides(_ name: String) -> Bool {
        names.contains { $0.text.lowercased().hasSameBytes(as: name.lowercased()) }
    }

    private func refusal(_ name: String) -> Refusal {
        Refusal(403, "column-not-permitted", "You are not permitted to see or set column \(name.prefix(80))")
    }
}
