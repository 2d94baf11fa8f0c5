// The server's names of a table's columns, if they differ. Rows, filters and orders are translated between the store
// and the wire, and nowhere else.

import SynclineGround

/// The columns of a table that have other names on the server.
package struct WireNames: Hashable, Sendable {
    /// Server names by store names.
    private let onServer: [ExactString: String]
    /// Store names by server names.
    private let inStore: [ExactString: String]
    /// Names that no column of the store may have, because on the server they belong to other columns.
    private let taken: Set<ExactString>

    /// Nil if all columns have the same name on both sides.
    init?(_ table: TableSchema) {
        let renamed = table.columns.filter { !$0.serverName.hasSameBytes(as: $0.name) }
        if renamed.isEmpty { return nil }
        onServer = Dictionary(renamed.map { (ExactString($0.name), $0.serverName) }) { first, _ in first }
        inStore = Dictionary(renamed.map { (ExactString($0.serverName), $0.name) }) { first, _ in first }
        taken = Set(inStore.keys).subtracting(onServer.keys).subtracting(table.localColumns.exact)
    }

    /// Returns the name on the server.
    func sent(_ name: String) -> String { onServer[name] ?? name }

    /// Returns the name in the store; nil for a column of the server that is hidden because the store uses its name
    /// for another one.
    func received(_ name: String) -> String? {
        inStore[name] ?? (onServer[name] == nil ? name : nil)
    }

    /// Returns the store's name of the column with this server name, if no column of the store may have that name.
    func owner(of name: String) -> String? { taken.contains(name) ? inStore[name] : nil }

    /// Returns a row with the server's names.
    func sent(_ row: Row) -> Row { row.renamingColumns { sent($0) } }

    /// Translates a row that is sent under old names to the new names; nil if these can't express it.
    static func moved(_ row: Row, from before: WireNames?, to after: WireNames?) -> Row? {
        var isExpressible = true
        let moved = row.renamingColumns { name in
            let wire = before?.sent(name) ?? name
            guard let after else { return wire }
            guard let name = after.received(wire) else {
                isExpressible = false
                return nil
            }
            return name
        }
        return isExpressible && moved.shape.names.count == row.shape.names.count ? moved : nil
    }
}

extension Row {
    /// Renames each column, or removes it if it has no new name. If two get the same name, the first is kept.
    func renamingColumns(_ name: (String) -> String?) -> Row {
        let names = shape.names.map(name)
        let known = names.compactMap(\.self)
        if known.count == names.count, zip(known, shape.names).allSatisfy({ $0.hasSameBytes(as: $1) }) { return self }
        if known.count == names.count, known.exact.count == known.count {
            return Row(shape: RowShape(known), bytes: bytes)
        }
        var builder = RowBuilder()
        var seen: Set<ExactString> = []
        for (name, member) in zip(names, members) {
            if let name, seen.insert(ExactString(name)).inserted { builder.set(name, member.value) }
        }
        return builder.row
    }
}
