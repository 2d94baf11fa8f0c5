// The names that a table's columns have on the server, where those are others. A store and its app know one name, the
// server knows the other; rows, filters and orders are translated between the store and the wire, and nowhere else.

/// The columns of a table whose names on the server are others.
package struct WireNames: Hashable, Sendable {
    /// By the names in the store.
    private let onServer: [String: String]
    /// By the names on the server.
    private let inStore: [String: String]
    /// Names that no column of the store may have: on the server they are those of other columns.
    private let taken: Set<String>

    /// Nil for a table whose columns have one name each.
    init?(_ table: TableSchema) {
        let renamed = table.columns.filter { $0.serverName != $0.name }
        if renamed.isEmpty { return nil }
        onServer = Dictionary(renamed.map { ($0.name, $0.serverName) }) { first, _ in first }
        inStore = Dictionary(renamed.map { ($0.serverName, $0.name) }) { first, _ in first }
        taken = Set(inStore.keys).subtracting(onServer.keys).subtracting(table.localColumns)
    }

    /// The name on the server.
    func sent(_ name: String) -> String { onServer[name] ?? name }

    /// The name in the store; nil for a column of the server that is hidden, because the store calls another one so.
    func received(_ name: String) -> String? {
        inStore[name] ?? (onServer[name] == nil ? name : nil)
    }

    /// What the store calls the column that has this name on the server, if no column of the store may be called so.
    func owner(of name: String) -> String? { taken.contains(name) ? inStore[name] : nil }

    /// A row under the server's names.
    func sent(_ row: Row) -> Row { row.renamingColumns { sent($0) } }

    /// A row as it is sent under some names, under the names that hold from now on. Nil if these have no words for it.
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
    /// With each column under another name, or without it where it has none. Of two with one name the first stays.
    func renamingColumns(_ name: (String) -> String?) -> Row {
        let names = shape.names.map(name)
        let known = names.compactMap(\.self)
        if known == shape.names { return self }
        if known.count == names.count, Set(known).count == known.count { return Row(shape: Shape(known), bytes: bytes) }
        var builder = RowBuilder()
        var seen: Set<String> = []
        for (name, member) in zip(names, members) {
            if let name, seen.insert(name).inserted { builder.set(name, member.value) }
        }
        return builder.row
    }
}
