// A table, and a database, as the database itself describes them. What follows from it is decided elsewhere.

import SynclineGround

/// A table as the database describes it.
struct DatabaseTable: Hashable, Sendable {
    var columns: [DatabaseColumn] = []
    /// The columns that alone identify its rows.
    var keys: Set<String> = []
    /// Whether it is a view, or something else that is not a table.
    var isView = false
    var triggers: [String] = []
    /// Whether the server's role sees only the rows that a policy shows it.
    var hasPolicies = false
    /// Whether the server's role may add columns.
    var mayAlter = true
    /// Whether the server's role may delete rows.
    var mayDelete = true

    func column(_ name: String) -> DatabaseColumn? { columns.first { $0.name.hasSameBytes(as: name) } }
}

/// The properties of the whole database.
struct DatabaseFacts: Hashable, Sendable {
    /// The product and its version.
    var product: String
    var encoding: String
    /// The name of the role that the server uses; nil if there are none.
    var role: String?
    var mayCreateTables = true
    /// Whether nothing can be written, because it is a copy that follows another database, or is set so.
    var isReadOnly = false
    var isStandby = false
    /// The history that PostgreSQL writes, which a failover changes.
    var timeline: Int64?
    /// The number of connections that the database allows; nil if it has no limit.
    var connections: Int?
    /// The number of transactions that may stay prepared.
    var preparedTransactions = 0
}
