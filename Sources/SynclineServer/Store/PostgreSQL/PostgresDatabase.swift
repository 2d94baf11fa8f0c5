// A database of PostgreSQL, which any number of servers may share: they have no state of their own, and writers of all of
// them stand in one line at the row that the change numbers come from.

import CPostgres

final class PostgresDatabase: SQLDatabase {
    let dialect = SQLDialect.postgres
    private let pool: ConnectionPool<PostgresConnection>

    init(url: String, connections: Int = 8) throws(StoreFailure) {
        // That it can be reached is found out at once.
        _ = try PostgresConnection(url: url)
        pool = ConnectionPool(limit: connections) { () throws(StoreFailure) in try PostgresConnection(url: url) }
    }

    /// A connection that was idle may have been lost since: what only reads is tried once more on another.
    func read<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        do throws(StoreFailure) {
            return try write(body)
        } catch {
            guard case .busy = error else { throw error }
            return try write(body)
        }
    }

    func write<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        try pool.withConnection(isGood: { $0.isGood }) { connection throws(StoreFailure) in try body(connection) }
    }

    func close() { pool.drain() }
}
