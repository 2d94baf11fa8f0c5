// Rearranges a row's columns: removes, separates or renames some.

extension Row {
    /// Returns the row without some columns.
    func without(_ names: Set<String>) -> Row {
        shape.names.contains { names.contains($0) } ? filter { !names.contains($0.name) } : self
    }

    /// Returns the row with only some columns.
    func only(_ names: Set<String>) -> Row {
        shape.names.allSatisfy { names.contains($0) } ? self : filter { names.contains($0.name) }
    }

    /// Returns the row with a column renamed; an existing column of the new name is kept instead.
    func renaming(_ from: String, to: String) -> Row {
        guard shape.place(of: from) != nil else { return self }
        if shape.place(of: to) != nil { return without([from]) }
        return Row(shape: RowShape(shape.names.map { $0 == from ? to : $0 }), bytes: bytes)
    }
}
