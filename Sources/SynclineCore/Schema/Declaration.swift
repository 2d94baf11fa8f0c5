// What a store knows of its app's schema. It is in the log and in the state, so a process that says nothing of a schema,
// as the tool does, keeps to it as well, and a fold never asks the process it runs in.

/// The schema as a store recorded it.
public struct Declaration: Hashable, Sendable {
    /// The version of the newest schema the store was opened with; 0 if no app has said one.
    public let version: UInt32
    /// Whether tables that are not declared are refused.
    public let isStrict: Bool
    /// The tables that are declared.
    public let tables: [TableSchema]
    /// Those with columns that never leave the device.
    private let local: [LocalColumns]

    private struct LocalColumns: Hashable, Sendable {
        var table: String
        var columns: Set<String>
    }

    /// What a store recorded.
    public init(version: UInt32, isStrict: Bool, tables: [TableSchema]) {
        self.version = version
        self.isStrict = isStrict
        self.tables = tables
        local = tables.filter { !$0.localColumns.isEmpty }
            .map { LocalColumns(table: $0.name, columns: Set($0.localColumns)) }
    }

    /// What a store knows that nobody declared anything to.
    static let none = Declaration(version: 0, isStrict: false, tables: [])

    /// A table's columns that never leave the device; nil if it has none.
    package func localColumns(of table: String) -> Set<String>? {
        if local.isEmpty { return nil }
        return local.first { $0.table.isSpelled(as: table) }?.columns
    }

    package func declares(_ table: String) -> Bool {
        tables.contains { $0.name.isSpelled(as: table) }
    }

    /// Refuses a table that is not declared, if the store is strict.
    package func check(_ table: String) throws(SyncError) {
        guard isStrict, !declares(table) else { return }
        let shown = tables.prefix(20).map(\.name).joined(separator: ", ") + (tables.count > 20 ? ", …" : "")
        throw SyncError(
            .unknownTable, "the table \"\(table)\" is not declared",
            hint: tables.isEmpty ? "No table is." : "Declared are: \(shown).")
    }
}

extension Declaration? {
    /// Refuses a table that is not declared, if the store is strict.
    package func check(_ table: String) throws(SyncError) {
        if let self { try self.check(table) }
    }
}

extension Declaration {
    /// Local columns follow the steps of a migration.
    func following(_ step: Migration.Step) -> Declaration {
        let tables = tables.map { table in
            guard table.name.isSpelled(as: step.table) else { return table }
            switch step {
            case .renameColumn(_, let from, let to):
                return TableSchema(table.name, localColumns: table.localColumns.map { $0 == from ? to : $0 })
            case .dropColumn(_, let column):
                return TableSchema(table.name, localColumns: table.localColumns.filter { $0 != column })
            }
        }
        return Declaration(version: version, isStrict: isStrict, tables: tables)
    }

    /// The local columns of each table that another declaration does not have as local.
    func localColumns(missingIn other: Declaration) -> [(table: String, columns: Set<String>)] {
        local.compactMap { own in
            let missing = own.columns.subtracting(other.localColumns(of: own.table) ?? [])
            return missing.isEmpty ? nil : (own.table, missing)
        }
    }
}

extension String {
    /// Whether it has the same bytes: the state tells tables apart by them, Swift takes some spellings for the same.
    func isSpelled(as other: String) -> Bool { self == other && utf8.elementsEqual(other.utf8) }
}

// MARK: In the state

extension SettingName {
    /// The declaration. No app can give a setting a name like this.
    static let schema = "schema\0"
}

extension Declaration {
    /// As a setting holds it.
    var value: Value {
        .object([
            .init("version", .integer(Int64(version))), .init("strict", .bool(isStrict)),
            .init("tables", .array(tables.map { .array(([$0.name] + $0.localColumns).map(Value.string)) })),
        ])
    }

    init(_ value: Value) throws(StateError) {
        guard case .object(let members) = value, members.count == 3, case .integer(let version) = members[0].value,
            case .bool(let isStrict) = members[1].value, case .array(let tables) = members[2].value
        else { throw .malformed("the schema of the state") }
        self.init(
            version: UInt32(truncatingIfNeeded: version), isStrict: isStrict,
            tables: tables.compactMap { table in
                guard case .array(let parts) = table else { return nil }
                let names = parts.compactMap { if case .string(let name) = $0 { name } else { nil } }
                return names.first.map { TableSchema($0, localColumns: Array(names.dropFirst())) }
            })
    }
}

extension StateReader {
    /// The schema the store has recorded; nil if none was ever declared.
    package var declaration: Declaration? {
        get throws(StateError) {
            guard let value = try setting(SettingName.schema) else { return nil }
            return try Declaration(value)
        }
    }
}
