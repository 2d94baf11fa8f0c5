// Looks at a database and changes nothing: everything that would stop a start, or that an operator should know.

import SynclineCore
import SynclineTables

extension SchemaInstaller {
    /// All findings, in the order: the database, the server's own tables, the served tables, their rows.
    func inspect(_ connection: any SQLConnection) throws(StoreFailure) -> [Finding] {
        let facts = try connection.facts()
        let own = try connection.tables(StateSQL.tables + ["syncline_ticks"])
        var findings = facts.findings(dialect) + [facts.fact] + facts.warnings
        let isInstalled = StateSQL.tables.allSatisfy { own[$0] != nil }
        if isInstalled {
            for name in StateSQL.tables + (numbers == .ticks ? ["syncline_ticks"] : []) {
                findings += TableDefinition(name).faultsOfRights(own[name] ?? DatabaseTable())
            }
        } else {
            findings.append(facts.making("the server's own tables", "database"))
        }
        if findings.contains(where: { $0.weight == .error }) { return findings }
        let catalogue =
            isInstalled
            ? try SchemaInstaller.catalogue(connection, definitions, dialect)
            : SchemaInstaller.catalogue(try connection.tables(definitions.map(\.source)), definitions, dialect)
        findings += definitions.flatMap { catalogue.findings(of: $0, facts) }
        return findings + (try faultsOfRows(catalogue, connection, hasMark: isInstalled))
    }

    /// The tables of a database in which there are none that the server made.
    private static func catalogue(
        _ present: [String: DatabaseTable], _ definitions: [TableDefinition], _ dialect: SQLDialect
    ) -> StoreCatalogue {
        var catalogue = StoreCatalogue(tables: [:], number: 0, epoch: "")
        for definition in definitions {
            guard let table = present[definition.source] else { continue }
            let findings = definition.findings(table, isOwn: false, dialect)
            catalogue.findings += findings
            if findings.contains(where: { $0.weight == .error }) { continue }
            catalogue.tables[definition.name] = TableSQL(AdoptedTable(definition, table, dialect).schema, dialect)
        }
        return catalogue
    }
}

extension StoreCatalogue {
    /// The findings about a table, and the way it is served.
    fileprivate func findings(of definition: TableDefinition, _ facts: DatabaseFacts) -> [Finding] {
        let place = "table \(definition.name)"
        var findings = findings.filter { $0.place == place }
        if let fault = faults[definition.name], !findings.contains(where: { $0.weight == .error }) {
            findings.append(Finding(.error, place, fault.code, fault.message))
        }
        guard let schema = tables[definition.name]?.schema else {
            return findings.isEmpty ? [facts.making("table \(definition.source)", place)] : findings
        }
        let columns = schema.columns.map { "\($0.name) \($0.type.rawValue)" }.joined(separator: ", ")
        let origin = schema.isOwn ? "was made by the server" : "was made by others and is served as it is"
        findings.append(
            Finding(
                .fact, place, "table-served", "it \(origin)" + (columns.isEmpty ? "" : ", with \(columns)")))
        if schema.isOwn, definition.dynamicSchema, !mayAlter.contains(definition.name) {
            findings.append(
                Finding(
                    .warning, place, "columns-fixed",
                    "the server's role may not add columns: a write with a new column is answered 400",
                    mend: "make the role the table's owner, or set dynamicSchema to false"))
        }
        return findings
    }
}

extension DatabaseFacts {
    fileprivate var fact: Finding {
        let parts = [
            "\(product) with the encoding \(encoding)", role.map { "as role \($0)" }, timeline.map { "timeline \($0)" },
            connections.map { "\($0) connections at most" },
        ]
        return Finding(.fact, "database", "database", parts.compactMap { $0 }.joined(separator: ", "))
    }

    var warnings: [Finding] {
        var warnings: [Finding] = []
        if isStandby {
            warnings.append(
                Finding(
                    .warning, "database", "database-standby",
                    "the database is a standby: reads are answered, and every write is refused",
                    mend: "name the primary in \"store\", or promote this database"))
        } else if isReadOnly {
            warnings.append(
                Finding(
                    .warning, "database", "database-read-only",
                    "the database is read-only: reads are answered, and every write is refused",
                    mend: role == nil ? "let the server write to the file" : "set default_transaction_read_only to off")
            )
        }
        if preparedTransactions > 0 {
            warnings.append(
                Finding(
                    .warning, "database", "prepared-transactions",
                    "a prepared transaction that is never ended hides all later changes from clients",
                    mend: "set max_prepared_transactions to 0"))
        }
        return warnings
    }

    /// That something will be made when the server starts, if it can.
    fileprivate func making(_ what: String, _ place: String) -> Finding {
        if !mayCreateTables || isReadOnly || isStandby {
            return Finding(
                .error, place, "rights-missing", "\(what) can't be made: the server may not create tables",
                mend: "grant it CREATE on the schema, or start the server once as a role that may")
        }
        return Finding(.fact, place, "will-be-made", "\(what) will be made when the server starts")
    }
}
