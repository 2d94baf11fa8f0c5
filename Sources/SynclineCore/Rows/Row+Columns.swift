// Rearranges a row's columns: removes, separates or renames some, and finds those that differ from another row's.

package import SynclineGround

extension Row {
    /// Returns the row without some columns.
    package func without(_ names: Set<ExactString>) -> Row {
        shape.names.contains { names.contains($0) } ? filter { !names.contains($0.name) } : self
    }

    /// Returns the row with only some columns.
    func only(_ names: Set<ExactString>) -> Row {
        shape.names.allSatisfy { names.contains($0) } ? self : filter { names.contains($0.name) }
    }

    /// Returns the row with a column renamed; an existing column of the new name is kept instead.
    func renaming(_ from: String, to: String) -> Row {
        guard shape.place(of: from) != nil else { return self }
        if shape.place(of: to) != nil { return without([ExactString(from)]) }
        return Row(shape: RowShape(shape.names.map { $0.hasSameBytes(as: from) ? to : $0 }), bytes: bytes)
    }

    /// Replaces a value, if the column has one of those that change.
    func changing(_ name: String, _ values: [Value: Value]) -> Row {
        guard let old = self[name], let new = values[old] else { return self }
        return merged(with: Row([Value.Member(name, new)]))
    }

    /// This row as a replacement of another: columns that it lacks are null.
    func replacing(_ other: Row) -> Row {
        let lacking = other.members.filter { self[$0.name] == nil && !Item.systemColumns.contains($0.name) }
        return merged(with: Row(lacking.map { .init($0.name, .null) }))
    }

    /// The columns to send so that the server's row becomes this one: those whose values differ, and null for those
    /// that only the server's row has.
    package func difference(from server: Row, _ types: TableTypes) -> Row {
        replacing(server).filter { !types[$0.name].areSame($0.value, server[$0.name] ?? .null) }
    }

    /// The app's own columns.
    package var own: Row {
        let hasSystemColumns = shape.names.contains { Item.systemColumns.contains($0) }
        return hasSystemColumns ? filter { !Item.systemColumns.contains($0.name) } : self
    }

    /// The columns of an operation that the server, too, has changed since the ancestor, to different values.
    package func collidingColumns(with server: Row, since ancestor: Row?, _ types: TableTypes) -> [String] {
        members.filter { mine in
            let (theirs, type) = (server[mine.name] ?? .null, types[mine.name])
            return !type.areSame(theirs, ancestor?[mine.name] ?? .null) && !type.areSame(theirs, mine.value)
        }
        .map(\.name)
    }
}
