// What is done to a database when a server starts: the server's own tables, the served tables that are missing, and a look
// at those that are there. Tables that somebody else made are served as they are, or refused with what they lack.

import SynclineCore

struct StoreFoundation {
    let definitions: [TableDefinition]
    let dialect: SQLDialect

    func lay(
        _ connection: any SQLConnection, epoch: String, renewsEpoch: Bool
    ) throws(StoreFailure) -> SQLStore.Catalogue {
        try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
            // Two processes that start at once do this one after the other.
            if dialect == .postgres { try connection.execute("SELECT pg_advisory_xact_lock(1937337965)") }
            for text in StateSQL.create(dialect) { try connection.execute(text) }
            try connection.run(StateSQL.begin(epoch: epoch, dialect))
            if let values = try connection.first(StateSQL.mark(dialect), count: 4), values[3].integer > StateSQL.format
            {
                throw .refused(
                    Refusal(500, "store-newer", "the store was made by a newer syncline-server; use that one"))
            }
            if renewsEpoch { try connection.run(StateSQL.renew(epoch: epoch, dialect)) }
            let known = try StoreFoundation.catalogue(connection, definitions, dialect)
            for definition in definitions { try lay(definition, known, connection) }
            let laid = try StoreFoundation.catalogue(connection, definitions, dialect)
            if let fault = laid.faults.min(by: { $0.key < $1.key }) { throw .refused(fault.value) }
            return (laid, true)
        }
    }

    /// The tables as the database has them now.
    static func catalogue(
        _ connection: any SQLConnection, _ definitions: [TableDefinition], _ dialect: SQLDialect
    ) throws(StoreFailure) -> SQLStore.Catalogue {
        var columns: [String: [Column]] = [:]
        var number: Int64 = 0
        try connection.run(StateSQL.columns(dialect)) { values in
            number = values.value(0).integer
            if case .text(let table) = values.value(1), let type = ColumnType(rawValue: values.value(3).text) {
                columns[table, default: []].append(Column(values.value(2).text, type))
            }
            return true
        }
        var catalogue = SQLStore.Catalogue(tables: [:], number: number)
        for definition in definitions {
            let present = try connection.columns(of: definition.source)
            do throws(StoreFailure) {
                let schema: TableSchema
                if let own = columns[definition.name] {
                    schema = try StoreFoundation.own(definition, own, present, dialect)
                    let known = Set(schema.columns.map(\.name) + SystemColumn.allCases.map(\.rawValue))
                    catalogue.strangers[definition.name] = present.map(\.name).filter { !known.contains($0) }
                } else if present.isEmpty {
                    continue
                } else {
                    schema = try foreign(definition, present, connection, dialect)
                }
                catalogue.tables[definition.name] = TableSQL(schema, dialect)
            } catch {
                guard case .refused(let refusal) = error else { throw error }
                catalogue.faults[definition.name] = refusal
            }
        }
        return catalogue
    }

    /// Makes a table that is missing, or adds declared columns to one that a server made.
    private func lay(
        _ definition: TableDefinition, _ known: SQLStore.Catalogue, _ connection: any SQLConnection
    ) throws(StoreFailure) {
        let declared = TableSchema.declared(definition)
        let present = try connection.columns(of: definition.source)
        if present.isEmpty {
            try create(definition, declared, connection)
            // A table without columns is the server's, too.
            for column in declared.isEmpty ? [Column("", .string)] : declared {
                try connection.run(StateSQL.remove(column: column.name, of: definition.name, dialect))
                try connection.run(StateSQL.add(column, to: definition.name, dialect))
            }
            try connection.execute(#"UPDATE "syncline_state" SET "schema" = "schema" + 1"#)
        } else if let schema = known.tables[definition.name]?.schema, schema.isOwn {
            for column in declared {
                guard let place = schema.place(of: column.name) else { continue }
                let type = schema.columns[place].type
                guard type != column.type else { continue }
                throw StoreFoundation.refusal(
                    "column-type",
                    "column \(column.name) of table \(definition.name) is \(type.rawValue), not \(column.type.rawValue)"
                )
            }
            try add(declared.filter { schema.place(of: $0.name) == nil }, to: definition, connection)
        }
    }

    private func create(
        _ definition: TableDefinition, _ columns: [Column], _ connection: any SQLConnection
    ) throws(StoreFailure) {
        let table = SQLDialect.quoted(definition.source)
        let (text, date, flag) = (dialect.type(.string), dialect.type(.date), dialect.type(.boolean))
        var parts = [
            "\"id\" \(text) NOT NULL PRIMARY KEY", "\"createdAt\" \(date) NOT NULL", "\"updatedAt\" \(date) NOT NULL",
            "\"version\" \(dialect.bigInteger) NOT NULL", "\"deleted\" \(flag) NOT NULL",
        ]
        parts += columns.map { "\(SQLDialect.quoted($0.name)) \(dialect.type($0.type))" }
        // Rows lie in the order they came in: an id that falls anywhere moves an entry of the key's index, not a row.
        let options = dialect == .sqlite ? " STRICT" : ""
        try connection.execute("CREATE TABLE \(table) (\(parts.joined(separator: ", ")))\(options)")
        let indexes = [("updatedAt", "INDEX", "\"updatedAt\", \"id\""), ("version", "UNIQUE INDEX", "\"version\"")]
        for (name, kind, keys) in indexes {
            let index = SQLDialect.quoted("syncline_\(definition.source)_\(name)")
            try connection.execute("CREATE \(kind) \(index) ON \(table) (\(keys))")
        }
        if let owner = definition.perUser {
            let index = SQLDialect.quoted("syncline_\(definition.source)_owner")
            try connection.execute("CREATE INDEX \(index) ON \(table) (\(SQLDialect.quoted(owner)), \"updatedAt\")")
        }
    }
}
