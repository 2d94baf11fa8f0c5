// What an operator says about a table: its columns, what deleting means, and who may do what. It says nothing about where
// the rows are.

import SynclineCore

/// What the values of a column are.
enum ColumnType: String, Hashable, Sendable, CaseIterable {
    /// Unicode, exact.
    case string
    /// A 64-bit integer or a double, as it was given.
    case number
    case boolean
    /// An instant, to the millisecond.
    case date
    /// Anything, as it came; neither compared nor ordered by the database.
    case json
}

/// A column that clients set.
struct Column: Hashable, Sendable {
    var name: String
    var type: ColumnType

    init(_ name: String, _ type: ColumnType) {
        self.name = name
        self.type = type
    }
}

/// What can be done to a table.
enum TableOperation: String, Hashable, Sendable, CaseIterable {
    case read, insert, update, delete, undelete
}

/// Who may do something.
enum Permission: Hashable, Sendable {
    case anonymous
    case authenticated
    /// Those whose token names a role.
    case role(String)
    case disabled
}

/// A table as it is served.
struct TableDefinition: Hashable, Sendable {
    var name: String
    var columns: [Column]
    /// Whether a deleted row stays as a tombstone that clients can see and bring back.
    var softDelete = true
    /// Whether a column that nobody declared is made when the first value for it comes.
    var dynamicSchema = true
    var permissions: [TableOperation: Permission] = [:]
    /// What holds for operations that `permissions` does not name.
    var access = Permission.anonymous
    /// The column that says whose a row is.
    var perUser: String?
    /// The name of the database's table.
    var source: String
    /// Names of the database's columns, where they are not those of the served ones.
    var map: [String: String] = [:]

    init(_ name: String, columns: [Column] = []) {
        self.name = name
        self.columns = columns
        source = name
    }

    func permission(_ operation: TableOperation) -> Permission { permissions[operation] ?? access }
}

/// The columns that are the server's to set.
enum SystemColumn: String, Hashable, Sendable, CaseIterable {
    case id, createdAt, updatedAt, version, deleted

    /// The one of a name, in any letter case.
    init?(anyCase name: String) {
        let lower = name.lowercased()
        guard let column = SystemColumn.allCases.first(where: { $0.rawValue.lowercased() == lower }) else { return nil }
        self = column
    }
}

/// What tables and columns may be called: what a filter can name and both databases can hold.
enum NameRule {
    /// What PostgreSQL keeps of a name.
    static let limit = 63
    /// The server's own tables begin with it.
    static let reservedPrefix = "syncline_"

    /// Why a text can't name a table or column; nil if it can.
    static func fault(_ name: String) -> String? {
        guard let first = name.first else { return "it is empty" }
        if name.utf8.count > limit { return "it has more than \(limit) bytes" }
        if name.lowercased().hasPrefix(reservedPrefix) {
            return "\(reservedPrefix)… is the server's"
        }
        let isFine =
            (first.isLetter || first == "_")
            && name.allSatisfy { character in
                character == "_" || character == "-" || character.isLetter || ("0"..."9").contains(character)
            }
        return isFine ? nil : "only letters, digits, _ and - can be in it, and a letter or _ must be first"
    }

    /// What PostgreSQL and SQLite call what they keep of each row themselves.
    private static let hidden: Set = [
        "tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", "oid", "rowid", "_rowid_",
    ]

    /// Why a text can't name a column; nil if it can.
    static func fault(column name: String) -> String? {
        hidden.contains(name.lowercased()) ? "databases keep that name for themselves" : fault(name)
    }
}
