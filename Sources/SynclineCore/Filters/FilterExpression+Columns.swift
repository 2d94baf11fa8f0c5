// Renames the columns of a filter.

extension FilterExpression {
    /// Returns the same condition with other column names; members of nested objects keep theirs.
    func renamingColumns(_ name: (String) -> String) -> FilterExpression {
        switch self {
        case .column(let path):
            guard let first = path.first else { return self }
            return .column([name(first)] + path.dropFirst())
        case .literal: return self
        case .compare(let comparison, let left, let right):
            return .compare(comparison, left.renamingColumns(name), right.renamingColumns(name))
        case .arithmetic(let operation, let left, let right):
            return .arithmetic(operation, left.renamingColumns(name), right.renamingColumns(name))
        case .negate(let inner): return .negate(inner.renamingColumns(name))
        case .not(let inner): return .not(inner.renamingColumns(name))
        case .and(let left, let right): return .and(left.renamingColumns(name), right.renamingColumns(name))
        case .or(let left, let right): return .or(left.renamingColumns(name), right.renamingColumns(name))
        case .oneOf(let value, let others):
            return .oneOf(value.renamingColumns(name), others.map { $0.renamingColumns(name) })
        case .call(let function, let arguments): return .call(function, arguments.map { $0.renamingColumns(name) })
        }
    }
}
