// Renames the columns of a filter.

extension FilterExpression {
    /// Returns the same condition with other column names; members of nested objects keep theirs.
    func renamingColumns(_ name: (String) -> String) -> FilterExpression {
        if case .column(let path) = self, let first = path.first { return .column([name(first)] + path.dropFirst()) }
        if case .related(let column, let selection) = self { return .related(name(column), selection) }
        return mapParts { $0.renamingColumns(name) }
    }
}
