// A statement that runs on a store and returns one row at a time.

import CSQLite
package import SynclineCore

package final class RunningStatement {
    private let connection: StatementConnection
    private let statement: OpaquePointer
    /// The names of the columns of its rows.
    package let columns: [String]

    /// - Parameters:
    ///   - pool: Where the database comes from, and where it waits afterwards; nil to open one for this statement.
    ///   - isStopped: Called again and again while the statement runs; it is cancelled when this returns true.
    package init(
        _ text: String, _ arguments: SQLArguments = [], on source: SQLSource, _ pool: DatabasePool? = nil,
        isStopped: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) throws(SyncError) {
        if isStopped() { throw .queryCancelled }
        connection = try StatementConnection(source, pool, isStopped: isStopped)
        statement = try connection.prepare(text)
        let names = (0..<sqlite3_column_count(statement)).map { [statement] column in
            sqlite3_column_name(statement, column).map { String(cString: $0) } ?? ""
        }
        columns = SQLName.distinct(names)
        try arguments.bind(to: statement)
    }

    deinit { sqlite3_finalize(statement) }

    /// The tables of the store that it reads as of its own moment.
    package var tables: [String] { connection.storedTables.sorted() }

    /// Returns the next row, or nil after the last one.
    package func next() throws(SyncError) -> SQLRow? {
        switch sqlite3_step(statement) {
        case SQLITE_ROW:
            let values = columns.indices.map { Value(column: Int32($0), of: statement) }
            return SQLRow(columns: columns, values: values)
        case SQLITE_DONE: return nil
        case let code: throw connection.error(code)
        }
    }
}
