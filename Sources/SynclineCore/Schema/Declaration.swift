// The app's schema as the store has recorded it. It is in the log and in the state, so a process without a schema,
// such as the tool, follows it too, and folding does not depend on the running process.

package import SynclineGround

/// The schema as a store recorded it.
public struct Declaration: Hashable, Sendable {
    /// The version of the newest schema the store was opened with; 0 if there was none.
    public let version: UInt32
    /// Whether undeclared tables are refused.
    public let isStrict: Bool
    /// The declared tables.
    public let tables: [TableSchema]
    /// The tables with columns that never leave the device.
    private let local: [LocalColumns]
    /// The tables with columns that have a default.
    private let defaults: [Defaults]

    private struct LocalColumns: Hashable, Sendable {
        var table: String
        var columns: Set<ExactString>
    }

    private struct Defaults: Hashable, Sendable {
        var table: String
        var row: Row
    }

    /// Creates a declaration.
    public init(version: UInt32, isStrict: Bool, tables: [TableSchema]) {
        self.version = version
        self.isStrict = isStrict
        self.tables = tables
        local = tables.filter { !$0.localColumns.isEmpty }
            .map { LocalColumns(table: $0.name, columns: $0.localColumns.exact) }
        defaults = tables.compactMap { table in
            let members = table.columns.compactMap { column in
                column.defaultValue.map { Value.Member(column.name, $0) }
            }
            return members.isEmpty ? nil : Defaults(table: table.name, row: Row(members))
        }
    }

    /// The declaration of a store that was never opened with a schema.
    static let none = Declaration(version: 0, isStrict: false, tables: [])

    /// Returns a table's columns that never leave the device, or nil if it has none.
    package func localColumns(of table: String) -> Set<ExactString>? {
        if local.isEmpty { return nil }
        return local.first { $0.table.isSpelled(as: table) }?.columns
    }

    /// Whether a table has columns with a default.
    var hasDefaults: Bool { !defaults.isEmpty }

    /// Returns the values that a table's rows show for missing columns, or nil if there are none.
    package func defaults(of table: String) -> Row? {
        if defaults.isEmpty { return nil }
        return defaults.first { $0.table.isSpelled(as: table) }?.row
    }

    /// Returns the server's names of a table's columns, or nil if they are the same.
    package func wireNames(of table: String) -> WireNames? {
        tables.first { $0.name.isSpelled(as: table) }.flatMap { WireNames($0) }
    }

    package func declares(_ table: String) -> Bool {
        tables.contains { $0.name.isSpelled(as: table) }
    }

    /// Throws if the store is strict and the table is not declared.
    package func check(_ table: String) throws(SyncError) {
        guard isStrict, !declares(table) else { return }
        let shown = tables.prefix(20).map(\.name).joined(separator: ", ") + (tables.count > 20 ? ", …" : "")
        throw SyncError(
            .unknownTable, "the table \"\(table)\" is not declared",
            hint: tables.isEmpty ? "No tables are declared." : "Declared tables: \(shown).")
    }
}

extension Declaration? {
    /// Throws if the store is strict and the table is not declared.
    package func check(_ table: String) throws(SyncError) {
        if let self { try self.check(table) }
    }
}

extension Declaration {
    /// Returns the declaration after a migration step.
    func following(_ step: SchemaStep) -> Declaration {
        let tables = tables.compactMap { table -> TableSchema? in
            guard table.name.isSpelled(as: step.table) else { return table }
            var table = table
            switch step {
            case .renameColumn(_, let from, let to):
                table.localColumns = table.localColumns.map { $0.hasSameBytes(as: from) ? to : $0 }
                for index in table.columns.indices where table.columns[index].name.hasSameBytes(as: from) {
                    table.columns[index].name = to
                }
            case .dropColumn(_, let column):
                table.localColumns.removeAll { $0.hasSameBytes(as: column) }
                table.columns.removeAll { $0.name.hasSameBytes(as: column) }
            case .changeValues, .setType: break
            case .dropTable: return nil
            }
            return table
        }
        return Declaration(version: version, isStrict: isStrict, tables: tables)
    }

    /// Returns the tables whose columns have other server names or defaults than in another declaration.
    package func changedTables(since other: Declaration) -> [String] {
        var names: [String] = []
        for table in tables + other.tables where !names.contains(where: { $0.isSpelled(as: table.name) }) {
            let isSame =
                wireNames(of: table.name) == other.wireNames(of: table.name)
                && defaults(of: table.name) == other.defaults(of: table.name)
            if !isSame { names.append(table.name) }
        }
        return names
    }

    /// Returns each table's local columns that are not local in another declaration.
    func localColumns(missingIn other: Declaration) -> [(table: String, columns: Set<ExactString>)] {
        local.compactMap { own in
            let missing = own.columns.subtracting(other.localColumns(of: own.table) ?? [])
            return missing.isEmpty ? nil : (own.table, missing)
        }
    }
}

extension String {
    /// Returns whether it has the same bytes. The state distinguishes tables by their bytes, while Swift treats some
    /// spellings as equal.
    func isSpelled(as other: String) -> Bool { self == other && hasSameBytes(as: other) }
}

// MARK: In the state

extension SettingName {
    /// The setting that holds the declaration. An app can't use such a name.
    package static let schema = "schema\0"
}

extension Declaration {
    /// The value of the setting.
    package var value: Value {
        .object([
            .init("version", .integer(Int64(version))), .init("strict", .bool(isStrict)),
            .init("tables", .array(tables.map(\.value))),
        ])
    }

    package init(_ value: Value) throws(SyncError) {
        guard case .object(let members) = value, members.count == 3, case .integer(let version) = members[0].value,
            case .bool(let isStrict) = members[1].value, case .array(let tables) = members[2].value
        else { throw .malformed("the schema of the state") }
        self.init(
            version: UInt32(truncatingIfNeeded: version), isStrict: isStrict,
            tables: try tables.map { table throws(SyncError) in try TableSchema(state: table) })
    }
}

extension TableSchema {
    /// The value in the setting: name, local columns, columns.
    fileprivate var value: Value {
        .array([.string(name), .array(localColumns.map(Value.string)), .array(columns.map(\.value))])
    }

    fileprivate init(state value: Value) throws(SyncError) {
        guard case .array(let parts) = value, parts.count == 3, case .string(let name) = parts[0],
            case .array(let local) = parts[1], case .array(let columns) = parts[2]
        else { throw .malformed("a table in the schema of the state") }
        self.init(
            name, columns: try columns.map { column throws(SyncError) in try ColumnSchema(state: column) },
            localColumns: local.compactMap { if case .string(let name) = $0 { name } else { nil } })
    }
}

extension ColumnSchema {
    /// The value in the setting: name, name on the server, and the default if there is one.
    fileprivate var value: Value {
        .array([.string(name), .string(serverName)] + (defaultValue.map { [$0] } ?? []))
    }

    fileprivate init(state value: Value) throws(SyncError) {
        guard case .array(let parts) = value, 2...3 ~= parts.count, case .string(let name) = parts[0],
            case .string(let serverName) = parts[1]
        else { throw .malformed("a column in the schema of the state") }
        self.init(name, onServer: serverName, default: parts.count == 3 ? parts[2] : nil)
    }
}

extension StateReader {
    /// The schema the store has recorded; nil if none was ever declared.
    package var declaration: Declaration? {
        get throws(SyncError) {
            guard let value = try setting(SettingName.schema) else { return nil }
            return try Declaration(value)
        }
    }
}
