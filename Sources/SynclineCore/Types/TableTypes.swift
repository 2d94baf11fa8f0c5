// The types of columns: one catalogue in the state, with an entry for each table that has declared ones.

import SynclineGround

/// The types of a table's columns.
package struct TableTypes: Hashable, Sendable {
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

    package subscript(table: String) -> TableTypes {
        get { tables[ExactString(table)] ?? TableTypes() }
        set { tables[ExactString(table)] = newValue.isEmpty ? nil : newValue }
    }

    /// The tables with declared columns, by name.
    package var names: [String] { tables.keys.sorted().map(\.text) }

    /// Whether there is a column of decimals.
    package var hasDecimals: Bool { tables.values.contains { $0.columns.contains { $0.type.isDecimal } } }

    /// All of it as text, which is the same for equal types.
    package var text: String {
        names.map { table in
            let columns = self[table].columns.map { "\($0.name) \($0.type.rawValue)" }
            return "\n\(table): " + columns.joined(separator: ", ")
        }.joined()
    }
}

/// Types that are declared for columns of one table.
package struct TypeDeclaration: Hashable, Sendable {
    package var table: String
    package var columns: [TypedColumn]

    package init(table: String, columns: [TypedColumn]) {
        self.table = table
        self.columns = columns
    }
}

// MARK: In the state

extension TableTypes {
    /// The value of the setting; nil if there is nothing to keep.
    var value: Value? {
        if isEmpty { return nil }
        return .object(columns.map { .init($0.name, .string($0.type.rawValue)) })
    }

    init?(_ value: Value) {
        guard case .object(let members) = value else { return nil }
        for member in members {
            guard case .string(let name) = member.value, let type = ColumnType(rawValue: name) else { return nil }
            self[member.name] = type
        }
    }
}
