// What an app says of its tables: which there are, which of their columns never leave the device, and how what an older
// version of the app stored becomes what this one expects. Tables and columns need no declaration; a schema adds to that.

/// The tables of an app, in one version.
public struct Schema: Hashable, Sendable {
    /// Raised by the app with each migration, from 1. A store that a newer version opened is refused by an older one.
    public var version: UInt32
    /// The tables that are declared.
    public var tables: [TableSchema]
    /// Whether tables that are not declared are refused.
    public var isStrict: Bool
    /// The steps to each version, oldest first.
    public var migrations: [Migration]

    /// Declares tables.
    public init(
        version: UInt32, tables: [TableSchema] = [], isStrict: Bool = false, migrations: [Migration] = []
    ) {
        self.version = version
        self.tables = tables
        self.isStrict = isStrict
        self.migrations = migrations
    }
}

/// A table that is declared.
public struct TableSchema: Hashable, Sendable {
    /// The table's name.
    public var name: String
    /// Columns that never leave the device.
    public var localColumns: [String]

    /// Declares a table.
    public init(_ name: String, localColumns: [String] = []) {
        self.name = name
        self.localColumns = localColumns
    }
}

/// What makes a version of what the version before stored.
public struct Migration: Hashable, Sendable {
    /// What a migration does to a column.
    public enum Step: Hashable, Sendable {
        /// The values of a column are under another name from now on.
        case renameColumn(table: String, from: String, to: String)
        /// The values of a column are no more, also those that were not pushed.
        case dropColumn(table: String, column: String)

        package var table: String {
            switch self {
            case .renameColumn(let table, _, _), .dropColumn(let table, _): table
            }
        }
    }

    /// The version it leads to.
    public var version: UInt32
    /// What is done, in this order.
    public var steps: [Step]

    /// Steps to a version.
    public init(to version: UInt32, steps: [Step]) {
        self.version = version
        self.steps = steps
    }
}

// MARK: Checks

extension Schema {
    /// Refuses a schema that can't be meant.
    package func check() throws(SyncError) {
        guard version > 0 else {
            throw SyncError(.invalidConfiguration, "a schema's version is 1 or more")
        }
        var names: Set<[UInt8]> = []
        for table in tables {
            try Schema.check(table: table.name)
            guard names.insert(Array(table.name.utf8)).inserted else {
                throw SyncError(.invalidConfiguration, "the schema declares the table \"\(table.name)\" twice")
            }
            var columns: Set<String> = []
            for column in table.localColumns {
                try Schema.check(column: column, of: table.name)
                guard columns.insert(column).inserted else {
                    throw SyncError(
                        .invalidConfiguration, "the schema declares the column \"\(table.name).\(column)\" twice")
                }
            }
        }
        var last: UInt32 = 0
        for migration in migrations {
            guard migration.version > last, migration.version <= version else {
                throw SyncError(
                    .invalidConfiguration, "the migration to version \(migration.version) is out of its place",
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

    fileprivate static func check(column: String, of table: String) throws(SyncError) {
        let isOthers = column == "id" || Item.systemColumns.contains(column) || column.hasPrefix("__")
        if isOthers {
            throw SyncError(
                .invalidConfiguration, "the column \"\(table).\(column)\" is not the app's to declare",
                hint: "The id, system columns and names that begin with \"__\" stay as they are.")
        }
        guard !column.isEmpty, !column.utf8.contains(0) else {
            throw SyncError(.invalidConfiguration, "a column of \(table) has no usable name in the schema")
        }
    }
}

extension Migration.Step {
    fileprivate func check() throws(SyncError) {
        try Schema.check(table: table)
        switch self {
        case .renameColumn(let table, let from, let to):
            try Schema.check(column: from, of: table)
            try Schema.check(column: to, of: table)
            guard from != to else {
                throw SyncError(.invalidConfiguration, "a migration renames \"\(table).\(from)\" to itself")
            }
        case .dropColumn(let table, let column):
            try Schema.check(column: column, of: table)
        }
    }
}
