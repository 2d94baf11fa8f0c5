// A table that the server did not make: which of its columns are served, and what prevents that. It is served
// unchanged, or refused with the name of the column at fault. The decisions depend only on the description of the table.

import SynclineCore
import SynclineGround
import SynclineTables

struct AdoptedTable {
    private let definition: TableDefinition
    private let table: DatabaseTable
    private let dialect: SQLDialect
    /// Gives the database's names of columns.
    private let names: ServedTable
    private let declared: [Column]

    init(_ definition: TableDefinition, _ table: DatabaseTable, _ dialect: SQLDialect) {
        var fixed = definition
        fixed.dynamicSchema = false
        (self.definition, self.table, self.dialect) = (fixed, table, dialect)
        names = ServedTable(fixed, columns: [])
        declared = ServedTable.declared(definition)
    }

    private var place: String { "table \(definition.name)" }

    private func column(_ column: SystemColumn) -> DatabaseColumn? { table.column(names.source(of: column)) }

    private var systemColumns: [SystemColumn] { SystemColumn.allCases.filter { column($0) != nil } }

    /// The columns for clients, each with the database's column. Those without a type that can be served have none.
    private var served: [(column: Column?, source: DatabaseColumn)] {
        if !declared.isEmpty {
            return declared.compactMap { column in
                table.column(names.source(of: column.name)).map { (column, $0) }
            }
        }
        let taken = systemColumns.map { names.source(of: $0) }.exact
        return table.columns.filter { !taken.contains($0.name) }.map { source in
            (source.served(dialect).map { Column(source.name, $0) }, source)
        }
    }

    /// The table as it is served, if there are no errors among its findings.
    var schema: ServedTable {
        let system = systemColumns
        let columns = served.compactMap { served in served.column.map { (column: $0, source: served.source) } }
        let all =
            columns.map { ($0.column.name, $0.source) }
            + system.compactMap { name in
                column(name).map { (name.rawValue, $0) }
            }
        var traits = ColumnTraits()
        for (name, source) in all {
            let type = columns.first { $0.column.name.hasSameBytes(as: name) }?.column.type
            let exact = ExactString(name)
            if source.isOpaque(type, dialect) { traits.opaque.insert(exact) }
            if source.isComputed { traits.computed.insert(exact) }
            if source.isFine, type == nil { traits.fine.insert(exact) }
            if type != nil { traits.precision[exact] = source.precision(dialect) }
            if dialect == .postgres, source.type == "uuid", type?.form == .uuid { traits.native.insert(exact) }
            if !source.isByBytes { traits.collated.insert(exact) }
            if !source.isExact { traits.inexact.insert(exact) }
            if source.type == "numeric" { traits.decimal.insert(exact) }
            if source.needsValue { traits.required.insert(exact) }
            if table.keys.contains(source.name) { traits.unique.insert(exact) }
        }
        let kind = column(.id)?.idKind(dialect) ?? .text
        if kind != .text { traits.opaque.insert(ExactString(SystemColumn.id.rawValue)) }
        // Their columns may be declared as strings.
        if dialect == .sqlite { traits.opaque.formUnion([SystemColumn.createdAt, .updatedAt].map(\.rawValue).exact) }
        return ServedTable(
            definition, columns: columns.map(\.column), systemColumns: Set(system), isOwn: false, idKind: kind,
            traits: traits, decimals: dialect.dateDecimals)
    }

    // MARK: Findings

    var findings: [Finding] {
        let missing = self.missing
        if !missing.isEmpty { return missing }
        return faultsOfTable + faultsOfTypes + faultsOfSystemColumns + faultsOfWrites + warnings
    }

    private func error(_ code: String, _ message: String, _ mend: String) -> Finding {
        Finding(.error, place, code, message, mend: mend)
    }

    private func words(_ column: DatabaseColumn) -> String { "column \(column.name) of table \(definition.source)" }

    private var missing: [Finding] {
        var needed: [SystemColumn] = [.id, .updatedAt, .version]
        if definition.softDelete { needed.append(.deleted) }
        let lacks =
            needed.filter { column($0) == nil }.map { names.source(of: $0) }
            + declared.map { names.source(of: $0.name) }.filter { table.column($0) == nil }
        if lacks.isEmpty { return [] }
        return [
            error(
                "table-lacks-columns",
                "table \(definition.source) was not made by syncline-server and lacks \(lacks.joined(separator: ", "))",
                "add the columns, or map existing columns with \"map\"")
        ]
    }

    private var faultsOfTable: [Finding] {
        if table.isView {
            return [error("table-is-view", "\(definition.source) is a view", "name its table with \"source\"")]
        }
        guard let id = column(.id), !table.keys.contains(id.name) else { return [] }
        return [error("table-without-key", "\(words(id)) is not a key", "add a unique index")]
    }

    private var faultsOfTypes: [Finding] {
        served.compactMap { column, source in
            guard let column else {
                let type = source.type.isEmpty ? "of no type" : source.type
                return error(
                    "column-type", "\(words(source)) is \(type), which can't be served",
                    "name the columns to serve with \"columns\", without it")
            }
            if source.canServe(column.type, dialect) { return nil }
            return error(
                "column-type", "\(words(source)) is \(source.type), which can't be served as \(column.type.rawValue)",
                "declare another type, or change the column's")
        }
    }

    /// The values that the server writes to a system column must fit it, and stay as they are.
    private var faultsOfSystemColumns: [Finding] {
        systemColumns.flatMap { system -> [Finding] in
            guard let source = column(system) else { return [] }
            var faults: [Finding] = []
            if let wanted = wanted(system, source) {
                faults.append(
                    error(
                        "column-type", "\(words(source)) is \(source.type) and must be \(wanted)",
                        "change its type, or name another column with \"map\""))
            }
            if source.isComputed {
                faults.append(
                    error(
                        "column-computed", "\(words(source)) is set by the database, and must be set by the server",
                        "drop the expression or the identity, or name another column with \"map\""))
            }
            if system == .id, !source.isExact {
                faults.append(
                    error(
                        "column-collation", "\(words(source)) takes different ids for the same, such as a and A",
                        "change its collation\(dialect == .sqlite ? " to BINARY" : " to \"C\"")"))
            }
            return faults
        }
    }

    /// The type that a system column must have; nil if it has it.
    private func wanted(_ column: SystemColumn, _ source: DatabaseColumn) -> String? {
        switch (column, dialect) {
        case (.id, .postgres): source.idKind(dialect) != nil ? nil : "text, varchar, uuid or an integer"
        case (.id, .sqlite): source.idKind(dialect) != nil ? nil : "TEXT or INTEGER"
        case (_, .sqlite): nil
        case (.version, _): ["bigint", "numeric"].contains(source.type) ? nil : "bigint"
        case (.deleted, _): source.type == "boolean" ? nil : "boolean"
        case (.createdAt, _), (.updatedAt, _): source.type.hasPrefix("timestamp") ? nil : "timestamptz"
        }
    }

    private func isAllowed(_ operation: TableOperation) -> Bool { definition.permission(operation) != .disabled }

    /// Columns because of which every insert would fail.
    private var faultsOfWrites: [Finding] {
        let given = (systemColumns.map { names.source(of: $0) } + served.map(\.source.name)).exact
        let owner = definition.perUser.flatMap { table.column(names.source(of: $0)) }
        var faults: [Finding] = []
        if isAllowed(.insert) {
            for column in table.columns
            where column.needsValue && !column.hasDefault && !column.isComputed && !given.contains(column.name) {
                faults.append(
                    error(
                        "column-not-served", "\(words(column)) needs a value and is not served",
                        "give it a default, serve it, or set \"insert\" to disabled"))
            }
        }
        if let owner, owner.isComputed {
            faults.append(
                error(
                    "column-computed", "\(words(owner)) is set by the database, and must have the user of a row",
                    "name another column with \"perUser\""))
        }
        return faults
    }

    private var warnings: [Finding] {
        var warnings: [Finding] = []
        if let version = column(.version), !table.keys.contains(version.name) || !version.needsValue {
            warnings.append(
                Finding(
                    .warning, place, "column-not-unique",
                    "\(words(version)) has no unique index, or may be null: each start reads the whole table",
                    mend: "add a unique index and NOT NULL"))
        }
        if let fine = column(.updatedAt), fine.isFine {
            warnings.append(
                Finding(
                    .warning, place, "column-fine",
                    "\(words(fine)) keeps microseconds, which clients do not see: no index helps to order by it",
                    mend: "change its type to timestamptz(3)"))
        }
        if !table.triggers.isEmpty {
            warnings.append(
                Finding(
                    .warning, place, "table-triggers",
                    "table \(definition.source) has triggers: \(table.triggers.joined(separator: ", "))",
                    mend: "a write that they skip, or whose id or version they change, is answered 409"))
        }
        return warnings
    }
}

extension TableDefinition {
    /// The findings about a table that exists in the database or should.
    func findings(_ table: DatabaseTable?, isOwn: Bool, _ dialect: SQLDialect) -> [Finding] {
        guard let table else { return [] }
        return (isOwn ? [] : AdoptedTable(self, table, dialect).findings) + faultsOfNumbers(table)
            + faultsOfRights(table)
    }

    /// A number of another sequence does not count changes, and one that is taken without `syncline_take` comes too
    /// late for readers that have already read on.
    private func faultsOfNumbers(_ table: DatabaseTable) -> [Finding] {
        let version = ServedTable(self, columns: []).source(of: .version)
        guard let column = table.column(version), column.countsByItself, !column.isComputed else { return [] }
        return [
            Finding(
                .error, "table \(name)", "column-counts",
                "the default of column \(version) of table \(source) takes numbers that readers may miss",
                mend: "drop the default, and let a trigger call syncline_take")
        ]
    }

    /// What the rights of the server's role do not allow, on any served table.
    func faultsOfRights(_ table: DatabaseTable) -> [Finding] {
        let names = ServedTable(self, columns: [])
        let system = SystemColumn.allCases.map { names.source(of: $0) }.exact
        let declared = ServedTable.declared(self).map { names.source(of: $0.name) }
        let served = table.columns.filter {
            system.contains($0.name) || declared.isEmpty || declared.contains($0.name)
        }
        func fault(_ right: String, _ columns: [DatabaseColumn]) -> Finding? {
            guard let first = columns.first else { return nil }
            return Finding(
                .error, "table \(name)", "rights-missing",
                "the server's role lacks the right to \(right) column \(first.name) of table \(source)",
                mend: "grant it")
        }
        let stamped = served.filter { system.contains($0.name) }
        let writes = permission(.update) != .disabled || softDelete && permission(.delete) != .disabled
        var faults = [fault("SELECT", served.filter { !$0.canSelect })]
        if permission(.insert) != .disabled { faults.append(fault("INSERT", stamped.filter { !$0.canInsert })) }
        if writes {
            let changed = stamped.filter { $0.name != names.source(of: .id) && $0.name != names.source(of: .createdAt) }
            faults.append(fault("UPDATE", changed.filter { !$0.canUpdate }))
        }
        var findings = faults.compactMap { $0 }
        if !softDelete, permission(.delete) != .disabled, !table.mayDelete {
            findings.append(
                Finding(
                    .error, "table \(name)", "rights-missing",
                    "the server's role lacks the right to DELETE rows of table \(source)", mend: "grant it"))
        }
        if table.hasPolicies {
            findings.append(
                Finding(
                    .warning, "table \(name)", "table-policies",
                    "table \(source) has row-level security for the server's role: clients get only the rows that it "
                        + "shows, and a write that it refuses is answered 403",
                    mend: "grant the role BYPASSRLS, or make sure that its policies do not depend on the session"))
        }
        return findings
    }
}

extension DatabaseFacts {
    /// What prevents the use of a database.
    func findings(_ dialect: SQLDialect) -> [Finding] {
        let wanted = dialect == .sqlite ? "UTF-8" : "UTF8"
        if encoding == wanted { return [] }
        return [
            Finding(
                .error, "database", "database-encoding",
                "the database has the encoding \(encoding), in which not every string can be stored or ordered",
                mend: dialect == .sqlite
                    ? "copy it into a file that was made with PRAGMA encoding = 'UTF-8'"
                    : "copy it into a database that was made with createdb -E UTF8 -T template0")
        ]
    }
}
