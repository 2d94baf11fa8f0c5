// Decides what a declaration of types changes: a column has one type, and a second one is refused.

extension TypeDeclaration {
    /// Returns its new part; nil if there is none. Throws if a column can't be declared, or has another type.
    package func news(over known: TableTypes) throws(SyncError) -> TypeDeclaration? {
        var types = known
        var new: [TypedColumn] = []
        for column in columns {
            try check(column.name)
            let type = types[column.name]
            if type == column.type { continue }
            guard type == .any else { throw contradiction(column, type) }
            types[column.name] = column.type
            new.append(column)
        }
        return new.isEmpty ? nil : TypeDeclaration(table: table, columns: new)
    }

    private func check(_ column: String) throws(SyncError) {
        guard column == "id" || Item.systemColumns.contains(column) || column.hasPrefix("__") else {
            return try Item.check(column: column)
        }
        throw SyncError(
            .invalidConfiguration, "the type of \(table).\(column) can't be declared",
            hint: "The id, the columns of the server, and names that begin with \"__\" have their types.")
    }

    private func contradiction(_ column: TypedColumn, _ known: ColumnType) -> SyncError {
        SyncError(
            .invalidConfiguration,
            "\(table).\(column.name) has the type \(known.rawValue) and can't have \(column.type.rawValue) too",
            hint: "Declare it as \(known.rawValue), or change its type in a migration.")
    }
}
