// Prepares a database when a server starts: it creates the server's own tables and missing served tables, and reads the
// existing ones. It looks first: if everything exists, nothing is created, it waits for no other transaction, and the
// permission to read and write rows is enough. Foreign tables are served unchanged, or refused with what is missing.

import SynclineCore

struct SchemaInstaller {
    let definitions: [TableDefinition]
    let dialect: SQLDialect

    /// A part of a definition that the database lacks.
    private enum MissingPart: Hashable {
        case nothing
        case table
        case columns([Column])
    }

    func install(
        in database: any SQLDatabase, epoch: String, renewsEpoch: Bool
    ) throws(StoreFailure) -> StoreCatalogue {
        if !renewsEpoch,
            let whole = try database.read({ connection throws(StoreFailure) in try whole(connection) })
        {
            return whole
        }
        return try database.write { connection throws(StoreFailure) in
            if try format(connection) != StateSQL.format {
                try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
                    try installOwnTables(connection, epoch: epoch)
                    return ((), true)
                }
            }
            return try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
                (try installServedTables(connection, epoch: epoch, renewsEpoch: renewsEpoch), true)
            }
        }
    }

    /// The tables, if none of them lacks anything.
    private func whole(_ connection: any SQLConnection) throws(StoreFailure) -> StoreCatalogue? {
        guard try format(connection) == StateSQL.format, try olderCopy(connection) == nil else { return nil }
        let catalogue = try SchemaInstaller.catalogue(connection, definitions, dialect)
        for definition in definitions where try missingPart(definition, catalogue, connection) != .nothing {
            return nil
        }
        return try SchemaInstaller.served(catalogue)
    }

    /// The format of the server's own tables; nil if they do not exist.
    private func format(_ connection: any SQLConnection) throws(StoreFailure) -> Int64? {
        for table in StateSQL.tables where try connection.columns(of: table).isEmpty { return nil }
        guard let format = try connection.first(StateSQL.formatNumber(dialect), count: 1)?[0].integer else {
            return nil
        }
        if format != StateSQL.format {
            let (code, word) = format > StateSQL.format ? ("store-newer", "a newer") : ("store-older", "an older")
            throw SchemaInstaller.refusal(code, "the store was made by \(word) syncline-server; use that version")
        }
        return format
    }

    /// The reason why the database is an older copy; nil if it is not.
    private func olderCopy(_ connection: any SQLConnection) throws(StoreFailure) -> String? {
        guard case .older(let reason) = Continuity().judge(try connection.state(dialect)) else { return nil }
        return reason
    }

    private func installOwnTables(_ connection: any SQLConnection, epoch: String) throws(StoreFailure) {
        // Two processes that start at the same time do this one after the other.
        if dialect == .postgres { try connection.execute("SELECT pg_advisory_xact_lock(1937337965)") }
        if try format(connection) == StateSQL.format { return }
        for text in StateSQL.create(dialect) { try connection.execute(text) }
        try connection.run(StateSQL.begin(epoch: epoch, dialect))
    }

    private func installServedTables(
        _ connection: any SQLConnection, epoch: String, renewsEpoch: Bool
    ) throws(StoreFailure) -> StoreCatalogue {
        // Writers take this row before anything else, and code that changes a table must do so, too: otherwise each
        // could wait for the other.
        try connection.execute(StateSQL.line)
        let reason = try olderCopy(connection)
        if renewsEpoch || reason != nil { try connection.run(StateSQL.renew(epoch: epoch, dialect)) }
        if let reason { Diagnostics.note(Continuity.note(reason)) }
        let known = try SchemaInstaller.catalogue(connection, definitions, dialect)
        for definition in definitions { try install(definition, known, connection) }
        return try SchemaInstaller.served(SchemaInstaller.catalogue(connection, definitions, dialect))
    }

    /// The tables, if all of them can be served.
    private static func served(_ catalogue: StoreCatalogue) throws(StoreFailure) -> StoreCatalogue {
        if let fault = catalogue.faults.min(by: { $0.key < $1.key }) { throw .refused(fault.value) }
        return catalogue
    }

    /// The tables as they are in the database now.
    static func catalogue(
        _ connection: any SQLConnection, _ definitions: [TableDefinition], _ dialect: SQLDialect
    ) throws(StoreFailure) -> StoreCatalogue {
        var columns: [String: [Column]] = [:]
        var number: Int64 = 0
        var epoch = ""
        try connection.run(StateSQL.columns(dialect)) { values in
            (number, epoch) = (values.value(0).integer, values.value(1).text)
            if case .text(let table) = values.value(2), let type = ColumnType(rawValue: values.value(4).text) {
                columns[table, default: []].append(Column(values.value(3).text, type))
            }
            return true
        }
        var catalogue = StoreCatalogue(tables: [:], number: number, epoch: epoch)
        for definition in definitions {
            let present = try connection.columns(of: definition.source)
            do throws(StoreFailure) {
                let schema: TableSchema
                if let own = columns[definition.name] {
                    schema = try SchemaInstaller.own(definition, own, present, dialect)
                    let known = Set(schema.columns.map(\.name) + SystemColumn.allCases.map(\.rawValue))
                    catalogue.unknownColumns[definition.name] = present.map(\.name).filter { !known.contains($0) }
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

    private func missingPart(
        _ definition: TableDefinition, _ known: StoreCatalogue, _ connection: any SQLConnection
    ) throws(StoreFailure) -> MissingPart {
        if try connection.columns(of: definition.source).isEmpty { return .table }
        guard let schema = known.tables[definition.name]?.schema, schema.isOwn else { return .nothing }
        var missing: [Column] = []
        for column in TableSchema.declared(definition) {
            guard let place = schema.place(of: column.name) else {
                missing.append(column)
                continue
            }
            let type = schema.columns[place].type
            guard type != column.type else { continue }
            throw SchemaInstaller.refusal(
                "column-type",
                "column \(column.name) of table \(definition.name) is \(type.rawValue), not \(column.type.rawValue)")
        }
        return missing.isEmpty ? .nothing : .columns(missing)
    }

    /// Creates a missing table, or adds declared columns to one that a server created.
    private func install(
        _ definition: TableDefinition, _ known: StoreCatalogue, _ connection: any SQLConnection
    ) throws(StoreFailure) {
        switch try missingPart(definition, known, connection) {
        case .nothing: return
        case .table:
            let declared = TableSchema.declared(definition)
            try create(definition, declared, connection)
            // The server also records a table without columns as its own.
            for column in declared.isEmpty ? [Column("", .string)] : declared {
                try connection.run(StateSQL.remove(column: column.name, of: definition.name, dialect))
                try connection.run(StateSQL.add(column, to: definition.name, dialect))
            }
            try connection.execute(#"UPDATE "syncline_state" SET "schema" = "schema" + 1"#)
        case .columns(let missing): try add(missing, to: definition, connection)
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
        // Rows are stored in the order of insertion: an id at a random position moves an entry of the key's index, not
        // a row.
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
