// Foreign tables, which the server did not create: they are served unchanged, or refused with the name of what is
// missing and a hint.

import SynclineCore

extension SchemaInstaller {
    static func foreign(
        _ definition: TableDefinition, _ present: [DatabaseColumn], _ connection: any SQLConnection,
        _ dialect: SQLDialect
    ) throws(StoreFailure) -> TableSchema {
        var fixed = definition
        fixed.dynamicSchema = false
        let bare = TableSchema(fixed, columns: [])
        let types = Dictionary(present.map { ($0.name, $0) }) { first, _ in first }
        let system = Set(SystemColumn.allCases.filter { types[bare.source(of: $0)] != nil })
        var needed: [SystemColumn] = [.id, .updatedAt, .version]
        if definition.softDelete { needed.append(.deleted) }
        let declared = TableSchema.declared(definition)
        let missing =
            needed.filter { !system.contains($0) }.map { bare.source(of: $0) }
            + declared.map { bare.source(of: $0.name) }.filter { types[$0] == nil }
        guard missing.isEmpty else {
            throw refusal(
                "table-lacks-columns",
                "table \(definition.source) was not made by syncline-server and lacks \(missing.joined(separator: ", "))"
                    + "; add the columns, or map existing columns with \"map\"")
        }
        let taken = Set(system.map { bare.source(of: $0) })
        let columns =
            try declared.isEmpty
            ? present.filter { !taken.contains($0.name) }.map { column throws(StoreFailure) in
                try served(column, definition, dialect)
            }
            : declared
        for column in columns {
            guard let type = types[bare.source(of: column.name)], !type.canServe(column.type, dialect) else { continue }
            throw refusal(
                "column-type",
                "column \(type.name) of table \(definition.source) is \(type.type), which can't be served as "
                    + column.type.rawValue)
        }
        for column in system {
            if let type = types[bare.source(of: column)] { try check(type, as: column, definition, dialect) }
        }
        let names = columns.map(\.name) + system.map(\.rawValue)
        var opaque = Set(names.filter { types[bare.source(of: $0)]?.isOpaque(dialect) == true })
        let idKind = types[bare.source(of: .id)]?.idKind(dialect) ?? .text
        if idKind != .text { opaque.insert(SystemColumn.id.rawValue) }
        // Their columns may be declared as strings.
        if dialect == .sqlite { opaque.formUnion([SystemColumn.createdAt, .updatedAt].map(\.rawValue)) }
        guard try connection.isKey(bare.source(of: .id), of: definition.source) else {
            throw refusal(
                "table-without-key",
                "column \(bare.source(of: .id)) of table \(definition.source) is not a key; add a unique index")
        }
        return TableSchema(
            fixed, columns: columns, systemColumns: system, isOwn: false, idKind: idKind, opaque: opaque)
    }

    static func refusal(_ code: String, _ message: String) -> StoreFailure {
        .refused(Refusal(500, code, message))
    }

    private static func served(
        _ column: DatabaseColumn, _ definition: TableDefinition, _ dialect: SQLDialect
    ) throws(StoreFailure) -> Column {
        guard let type = column.served(dialect) else {
            throw refusal(
                "column-type",
                "column \(column.name) of table \(definition.source) is \(column.type.isEmpty ? "of no type" : column.type)"
                    + ", which can't be served; name the columns to serve with \"columns\", without it")
        }
        return Column(column.name, type)
    }

    /// The values that the server writes to a column must fit it.
    private static func check(
        _ type: DatabaseColumn, as column: SystemColumn, _ definition: TableDefinition, _ dialect: SQLDialect
    ) throws(StoreFailure) {
        let wanted: (isFine: Bool, words: String)
        switch (column, dialect) {
        case (.id, .postgres): wanted = (type.idKind(dialect) != nil, "text, varchar, uuid or an integer")
        case (.id, .sqlite): wanted = (type.idKind(dialect) != nil, "TEXT or INTEGER")
        case (_, .sqlite): return
        case (.version, _): wanted = (["bigint", "numeric"].contains(type.type), "bigint")
        case (.deleted, _): wanted = (type.type == "boolean", "boolean")
        case (.createdAt, _), (.updatedAt, _): wanted = (type.type.hasPrefix("timestamp"), "timestamptz")
        }
        guard !wanted.isFine else { return }
        throw refusal(
            "column-type",
            "column \(type.name) of table \(definition.source) is \(type.type) and must be \(wanted.words); change its "
                + "type, or name another column with \"map\"")
    }
}
