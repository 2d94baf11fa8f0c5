// Prepares a database when a server starts: it creates the server's own tables and missing served tables, and reads the
// existing ones. It looks first: if everything exists, nothing is created, it waits for no other transaction, and the
// permission to read and write rows is enough. Adopted tables, which others made, are served unchanged, or refused with
// what is missing.

import SynclineCore
import SynclineGround
import SynclineTables

struct SchemaInstaller {
    let definitions: [TableDefinition]
    let dialect: SQLDialect
    /// Where the numbers come from, and where they came from before.
    private(set) var numbers = NumberSource.line
    private var before: NumberSource?
    private let note: @Sendable (String) -> Void

    init(
        definitions: [TableDefinition], dialect: SQLDialect,
        note: @escaping @Sendable (String) -> Void = { Diagnostics.note($0) }
    ) {
        (self.definitions, self.dialect, self.note) = (definitions, dialect, note)
    }

    /// A part of a definition that the database lacks.
    private enum MissingPart: Hashable {
        case nothing
        case table
        case columns([Column])
    }

    /// The number of tables that are created in one transaction: PostgreSQL keeps a lock for each of them and of their
    /// indexes, and has room for some thousands.
    private var portion: Int { dialect == .sqlite ? .max : 200 }

    /// Finds out where the numbers come from.
    /// - Parameter mayChange: Whether this may become `wanted`.
    mutating func find(
        _ wanted: NumberSource?, on connection: any SQLConnection, mayChange: Bool
    ) throws(StoreFailure) {
        if wanted == .ticks, dialect == .sqlite {
            throw SchemaInstaller.refusal("numbers-differ", "only PostgreSQL can give numbers by ticks")
        }
        if try format(connection) == StateSQL.format {
            before = try connection.first(StateSQL.numbers, count: 1)
                .flatMap { NumberSource(rawValue: $0[0].text) }
        }
        numbers = wanted ?? before ?? (dialect == .postgres ? .ticks : .line)
        if let before, before != numbers, !mayChange {
            throw SchemaInstaller.refusal(
                "numbers-differ",
                "the database gives numbers by \(before.rawValue), not by \(numbers.rawValue); stop all its servers, "
                    + "and start one with --new-epoch to change that")
        }
    }

    func install(
        in database: any SQLDatabase, epoch: String, renewsEpoch: Bool
    ) throws(StoreFailure) -> StoreCatalogue {
        let known = try database.read { connection throws(StoreFailure) in try look(connection) }
        if let known, known.lacking.isEmpty, !renewsEpoch { return try SchemaInstaller.served(known.catalogue) }
        return try database.write { connection throws(StoreFailure) in
            if try format(connection) != StateSQL.format {
                try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
                    try installOwnTables(connection, epoch: epoch)
                    return ((), true)
                }
            }
            var rest = (known?.lacking ?? definitions)[...]
            var renews = renewsEpoch
            repeat {
                try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
                    let portion = Array(rest.prefix(portion))
                    return (try installServedTables(portion, connection, epoch: epoch, renewsEpoch: renews), true)
                }
                rest = rest.dropFirst(portion)
                renews = false
            } while !rest.isEmpty
            return try SchemaInstaller.served(SchemaInstaller.catalogue(connection, definitions, dialect))
        }
    }

    /// The tables, and the definitions of those that lack something; nil if the server's own tables do, or if the database
    /// is an older copy.
    private func look(
        _ connection: any SQLConnection
    ) throws(StoreFailure) -> (catalogue: StoreCatalogue, lacking: [TableDefinition])? {
        guard try format(connection) == StateSQL.format, try olderCopy(connection) == nil else { return nil }
        let catalogue = try SchemaInstaller.catalogue(connection, definitions, dialect)
        var lacking: [TableDefinition] = []
        for definition in definitions where try missingPart(definition, catalogue) != .nothing {
            lacking.append(definition)
        }
        return (catalogue, lacking)
    }

    /// The format of the server's own tables; nil if they do not exist.
    private func format(_ connection: any SQLConnection) throws(StoreFailure) -> Int64? {
        try StoreFailure.check(connection.facts().findings(dialect))
        guard try connection.tables(StateSQL.tables).count == StateSQL.tables.count else { return nil }
        guard let format = try connection.first(StateSQL.formatNumber, count: 1)?[0].integer else {
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
        let state = try connection.state(before ?? numbers, dialect)
        guard case .older(let reason) = Continuity().judge(state) else { return nil }
        return reason
    }

    private func installOwnTables(_ connection: any SQLConnection, epoch: String) throws(StoreFailure) {
        // Two processes that start at the same time do this one after the other.
        if dialect == .postgres { try connection.execute("SELECT pg_advisory_xact_lock(1937337965)") }
        if try format(connection) == StateSQL.format { return }
        for text in StateSQL.create(dialect) { try connection.execute(text) }
        try connection.run(StateSQL.begin(epoch: epoch, numbers, dialect))
        if dialect == .postgres { for text in numbers.create { try connection.execute(text) } }
    }

    /// Creates the missing tables and columns. By now another process may have done so.
    private func installServedTables(
        _ definitions: [TableDefinition], _ connection: any SQLConnection, epoch: String, renewsEpoch: Bool
    ) throws(StoreFailure) {
        // Writers take this row before anything else, and code that changes a table must do so, too: otherwise each
        // could wait for the other.
        try connection.execute(StateSQL.line)
        let reason = try olderCopy(connection)
        if renewsEpoch, let before, before != numbers {
            for text in numbers.replace { try connection.execute(text) }
        }
        if renewsEpoch || reason != nil {
            for statement in numbers.renew(epoch: epoch, dialect) { try connection.run(statement) }
        }
        if let reason { note(Continuity.note(reason)) }
        let known = try SchemaInstaller.catalogue(connection, definitions, dialect)
        var made: [TableDefinition] = []
        for definition in definitions where try install(definition, known, connection) { made.append(definition) }
        // At the end, because SQLite prepares its statements again after each new table.
        try record(made, connection)
    }

    /// The tables, if all of them can be served.
    private static func served(_ catalogue: StoreCatalogue) throws(StoreFailure) -> StoreCatalogue {
        if let fault = catalogue.faults.min(by: { $0.key < $1.key }) { throw .refused(fault.value) }
        return catalogue
    }

    /// The faults of the rows of tables. A check that takes too long is a warning.
    func faultsOfRows(
        _ catalogue: StoreCatalogue, _ connection: any SQLConnection, hasMark: Bool = true
    ) throws(StoreFailure) -> [Finding] {
        var findings: [Finding] = []
        var rest = catalogue.tables.sorted { $0.key < $1.key }.map(\.value)[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(100))
            rest = rest.dropFirst(100)
            do throws(StoreFailure) {
                try connection.forEachRow(of: TableSQL.rowCheck(some, numbers, hasMark: hasMark)) { row in
                    let table = some[Int(row.value(0).integer)]
                    for (place, fault) in RowFault.allCases.enumerated() where row.value(place + 1).integer != 0 {
                        findings.append(fault.finding(table.schema))
                    }
                }
            } catch .busy(let reason) where reason.kind == .timedOut {
                findings.append(
                    Finding(
                        .warning, "database", "rows-not-checked", "not all rows could be checked in time: \(reason)",
                        mend: "add unique indexes on the numbers of adopted tables, and NOT NULL"))
            }
        }
        return findings
    }

    /// The tables as they are in the database now.
    static func catalogue(
        _ connection: any SQLConnection, _ definitions: [TableDefinition], _ dialect: SQLDialect
    ) throws(StoreFailure) -> StoreCatalogue {
        var columns: [String: [Column]] = [:]
        var number: Int64 = 0
        var epoch = ""
        try connection.forEachRow(of: StateSQL.columns) { values in
            (number, epoch) = (values.value(0).integer, values.value(1).text)
            if case .text(let table) = values.value(2), let type = ColumnType(rawValue: values.value(4).text) {
                columns[table, default: []].append(Column(values.value(3).text, type))
            }
        }
        let present = try connection.tables(definitions.map(\.source))
        var catalogue = StoreCatalogue(tables: [:], number: number, epoch: epoch)
        for definition in definitions {
            let table = present[definition.source]
            if table == nil, columns[definition.name] == nil { continue }
            do throws(StoreFailure) {
                let findings = definition.findings(table, isOwn: columns[definition.name] != nil, dialect)
                catalogue.findings += findings
                if table?.mayAlter == true { catalogue.mayAlter.insert(definition.name) }
                try StoreFailure.check(findings)
                let schema: ServedTable
                if let own = columns[definition.name] {
                    schema = try SchemaInstaller.own(definition, own, table, dialect)
                    let known = (schema.columns.map(\.name) + SystemColumn.allCases.map(\.rawValue)).exact
                    catalogue.unknownColumns[definition.name] =
                        table?.columns.map(\.name).filter { !known.contains($0) } ?? []
                } else {
                    schema = AdoptedTable(definition, table ?? DatabaseTable(), dialect).schema
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
        _ definition: TableDefinition, _ known: StoreCatalogue
    ) throws(StoreFailure) -> MissingPart {
        if let fault = known.faults[definition.name] { return fault.code == "table-changed" ? .table : .nothing }
        guard let schema = known.tables[definition.name]?.schema else { return .table }
        guard schema.isOwn else { return .nothing }
        var missing: [Column] = []
        for column in ServedTable.declared(definition) {
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

    /// Creates a missing table, or adds declared columns to one that a server created. Returns whether it created the table.
    private func install(
        _ definition: TableDefinition, _ known: StoreCatalogue, _ connection: any SQLConnection
    ) throws(StoreFailure) -> Bool {
        switch try missingPart(definition, known) {
        case .nothing: return false
        case .table:
            try create(definition, ServedTable.declared(definition), connection)
            return true
        case .columns(let missing):
            try add(missing, to: definition, connection)
            return false
        }
    }

    /// Records the columns of tables that were created.
    private func record(_ definitions: [TableDefinition], _ connection: any SQLConnection) throws(StoreFailure) {
        if definitions.isEmpty { return }
        for definition in definitions {
            let declared = ServedTable.declared(definition)
            // The server also records a table without columns as its own.
            for column in declared.isEmpty ? [Column("", .string)] : declared {
                try connection.run(StateSQL.remove(column: column.name, of: definition.name))
                try connection.run(StateSQL.add(column, to: definition.name))
            }
        }
        try connection.execute(#"UPDATE "syncline_state" SET "schema" = "schema" + 1"#)
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
        // Indexes as parts of the table: SQLite reads its whole schema again after each statement that changes it.
        let indexes = [("updatedAt", "\"updatedAt\", \"id\""), ("version", "\"version\"")]
        parts += indexes.map { name, keys in
            "CONSTRAINT \(SQLDialect.quoted("syncline_\(definition.source)_\(name)")) UNIQUE (\(keys))"
        }
        // Rows are stored in the order of insertion: an id at a random position moves an entry of the key's index, not
        // a row.
        let options = dialect == .sqlite ? " STRICT" : ""
        try connection.execute("CREATE TABLE \(table) (\(parts.joined(separator: ", ")))\(options)")
        if let owner = definition.perUser {
            let index = SQLDialect.quoted("syncline_\(definition.source)_owner")
            try connection.execute("CREATE INDEX \(index) ON \(table) (\(SQLDialect.quoted(owner)), \"updatedAt\")")
        }
    }
}
