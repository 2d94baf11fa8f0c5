// An app's schema: its tables, the columns that never leave the device, and how data stored by an older version of
// the app is migrated. Tables and columns need no declaration; a schema adds to them.

import SynclineGround

/// The declared tables of one version of an app.
public struct SyncSchema: Sendable {
    /// The version, which the app increases with each migration, from 1. A store that was opened with a newer
    /// version can't be opened with an older one.
    public var version: UInt32
    /// The declared tables.
    public var tables: [TableSchema]
    /// Whether undeclared tables are refused.
    public var isStrict: Bool
    /// The migrations, oldest first.
    public var migrations: [Migration]

    /// Creates a schema.
    public init(
        version: UInt32, tables: [TableSchema] = [], isStrict: Bool = false, migrations: [Migration] = []
    ) {
        self.version = version
        self.tables = tables
        self.isStrict = isStrict
        self.migrations = migrations
    }
}

/// A declared table.
public struct TableSchema: Hashable, Sendable {
    /// The table's name.
    public var name: String
    /// The columns with a type, a server name or a default. Others need no declaration.
    public var columns: [ColumnSchema]
    /// Columns that never leave the device.
    public var localColumns: [String]
    /// Whether the table never leaves the device: its rows are not pushed, and it can't be pulled.
    public var isLocal: Bool

    /// Creates a declaration of a table.
    public init(
        _ name: String, columns: [ColumnSchema] = [], localColumns: [String] = [], isLocal: Bool = false
    ) {
        self.name = name
        self.columns = columns
        self.localColumns = localColumns
        self.isLocal = isLocal
    }
}

/// A declared column: its type, its name on the server, if different, and its default.
public struct ColumnSchema: Hashable, Sendable {
    /// The column's name in the store and in the app.
    public var name: String
    /// What its values are.
    public var type: ColumnType
    /// Its name on the server.
    public var serverName: String
    /// The value that a row shows if it lacks the column; nil for none.
    public var defaultValue: Value?

    /// Creates a declaration of a column.
    public init(
        _ name: String, _ type: ColumnType = .any, onServer serverName: String? = nil,
        default defaultValue: Value? = nil
    ) {
        self.name = name
        self.type = type
        self.serverName = serverName ?? name
        self.defaultValue = defaultValue
    }

    /// Returns a declaration of a column.
    public static func column(
        _ name: String, _ type: ColumnType = .any, onServer serverName: String? = nil,
        default defaultValue: Value? = nil
    ) -> ColumnSchema {
        ColumnSchema(name, type, onServer: serverName, default: defaultValue)
    }
}

/// The steps that convert stored data from the previous version.
public struct Migration: Sendable {
    /// A step of a migration.
    public enum Step: Sendable {
        /// Renames a column, keeping its values.
        case renameColumn(table: String, from: String, to: String)
        /// Removes a column and its values, including those not yet pushed.
        case dropColumn(table: String, column: String)
        /// Adds a default for a column, which rows without the column show. It is not sent.
        case addColumn(table: String, column: String, default: Value)
        /// Replaces each value of a column. The function is called once for each value when the store is first
        /// opened with this schema, and its results are recorded.
        case transform(table: String, column: String, @Sendable (Value) -> Value)
        /// Gives a column another type. The function says what each value becomes, and its results are recorded; without
        /// one, values stay as they are. Nothing is pushed because of it.
        case setType(
            table: String, column: String, to: ColumnType, converting: (@Sendable (Value) -> Value)? = nil)
        /// Removes a table's rows and cursors. If it has pending operations, opening the store fails with
        /// `pending-changes`, unless they may be discarded.
        case dropTable(String, discardsPending: Bool = false)

        package var table: String {
            switch self {
            case .renameColumn(let table, _, _), .dropColumn(let table, _), .addColumn(let table, _, _),
                .transform(let table, _, _), .setType(let table, _, _, _), .dropTable(let table, _):
                table
            }
        }
    }

    /// The version after the migration.
    public var version: UInt32
    /// The steps, in order.
    public var steps: [Step]

    /// Creates a migration.
    public init(to version: UInt32, steps: [Step]) {
        self.version = version
        self.steps = steps
    }
}

// MARK: The record

extension SyncSchema {
    /// The declaration that a store records: the tables, with the defaults of columns that migrations added.
    package var declaration: Declaration {
        var tables = tables
        for (table, column, value) in addedColumns {
            guard let place = tables.firstIndex(where: { $0.name.isSpelled(as: table) }) else {
                // A strict store does not use undeclared tables.
                if !isStrict { tables.append(TableSchema(table, columns: [ColumnSchema(column, default: value)])) }
                continue
            }
            if let known = tables[place].columns.firstIndex(where: { $0.name.hasSameBytes(as: column) }) {
                let declared = tables[place].columns[known].defaultValue
                tables[place].columns[known].defaultValue = declared ?? value
            } else {
                tables[place].columns.append(ColumnSchema(column, default: value))
            }
        }
        // Types have a catalogue of their own, to which models and commands add, too.
        for table in tables.indices {
            for column in tables[table].columns.indices { tables[table].columns[column].type = .any }
            tables[table].isLocal = false
        }
        return Declaration(version: version, isStrict: isStrict, tables: tables)
    }

    /// The types that it declares, and the tables that never leave the device.
    package var types: [TypeDeclaration] {
        tables.compactMap { table in
            let typed = table.columns.filter { $0.type != .any }.map { TypedColumn($0.name, $0.type) }
            if typed.isEmpty, !table.isLocal { return nil }
            return TypeDeclaration(table: table.name, columns: typed, isLocal: table.isLocal)
        }
    }

    /// The columns that steps added and no later step removed, under their latest names.
    private var addedColumns: [(table: String, column: String, value: Value)] {
        var added: [(table: String, column: String, value: Value)] = []
        for step in migrations.flatMap(\.steps) {
            let isHere = { (table: String) in table.isSpelled(as: step.table) }
            switch step {
            case .addColumn(let table, let column, let value):
                added.removeAll { isHere($0.table) && $0.column.hasSameBytes(as: column) }
                added.append((table, column, value))
            case .renameColumn(_, let from, let to):
                for index in added.indices
                where isHere(added[index].table) && added[index].column.hasSameBytes(as: from) {
                    added[index].column = to
                }
            case .dropColumn(_, let column): added.removeAll { isHere($0.table) && $0.column.hasSameBytes(as: column) }
            case .dropTable: added.removeAll { isHere($0.table) }
            case .transform, .setType: break
            }
        }
        return added
    }
}

// MARK: Checks

extension SyncSchema {
    /// Throws if the schema is not valid.
    package func check() throws(SyncError) {
        guard version > 0 else {
            throw SyncError(.invalidConfiguration, "a schema's version must be 1 or more")
        }
        var names: Set<[UInt8]> = []
        for table in tables {
            try SyncSchema.check(table: table.name)
            guard names.insert(Array(table.name.utf8)).inserted else {
                throw SyncError(.invalidConfiguration, "the schema declares the table \"\(table.name)\" twice")
            }
            var columns: Set<ExactString> = []
            for column in table.localColumns {
                try SyncSchema.check(column: column, of: table.name)
                guard columns.insert(ExactString(column)).inserted else {
                    throw SyncError(
                        .invalidConfiguration, "the schema declares the column \"\(table.name).\(column)\" twice")
                }
            }
            try table.checkColumns()
            if table.isLocal { try table.checkLocal() }
        }
        var last: UInt32 = 0
        for migration in migrations {
            guard migration.version > last, migration.version <= version else {
                throw SyncError(
                    .invalidConfiguration, "the migration to version \(migration.version) is out of order",
                    hint: "List migrations by version, each once, none beyond the schema's own.")
            }
            last = migration.version
            for step in migration.steps { try step.check() }
        }
    }

    fileprivate static func check(table: String) throws(SyncError) {
        do throws(SyncError) {
            try Item.check(table: table)
        } catch {
            throw SyncError(.invalidConfiguration, "the schema is wrong: \(error.message)", hint: error.hint)
        }
    }

    fileprivate static func check(_ value: Value, of column: String, _ table: String) throws(SyncError) {
        do throws(SyncError) {
            _ = try Item([Value.Member(column, value)])
        } catch {
            throw SyncError(
                .invalidConfiguration, "the default of \(table).\(column) can't be stored: \(error.message)",
                hint: error.hint)
        }
    }

    fileprivate static func check(column: String, of table: String) throws(SyncError) {
        let isOthers = column == "id" || Item.systemColumns.contains(column) || column.hasPrefix("__")
        if isOthers {
            throw SyncError(
                .invalidConfiguration, "the column \"\(table).\(column)\" can't be declared by the app",
                hint: "The id, system columns and names that begin with \"__\" are reserved.")
        }
        guard !column.isEmpty, !column.utf8.contains(0) else {
            throw SyncError(.invalidConfiguration, "a column of \(table) has no usable name in the schema")
        }
    }
}

extension Migration.Step {
    fileprivate func check() throws(SyncError) {
        try SyncSchema.check(table: table)
        switch self {
        case .renameColumn(let table, let from, let to):
            try SyncSchema.check(column: from, of: table)
            try SyncSchema.check(column: to, of: table)
            guard !from.hasSameBytes(as: to) else {
                throw SyncError(.invalidConfiguration, "a migration renames \"\(table).\(from)\" to itself")
            }
        case .dropColumn(let table, let column), .transform(let table, let column, _),
            .setType(let table, let column, _, _):
            try SyncSchema.check(column: column, of: table)
        case .addColumn(let table, let column, let value):
            try SyncSchema.check(column: column, of: table)
            try SyncSchema.check(value, of: column, table)
        case .dropTable: break
        }
    }
}

extension TableSchema {
    fileprivate func checkLocal() throws(SyncError) {
        let named = columns.first { !$0.serverName.hasSameBytes(as: $0.name) }?.name
        guard let column = named ?? localColumns.first else { return }
        throw SyncError(
            .invalidConfiguration,
            "\(name) never leaves the device, so its column \"\(column)\" is local and has no name on the server",
            hint: "Declare it without.")
    }

    fileprivate func checkColumns() throws(SyncError) {
        var names: Set<ExactString> = []
        var serverNames: Set<ExactString> = []
        for column in columns {
            try SyncSchema.check(column: column.name, of: name)
            try SyncSchema.check(column: column.serverName, of: name)
            if let value = column.defaultValue {
                try SyncSchema.check(value, of: column.name, name)
                guard column.type.fits(value) else {
                    throw SyncError(
                        .invalidConfiguration, "the default of \(name).\(column.name) does not fit its type",
                        hint: "Use \(column.type.wanted).")
                }
            }
            guard names.insert(ExactString(column.name)).inserted else {
                throw SyncError(
                    .invalidConfiguration, "the schema declares the column \"\(name).\(column.name)\" twice")
            }
            guard serverNames.insert(ExactString(column.serverName)).inserted else {
                throw SyncError(
                    .invalidConfiguration,
                    "two columns of \(name) have the name \"\(column.serverName)\" on the server")
            }
            if !column.serverName.hasSameBytes(as: column.name), localColumns.containsExactly(column.name) {
                throw SyncError(
                    .invalidConfiguration,
                    "\(name).\(column.name) never leaves the device, and has no name on the server")
            }
        }
    }
}
