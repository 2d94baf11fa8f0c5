// A row with its columns sorted out: some taken away, put apart, or under another name.

extension Row {
    /// Without some columns.
    func without(_ names: Set<String>) -> Row {
        shape.names.contains { names.contains($0) } ? filter { !names.contains($0.name) } : self
    }

    /// With some columns only.
    func only(_ names: Set<String>) -> Row {
        shape.names.allSatisfy { names.contains($0) } ? self : filter { names.contains($0.name) }
    }

    /// With a column under another name; one of that name stays instead.
    func renaming(_ from: String, to: String) -> Row {
        guard shape.place(of: from) != nil else { return self }
        if shape.place(of: to) != nil { return without([from]) }
        return Row(shape: Shape(shape.names.map { $0 == from ? to : $0 }), bytes: bytes)
    }
}
