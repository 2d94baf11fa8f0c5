// The interface to a database: it runs statements and returns rows, one at a time. Other files define the statements.

import SynclineCore
import SynclineGround
import SynclineTables

/// Strings that are so few that a comparison with each takes less than a hash. It is an object, because copies of its
/// parts would take most of the time.
final class FewTexts: Sendable {
    private let bytes: [UInt8]
    private let ends: [Int]

    init(_ texts: [String]) {
        var (bytes, ends) = ([] as [UInt8], [] as [Int])
        for text in texts {
            bytes += text.utf8
            ends.append(bytes.count)
        }
        (self.bytes, self.ends) = (bytes, ends)
    }

    func place(of text: UnsafeRawBufferPointer) -> Int? {
        bytes.withUnsafeBytes { bytes in
            var start = 0
            for (place, end) in ends.enumerated() {
                if UnsafeRawBufferPointer(rebasing: bytes[start..<end]).hasSameBytes(as: text) { return place }
                start = end
            }
            return nil
        }
    }
}

/// A row, valid while it is passed to a body.
protocol SQLRow {
    func value(_ index: Int) -> SQLValue
    /// A moment in whole milliseconds, rounded down.
    func instant(_ index: Int) -> Timestamp.Instant
    /// The place of a string among some; nil if it is none of them.
    func place(of index: Int, among texts: FewTexts) -> Int?
    /// Writes a value in the encoding of rows for a column of a type.
    func encode(_ index: Int, as type: ColumnType, into writer: inout ByteWriter)
}

extension SQLRow {
    func instant(_ index: Int) -> Timestamp.Instant { value(index).instant }

    func place(of index: Int, among texts: FewTexts) -> Int? {
        guard case .text(var text) = value(index) else { return nil }
        return text.withUTF8 { texts.place(of: UnsafeRawBufferPointer($0)) }
    }

    func encode(_ index: Int, as type: ColumnType, into writer: inout ByteWriter) {
        writer.append(value: type.value(value(index)))
    }
}

/// A connection, used by one thread at a time.
protocol SQLConnection: AnyObject {
    /// Runs a statement, and passes its rows to the body until it wants no more.
    func run(_ statement: SQLStatement, _ each: (any SQLRow) -> Bool) throws(StoreFailure)
    /// Runs a statement that changes rows; returns the number of changed rows.
    func change(_ statement: SQLStatement) throws(StoreFailure) -> Int
    /// Runs a statement together with the next one, or with `flush`.
    func later(_ statement: SQLStatement, _ each: @escaping (any SQLRow) -> Void) throws(StoreFailure)
    /// The same for one that must change a number of rows: otherwise another transaction was in the way.
    func later(_ statement: SQLStatement, changes count: Int) throws(StoreFailure)
    /// Says what will probably be run next, so that it is sent with the statements before it. The body is told whether
    /// that was right.
    func expect(_ statement: SQLStatement, _ isRight: @escaping (Bool) -> Void)
    /// Runs the statements that wait for the next one.
    func flush() throws(StoreFailure)
    /// Runs a SQL string without values and without rows.
    func execute(_ text: String) throws(StoreFailure)
    /// Begins a transaction with the given SQL.
    func begin(_ text: String) throws(StoreFailure)
    /// Ends a transaction that only read.
    func endReading() throws(StoreFailure)
    /// The tables among these names that exist, read together.
    func tables(_ names: [String]) throws(StoreFailure) -> [String: DatabaseTable]
    /// The properties of the whole database.
    func facts() throws(StoreFailure) -> DatabaseFacts
}

/// Connections to one database.
protocol SQLDatabase: Sendable {
    var dialect: SQLDialect { get }
    /// Waits for a connection and lends it.
    func read<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result
    func write<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result
    /// Throws the reason why the store can't be read. It needs no connection that requests wait for, and gives up soon.
    func check() throws(StoreFailure)
    /// Throws the reason why nothing can be written. It waits for no writer.
    func checkWrites() throws(StoreFailure)
    /// Calls the body when a session notifies a channel of a number, until it is nil or the database is closed, if the
    /// database can do that. If a notification may have been missed, the number is the largest one.
    func listen(to channel: String, _ body: (@Sendable (Int64) -> Void)?)
    /// Interrupts all current and later waits for the database.
    func interrupt()
    /// Closes the connections that were not needed since the last call.
    func rest()
    func close()
    /// The use of its connections.
    var pools: [PoolUse] { get }
    /// The number of transactions of writes that need not wait for each other's connection.
    var writesAtATime: Int { get }
}

extension SQLDatabase {
    func listen(to channel: String, _ body: (@Sendable (Int64) -> Void)?) {}
    var writesAtATime: Int { 1 }
    func rest() {}
}

extension SQLConnection {
    func begin(_ text: String) throws(StoreFailure) { try execute(text) }

    func endReading() throws(StoreFailure) { try execute("COMMIT") }

    func later(_ statement: SQLStatement) throws(StoreFailure) { try later(statement) { _ in } }

    func later(_ statement: SQLStatement, _ each: @escaping (any SQLRow) -> Void) throws(StoreFailure) {
        try forEachRow(of: statement, each)
    }

    func later(_ statement: SQLStatement, changes count: Int) throws(StoreFailure) {
        if try change(statement) != count { throw .contest }
    }

    func expect(_ statement: SQLStatement, _ isRight: @escaping (Bool) -> Void) {}

    func flush() throws(StoreFailure) {}

    func run(_ statement: SQLStatement) throws(StoreFailure) {
        try run(statement) { _ in true }
    }

    /// Runs a statement, and passes all its rows to the body.
    func forEachRow(of statement: SQLStatement, _ body: (any SQLRow) -> Void) throws(StoreFailure) {
        try run(statement) { row in
            body(row)
            return true
        }
    }

    /// The elements made of all rows.
    func all<Result>(
        _ statement: SQLStatement, _ make: (any SQLRow) -> Result
    ) throws(StoreFailure) -> [Result] {
        var results: [Result] = []
        try forEachRow(of: statement) { results.append(make($0)) }
        return results
    }

    /// The element made of the first row.
    func first<Result>(
        _ statement: SQLStatement, _ make: (any SQLRow) -> Result
    ) throws(StoreFailure) -> Result? {
        var result: Result?
        try run(statement) { row in
            result = make(row)
            return false
        }
        return result
    }

    /// The values of the first row.
    func first(_ statement: SQLStatement, count: Int) throws(StoreFailure) -> [SQLValue]? {
        try first(statement) { row in (0..<count).map { row.value($0) } }
    }

    /// Runs the body in a transaction; an error rolls it back.
    func transaction<Result>(
        _ begin: String, _ body: () throws(StoreFailure) -> (result: Result, keeps: Bool)
    ) throws(StoreFailure) -> Result {
        try within(begin) { () throws(StoreFailure) in
            let (result, keeps) = try body()
            try execute(keeps ? "COMMIT" : "ROLLBACK")
            return result
        }
    }

    /// Reads as of one moment.
    func reading<Result>(
        _ dialect: SQLDialect, _ body: () throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        try within(dialect.beginReading) { () throws(StoreFailure) in
            let result = try body()
            try endReading()
            return result
        }
    }

    private func within<Result>(
        _ begin: String, _ body: () throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        try self.begin(begin)
        do throws(StoreFailure) {
            return try body()
        } catch {
            // The first failure is the one to report.
            _ = try? execute("ROLLBACK")
            throw error
        }
    }
}
