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
        var values: [Value] = []
        values.reserveCapacity(columns.count)
        return try appendNext(to: &values) == nil ? nil : SQLRow(columns: columns, of: values)
    }

    /// Appends the values of the next row, and returns an estimate of their size. Nil after the last one.
    func appendNext(to values: inout [Value]) throws(SyncError) -> Int? {
        switch sqlite3_step(statement) {
        case SQLITE_ROW:
            var size = 64
            for column in 0..<columns.count {
                let value = Value(column: Int32(column), of: statement)
                size += value.resultSize
                values.append(value)
            }
            return size
        case SQLITE_DONE: return nil
        case let code: throw connection.error(code)
        }
    }
}
