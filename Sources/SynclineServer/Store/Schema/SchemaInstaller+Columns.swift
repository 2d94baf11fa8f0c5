// The columns of tables that a server created: adding them, removing them, and detecting manual changes.

import SynclineCore
import SynclineGround
import SynclineTables

extension SchemaInstaller {
    /// Adds columns that a table does not have yet. A column that was created by hand is accepted if it matches the
    /// server's own form.
    func add(
        _ columns: [Column], to definition: TableDefinition, _ connection: any SQLConnection
    ) throws(StoreFailure) {
        if columns.isEmpty { return }
        let present = try connection.tables([definition.source])[definition.source]?.columns ?? []
        for column in columns {
            // SQLite's names are not case-sensitive.
            let there = present.first {
                dialect == .sqlite
                    ? $0.name.lowercased().hasSameBytes(as: column.name.lowercased())
                    : $0.name.hasSameBytes(as: column.name)
            }
            if let there {
                guard there.name.hasSameBytes(as: column.name), there.isOwn(column.type, dialect) else {
                    throw .refused(
                        Refusal(
                            409, "column-taken",
                            "The database's table \(definition.source) has a column \(there.name) of type \(there.type), "
                                + "which the server did not make"))
                }
            } else {
                let (table, name) = (SQLDialect.quoted(definition.source), SQLDialect.quoted(column.name))
                try connection.execute("ALTER TABLE \(table) ADD COLUMN \(name) \(dialect.type(column.type))")
            }
            try connection.run(StateSQL.remove(column: column.name, of: definition.name))
            try connection.run(StateSQL.add(column, to: definition.name))
        }
        try connection.execute(#"UPDATE "syncline_state" SET "schema" = "schema" + 1"#)
    }

    /// Removes a column with its values. Other processes notice by the schema number, and by failing statements.
    func drop(
        _ column: String, of definition: TableDefinition, _ connection: any SQLConnection
    ) throws(StoreFailure) {
        try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
            // Locks the row that writers lock first.
            try connection.execute(#"UPDATE "syncline_state" SET "schema" = "schema" + 1"#)
            let known = try SchemaInstaller.catalogue(connection, [definition], dialect)
            guard let schema = known.tables[definition.name]?.schema, schema.isOwn, schema.place(of: column) != nil
            else {
                throw SchemaInstaller.refusal(
                    "unknown-column", "table \(definition.name) has no column \(column) that the server made")
            }
            let (table, name) = (SQLDialect.quoted(definition.source), SQLDialect.quoted(column))
            try connection.execute("ALTER TABLE \(table) DROP COLUMN \(name)")
            try connection.run(StateSQL.remove(column: column, of: definition.name))
            try connection.run(StateSQL.forgetDigest(of: definition.source))
            return ((), true)
        }
    }

    /// The schema of a table that the server created; the database may lack some of its columns by now.
    static func own(
        _ definition: TableDefinition, _ columns: [Column], _ table: DatabaseTable?, _ dialect: SQLDialect
    ) throws(StoreFailure) -> ServedTable {
        guard let table else { throw refusal("table-changed", "table \(definition.source) no longer exists") }
        let types = Dictionary(table.columns.map { (ExactString($0.name), $0) }) { first, _ in first }
        var left: [Column] = []
        for column in columns where !column.name.isEmpty {
            guard let type = types[column.name] else { continue }
            guard type.isOwn(column.type, dialect) else {
                throw refusal(
                    "column-type",
                    "column \(column.name) of table \(definition.source) is \(type.type) and was made for "
                        + "\(column.type.rawValue); change it back, or drop it")
            }
            left.append(column)
        }
        return ServedTable(definition, columns: left, decimals: dialect.dateDecimals)
    }

    static func refusal(_ code: String, _ message: String) -> StoreFailure {
        .refused(Refusal(500, code, message))
    }
}
