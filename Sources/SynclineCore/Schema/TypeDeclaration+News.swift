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
        let isLocal = isLocal && !known.isLocal
        return new.isEmpty && !isLocal ? nil : TypeDeclaration(table: table, columns: new, isLocal: isLocal)
    }

    /// Throws if the table is to stay on the device and has what a server may have, too.
    package func check(_ reader: StateReader) throws(SyncError) {
        guard isLocal, try reader.isKnown(table) else { return }
        throw SyncError(
            .invalidConfiguration,
            "the table \"\(table)\" has rows or cursors, so it can't become one of this device only",
            hint: "Drop it in a migration, or purge it, or use another table.")
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
