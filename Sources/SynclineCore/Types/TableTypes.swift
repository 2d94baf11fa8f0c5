// The types of columns, and the tables that never leave the device: one catalogue in the state, with an entry for each
// table of which something is declared.

import SynclineGround

/// The types of a table's columns, and whether its rows never leave the device.
package struct TableTypes: Hashable, Sendable {
    package var isLocal = false
    private var declared: [ExactString: ColumnType] = [:]

    package init() {}

    package init(_ columns: some Sequence<TypedColumn>) {
        for column in columns { self[column.name] = column.type }
    }

    /// The type of a column; `any` if it has no declared one.
    package subscript(column: String) -> ColumnType {
        get { TableTypes.ofServer(column) ?? declared[ExactString(column)] ?? .any }
        set { declared[ExactString(column)] = newValue == .any ? nil : newValue }
    }

    /// Whether no column has a declared type.
    package var isEmpty: Bool { declared.isEmpty }

    /// Whether nothing is declared.
    var isDefault: Bool { isEmpty && !isLocal }

    /// The declared columns, by name.
    package var columns: [TypedColumn] {
        declared.sorted { $0.key < $1.key }.map { TypedColumn($0.key.text, $0.value) }
    }

    /// The types of the columns that a server sets, and of the id.
    private static func ofServer(_ column: String) -> ColumnType? {
        switch column {
        case "id", "version": .string
        case "createdAt", "updatedAt": .date
        case "deleted": .boolean
        default: nil
        }
    }
}

/// A column and its type.
package struct TypedColumn: Hashable, Sendable {
    package var name: String
    package var type: ColumnType

    package init(_ name: String, _ type: ColumnType) {
        self.name = name
        self.type = type
    }
}

/// The types of all tables.
package struct TypeCatalog: Hashable, Sendable {
    private var tables: [ExactString: TableTypes] = [:]
    private var local: Set<ExactString> = []

    package subscript(table: String) -> TableTypes {
        get { tables[ExactString(table)] ?? TableTypes() }
        set {
            tables[ExactString(table)] = newValue.isDefault ? nil : newValue
            if newValue.isLocal { local.insert(ExactString(table)) } else { local.remove(ExactString(table)) }
        }
    }

    /// The tables of which something is declared, by name.
    package var names: [String] { tables.keys.sorted().map(\.text) }

    /// The tables that never leave the device.
    package var localTables: [String] { local.sorted().map(\.text) }

    package func isLocal(_ table: String) -> Bool { !local.isEmpty && local.contains(ExactString(table)) }

    /// Whether there is a column of decimals.
    package var hasDecimals: Bool { tables.values.contains { $0.columns.contains { $0.type.isDecimal } } }

    /// All of it as text, which is the same for equal types.
    package var text: String {
        names.map { table in
            let columns = self[table].columns.map { "\($0.name) \($0.type.rawValue)" }
            return "\n\(table)\(self[table].isLocal ? " (local)" : ""): " + columns.joined(separator: ", ")
        }.joined()
    }
}

/// Types that are declared for columns of one table, and whether the table is declared to stay on the device.
package struct TypeDeclaration: Hashable, Sendable {
    package var table: String
    package var columns: [TypedColumn]
    package var isLocal: Bool

    package init(table: String, columns: [TypedColumn], isLocal: Bool = false) {
        self.table = table
        self.columns = columns
        self.isLocal = isLocal
    }
}

// MARK: In the state

extension TableTypes {
    /// The value of the setting; nil if there is nothing to keep.
    package var value: Value? {
        if isDefault { return nil }
        return .array([.bool(isLocal), .object(columns.map { .init($0.name, .string($0.type.rawValue)) })])
    }

    package init?(_ value: Value) {
        guard case .array(let parts) = value, parts.count == 2, case .bool(let isLocal) = parts[0],
            case .object(let members) = parts[1]
        else { return nil }
        self.isLocal = isLocal
        for member in members {
            guard case .string(let name) = member.value, let type = ColumnType(rawValue: name) else { return nil }
            self[member.name] = type
        }
    }
}
