// An operator's definition of a table: its columns, the meaning of a delete, and the permissions. It does not depend on
// where the rows are stored.

package import SynclineCore
package import SynclineGround

/// A column that clients can set.
package typealias Column = TypedColumn

/// An operation on a table.
package enum TableOperation: String, Hashable, Sendable, CaseIterable {
    case read, insert, update, delete, undelete
}

/// The callers that may perform an operation.
package enum Permission: Hashable, Sendable {
    case anonymous
    case authenticated
    /// Callers whose token names a role.
    case role(String)
    case disabled
}

/// The definition of a served table.
package struct TableDefinition: Hashable, Sendable {
    package var name: String
    package var columns: [Column]
    /// The callers that may see and set some columns, if these are not all that may read the row.
    package var readers: [ExactString: Permission] = [:]
    /// Whether a deleted row stays as a tombstone that clients can see and undelete.
    package var softDelete = true
    /// Whether an undeclared column is created when its first value arrives.
    package var dynamicSchema = true
    /// Whether each row keeps the columns and values that clients gave it, as in a table without columns.
    package var holdsDocuments = false
    package var permissions: [TableOperation: Permission] = [:]
    /// The permission for operations that `permissions` does not name.
    package var access = Permission.anonymous
    /// The column with a row's owner.
    package var perUser: String?
    /// The rules of its rows.
    package var rules = TableRules()
    /// The name of the database's table.
    package var source: String
    /// The database's names of columns, if they differ from the served names.
    package var map: [ExactString: String] = [:]

    package init(_ name: String, columns: [Column] = []) {
        self.name = name
        self.columns = columns
        source = name
    }

    /// The same definition for a table with another name.
    package func named(_ name: String) -> TableDefinition {
        var definition = self
        (definition.name, definition.source) = (name, name)
        return definition
    }

    package func permission(_ operation: TableOperation) -> Permission { permissions[operation] ?? access }

    /// The owner of a row with these columns; nil if it has none.
    package func owner(of columns: Row) -> String? {
        guard let perUser, case .string(let owner)? = columns[perUser] else { return nil }
        return owner
    }

    /// Whether a row with these columns is visible to a caller who sees the rows of an owner.
    package func shows(_ columns: Row, to owner: String?) -> Bool {
        guard perUser != nil else { return true }
        guard let owner, let rowOwner = self.owner(of: columns) else { return false }
        return rowOwner.hasSameBytes(as: owner)
    }
}

/// The columns that only the server sets.
package enum SystemColumn: String, Hashable, Sendable, CaseIterable {
    case id, createdAt, updatedAt, version, deleted

    /// The column with a name in any letter case.
    package init?(anyCase name: String) {
        let lower = name.lowercased()
        guard let column = SystemColumn.allCases.first(where: { $0.rawValue.lowercased() == lower }) else { return nil }
        self = column
    }
}

/// The rules for names of tables and columns: a filter must be able to contain them and both databases must be able to
/// store them.
package enum NameRule {
    /// PostgreSQL's limit for a name.
    package static let limit = 63
    /// The prefix of the server's own tables.
    package static let reservedPrefix = "syncline_"

    /// The reason why a string can't name a table or column; nil if it can.
    package static func fault(_ name: String) -> String? {
        guard let first = name.first else { return "it is empty" }
        if name.utf8.count > limit { return "it has more than \(limit) bytes" }
        if name.lowercased().hasPrefix(reservedPrefix) {
            return "\(reservedPrefix)… is reserved for the server"
        }
        let isFine =
            (first.isLetter || first == "_")
            && name.allSatisfy { character in
                character == "_" || character == "-" || character.isLetter || ("0"..."9").contains(character)
            }
        return isFine ? nil : "it may contain only letters, digits, _ and -, and must start with a letter or _"
    }

    /// The names of the hidden columns of PostgreSQL and SQLite.
    private static let hidden: Set = [
        "tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", "oid", "rowid", "_rowid_",
    ]

    /// The reason why a string can't name a column; nil if it can.
    package static func fault(column name: String) -> String? {
        hidden.contains(name.lowercased()) ? "databases reserve that name" : fault(name)
    }
}
