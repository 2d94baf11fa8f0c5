// The door to a database: statements in, rows out, one at a time. What the statements mean is said elsewhere.

import SynclineCore

/// A row while it is shown.
protocol SQLRow {
    func value(_ index: Int) -> SQLValue
    /// Writes a value as rows have it in a column of a type.
    func encode(_ index: Int, as type: ColumnType, into writer: inout ByteWriter)
}

extension SQLRow {
    func encode(_ index: Int, as type: ColumnType, into writer: inout ByteWriter) {
        writer.append(value: type.value(value(index)))
    }
}

/// A connection, used by one thread at a time.
protocol SQLConnection: AnyObject {
    /// Runs a statement, and shows its rows until told that no more are wanted.
    func run(_ statement: SQLStatement, _ each: (any SQLRow) -> Bool) throws(StoreFailure)
    /// Runs a statement that changes rows; how many it did.
    func change(_ statement: SQLStatement) throws(StoreFailure) -> Int
    /// Runs words of SQL without values and without rows.
    func execute(_ text: String) throws(StoreFailure)
    /// Begins a transaction with the words given.
    func begin(_ text: String) throws(StoreFailure)
    /// The columns of a table with their declared types; none if there is no table.
    func columns(of table: String) throws(StoreFailure) -> [DatabaseColumn]
    /// Whether a column alone tells a table's rows apart.
    func isKey(_ column: String, of table: String) throws(StoreFailure) -> Bool
}

/// Connections to one database.
protocol SQLDatabase: Sendable {
    var dialect: SQLDialect { get }
    /// Waits for a connection and lends it.
    func read<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result
    func write<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result
    /// Throws what keeps the store from being read. It needs no connection that requests wait for, and gives up soon.
    func check() throws(StoreFailure)
    /// Cuts short what waits for the database, now and from now on.
    func interrupt()
    func close()
    /// How its connections are used.
    var pools: [PoolUse] { get }
}

extension SQLConnection {
    func begin(_ text: String) throws(StoreFailure) { try execute(text) }

    func run(_ statement: SQLStatement) throws(StoreFailure) {
        try run(statement) { _ in true }
    }

    /// The values of the first row.
    func first(_ statement: SQLStatement, count: Int) throws(StoreFailure) -> [SQLValue]? {
        var values: [SQLValue]?
        try run(statement) { row in
            values = (0..<count).map { row.value($0) }
            return false
        }
        return values
    }

    /// Between `begin` and the end of a transaction; what throws is taken back.
    func transaction<Result>(
        _ begin: String, _ body: () throws(StoreFailure) -> (result: Result, keeps: Bool)
    ) throws(StoreFailure) -> Result {
        try self.begin(begin)
        do throws(StoreFailure) {
            let (result, keeps) = try body()
            try execute(keeps ? "COMMIT" : "ROLLBACK")
            return result
        } catch {
            // The first failure is the one to tell.
            _ = try? execute("ROLLBACK")
            throw error
        }
    }
}
